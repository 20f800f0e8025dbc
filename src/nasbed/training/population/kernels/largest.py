"""Maximum pooling."""

# mypy: disable-error-code="no-untyped-def,untyped-decorator"

from __future__ import annotations

import triton
import triton.language as tl

from nasbed.training.population.kernels.pixels import pixel


@triton.jit
def largest_forward(
    arena, chosen, table, M, K: tl.constexpr, HI: tl.constexpr, WI: tl.constexpr, HO: tl.constexpr, WO: tl.constexpr,
    STRIDE: tl.constexpr, PADDING: tl.constexpr, BM: tl.constexpr, LANES: tl.constexpr,
):  # fmt: skip
    """``chosen`` keeps which pixel of a window was the largest, the first of equals."""
    row = table + tl.program_id(0).to(tl.int64) * 8
    source = tl.multiple_of(tl.load(row), 16)
    target = tl.multiple_of(tl.load(row + 1), 16)
    choices = tl.multiple_of(tl.load(row + 2), 16)
    m = tl.program_id(1) * BM + tl.arange(0, BM)
    lane = tl.arange(0, LANES)[None, :]
    image, h, w = pixel(m, HO, WO)
    best = tl.full((BM, LANES), float("-inf"), tl.float32)
    which = tl.zeros((BM, LANES), tl.int32)
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
            which = tl.where(better, i * K + j, which)
    place = m[:, None] * LANES + lane
    tl.store(arena + target + place, best.to(arena.dtype.element_ty), mask=(m < M)[:, None])
    tl.store(chosen + choices + place, which.to(tl.int8), mask=(m < M)[:, None])


@triton.jit
def largest_backward(
    arena, chosen, table, M, K: tl.constexpr, HI: tl.constexpr, WI: tl.constexpr, HO: tl.constexpr, WO: tl.constexpr,
    STRIDE: tl.constexpr, PADDING: tl.constexpr, BM: tl.constexpr, LANES: tl.constexpr,
):  # fmt: skip
    """``M`` counts the pixels of an input plane."""
    row = table + tl.program_id(0).to(tl.int64) * 8
    choices = tl.multiple_of(tl.load(row + 2), 16)
    gradient = tl.multiple_of(tl.load(row + 6), 16)
    target = tl.multiple_of(tl.load(row + 7), 16)
    m = tl.program_id(1) * BM + tl.arange(0, BM)
    lane = tl.arange(0, LANES)[None, :]
    image, h, w = pixel(m, HI, WI)
    total = tl.zeros((BM, LANES), tl.float32)
    for i in tl.static_range(K):
        th = h + PADDING - i
        oh = th // STRIDE
        row_inside = (m < M) & (th >= 0) & (oh < HO) & (oh * STRIDE == th)
        for j in tl.static_range(K):
            tw = w + PADDING - j
            ow = tw // STRIDE
            inside = row_inside & (tw >= 0) & (ow < WO) & (ow * STRIDE == tw)
            place = ((image * (HO * WO) + oh * WO + ow) * LANES)[:, None] + lane
            which = tl.load(chosen + choices + place, mask=inside[:, None], other=-1)
            g = tl.load(arena + gradient + place, mask=inside[:, None], other=0.0)
            total += tl.where(which == i * K + j, g.to(tl.float32), 0.0)
    tl.store(arena + target + (m[:, None] * LANES + lane), total.to(arena.dtype.element_ty), mask=(m < M)[:, None])
