"""Average pooling of bundles: the mean of the pixels of a window that are inside the image."""

# mypy: disable-error-code="no-untyped-def,untyped-decorator"

from __future__ import annotations

import triton
import triton.language as tl

from nasbed.training.population.kernels.pixels import pixel
from nasbed.training.population.kernels.window import inverse_count


@triton.jit
def bundled_mean_forward(
    arena, table, M, K: tl.constexpr, HI: tl.constexpr, WI: tl.constexpr, HO: tl.constexpr, WO: tl.constexpr,
    STRIDE: tl.constexpr, PADDING: tl.constexpr, BM: tl.constexpr, LANES: tl.constexpr,
):  # fmt: skip
    row = table + tl.program_id(0).to(tl.int64) * 8
    source = tl.multiple_of(tl.load(row), 16)
    target = tl.multiple_of(tl.load(row + 1), 16)
    m = tl.program_id(1) * BM + tl.arange(0, BM)
    lane = tl.arange(0, LANES)[None, :]
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
    """``M`` counts the pixels of an input plane."""
    row = table + tl.program_id(0).to(tl.int64) * 8
    gradient = tl.multiple_of(tl.load(row + 6), 16)
    target = tl.multiple_of(tl.load(row + 7), 16)
    m = tl.program_id(1) * BM + tl.arange(0, BM)
    lane = tl.arange(0, LANES)[None, :]
    image, h, w = pixel(m, HI, WI)
    total = tl.zeros((BM, LANES), tl.float32)
    for i in tl.static_range(K):
        th = h + PADDING - i
        oh = th // STRIDE
        for j in tl.static_range(K):
            tw = w + PADDING - j
            ow = tw // STRIDE
            inside = (m < M) & (th >= 0) & (oh < HO) & (oh * STRIDE == th)
            inside = inside & (tw >= 0) & (ow < WO) & (ow * STRIDE == tw)
            place = ((image * (HO * WO) + oh * WO + ow) * LANES)[:, None] + lane
            g = tl.load(arena + gradient + place, mask=inside[:, None], other=0.0).to(tl.float32)
            total += g * inverse_count(oh, ow, K, HI, WI, STRIDE, PADDING)[:, None]
    tl.store(arena + target + (m[:, None] * LANES + lane), total.to(arena.dtype.element_ty), mask=(m < M)[:, None])
