"""Average pooling of bundles: the mean of the pixels of a window that are inside the image."""

# mypy: disable-error-code="no-untyped-def,untyped-decorator"

from __future__ import annotations

import triton
import triton.language as tl

from nasbed.training.population.kernels.addresses import aligned, bundle_tile, reading_window, table_row
from nasbed.training.population.kernels.pixels import pixel
from nasbed.training.population.kernels.window import inverse_count


@triton.jit
def bundled_mean_forward(
    arena, table, M, K: tl.constexpr, HI: tl.constexpr, WI: tl.constexpr, HO: tl.constexpr, WO: tl.constexpr,
    STRIDE: tl.constexpr, PADDING: tl.constexpr, BM: tl.constexpr, LANES: tl.constexpr,
):  # fmt: skip
    """The mean of every window.

    Args:
        arena, table: All bundles, and a row for each that is read.
        M: The pixels of an output bundle.
        K to PADDING: The shape of the windows.
        BM, LANES: Pixels of a block, channels of a bundle.
    """
    row = table_row(table, 8)
    source, target = aligned(row), aligned(row + 1)
    m, lane = bundle_tile(BM, LANES)
    image, h, w = pixel(m, HO, WO)
    total = tl.zeros((BM, LANES), tl.float32)
    for i in tl.static_range(K):
        ih = h * STRIDE + i - PADDING
        for j in tl.static_range(K):
            iw = w * STRIDE + j - PADDING
            inside = (m < M) & (ih >= 0) & (ih < HI) & (iw >= 0) & (iw < WI)
            place = (image * (HI * WI) + ih * WI + iw) * LANES
            total += tl.load(arena + source + (place[:, None] + lane), mask=inside[:, None], other=0.0).to(tl.float32)
    total = total * inverse_count(h, w, K, HI, WI, STRIDE, PADDING)[:, None]
    tl.store(arena + target + (m[:, None] * LANES + lane), total.to(arena.dtype.element_ty), mask=(m < M)[:, None])


@triton.jit
def bundled_mean_backward(
    arena, table, M, K: tl.constexpr, HI: tl.constexpr, WI: tl.constexpr, HO: tl.constexpr, WO: tl.constexpr,
    STRIDE: tl.constexpr, PADDING: tl.constexpr, BM: tl.constexpr, LANES: tl.constexpr,
):  # fmt: skip
    """The gradient of :func:`bundled_mean_forward`, whose parameters it has.

    Args:
        arena, table, K to LANES: As there.
        M: The pixels of an input bundle.
    """
    row = table_row(table, 8)
    gradient, target = aligned(row + 6), aligned(row + 7)
    m, lane = bundle_tile(BM, LANES)
    image, h, w = pixel(m, HI, WI)
    total = tl.zeros((BM, LANES), tl.float32)
    for i in tl.static_range(K):
        oh, row_inside = reading_window(m < M, h, i, HO, STRIDE, PADDING)
        for j in tl.static_range(K):
            ow, inside = reading_window(row_inside, w, j, WO, STRIDE, PADDING)
            place = ((image * (HO * WO) + oh * WO + ow) * LANES)[:, None] + lane
            g = tl.load(arena + gradient + place, mask=inside[:, None], other=0.0).to(tl.float32)
            total += g * inverse_count(oh, ow, K, HI, WI, STRIDE, PADDING)[:, None]
    tl.store(arena + target + (m[:, None] * LANES + lane), total.to(arena.dtype.element_ty), mask=(m < M)[:, None])
