"""Maximum pooling."""

# mypy: disable-error-code="no-untyped-def,untyped-decorator"

from __future__ import annotations

import triton
import triton.language as tl

from nasbed.training.population.kernels.addresses import aligned, bundle_tile, reading_window, table_row
from nasbed.training.population.kernels.pixels import pixel


@triton.jit
def largest_forward(
    arena, taps, table, M, K: tl.constexpr, HI: tl.constexpr, WI: tl.constexpr, HO: tl.constexpr, WO: tl.constexpr,
    STRIDE: tl.constexpr, PADDING: tl.constexpr, BM: tl.constexpr, LANES: tl.constexpr,
):  # fmt: skip
    """The largest pixel of every window.

    Args:
        arena, taps: All bundles, and the tap of the largest pixel of every window, the first of equals.
        table: A row for each bundle that is read.
        M: The pixels of an output bundle.
        K to PADDING: The shape of the windows.
        BM, LANES: Pixels of a block, channels of a bundle.
    """
    row = table_row(table, 8)
    source, target, choices = aligned(row), aligned(row + 1), aligned(row + 2)
    m, lane = bundle_tile(BM, LANES)
    image, h, w = pixel(m, HO, WO)
    best = tl.full((BM, LANES), float("-inf"), tl.float32)
    tap = tl.zeros((BM, LANES), tl.int32)
    for i in tl.static_range(K):
        ih = h * STRIDE + i - PADDING
        row_inside = (m < M) & (ih >= 0) & (ih < HI)
        for j in tl.static_range(K):
            iw = w * STRIDE + j - PADDING
            inside = row_inside & (iw >= 0) & (iw < WI)
            place = (image * (HI * WI) + ih * WI + iw) * LANES
            x = tl.load(arena + source + (place[:, None] + lane), mask=inside[:, None], other=float("-inf"))
            better = x.to(tl.float32) > best
            best = tl.where(better, x.to(tl.float32), best)
            tap = tl.where(better, i * K + j, tap)
    place = m[:, None] * LANES + lane
    tl.store(arena + target + place, best.to(arena.dtype.element_ty), mask=(m < M)[:, None])
    tl.store(taps + choices + place, tap.to(tl.int8), mask=(m < M)[:, None])


@triton.jit
def largest_backward(
    arena, taps, table, M, K: tl.constexpr, HI: tl.constexpr, WI: tl.constexpr, HO: tl.constexpr, WO: tl.constexpr,
    STRIDE: tl.constexpr, PADDING: tl.constexpr, BM: tl.constexpr, LANES: tl.constexpr,
):  # fmt: skip
    """The gradient of :func:`largest_forward`, whose parameters it has.

    Args:
        arena, taps, table, K to LANES: As there.
        M: The pixels of an input bundle.
    """
    row = table_row(table, 8)
    choices, gradient, target = aligned(row + 2), aligned(row + 6), aligned(row + 7)
    m, lane = bundle_tile(BM, LANES)
    image, h, w = pixel(m, HI, WI)
    total = tl.zeros((BM, LANES), tl.float32)
    for i in tl.static_range(K):
        oh, row_inside = reading_window(m < M, h, i, HO, STRIDE, PADDING)
        for j in tl.static_range(K):
            ow, inside = reading_window(row_inside, w, j, WO, STRIDE, PADDING)
            place = ((image * (HO * WO) + oh * WO + ow) * LANES)[:, None] + lane
            tap = tl.load(taps + choices + place, mask=inside[:, None], other=-1)
            g = tl.load(arena + gradient + place, mask=inside[:, None], other=0.0)
            total += tl.where(tap == i * K + j, g.to(tl.float32), 0.0)
    tl.store(arena + target + (m[:, None] * LANES + lane), total.to(arena.dtype.element_ty), mask=(m < M)[:, None])
