"""Maximum pooling."""

# mypy: disable-error-code="no-untyped-def,untyped-decorator"

from __future__ import annotations

import triton
import triton.language as tl

from nasbed.training.population.kernels.pixels import pixel


@triton.jit
def largest_forward(
    arena, chosen, table, M, K: tl.constexpr, SIDE_IN: tl.constexpr, SIDE_OUT: tl.constexpr, STRIDE: tl.constexpr,
    PADDING: tl.constexpr, BM: tl.constexpr,
):  # fmt: skip
    """``chosen`` keeps which pixel of a window was the largest, the first of equals."""
    row = table + tl.program_id(0).to(tl.int64) * 8
    source = tl.multiple_of(tl.load(row), 16)
    target = tl.multiple_of(tl.load(row + 1), 16)
    kept = tl.multiple_of(tl.load(row + 2), 16)
    m = tl.program_id(1) * BM + tl.arange(0, BM)
    image, h, w = pixel(m, SIDE_OUT)
    corner = arena + source + image * (SIDE_IN * SIDE_IN) + h * (STRIDE * SIDE_IN) + w * STRIDE
    best = tl.full((BM,), float("-inf"), tl.float32)
    which = tl.zeros((BM,), tl.int32)
    for i in tl.static_range(K):
        ih = h * STRIDE + i - PADDING
        row_inside = (m < M) & (ih >= 0) & (ih < SIDE_IN)
        for j in tl.static_range(K):
            iw = w * STRIDE + j - PADDING
            inside = row_inside & (iw >= 0) & (iw < SIDE_IN)
            x = tl.load(corner + ((i - PADDING) * SIDE_IN + j - PADDING), mask=inside, other=float("-inf"))
            better = x.to(tl.float32) > best
            best = tl.where(better, x.to(tl.float32), best)
            which = tl.where(better, i * K + j, which)
    tl.store(arena + target + m, best.to(arena.dtype.element_ty), mask=m < M)
    tl.store(chosen + kept + m, which.to(tl.int8), mask=m < M)


@triton.jit
def largest_backward(
    arena, chosen, table, M, K: tl.constexpr, SIDE_IN: tl.constexpr, SIDE_OUT: tl.constexpr, STRIDE: tl.constexpr,
    PADDING: tl.constexpr, BM: tl.constexpr,
):  # fmt: skip
    """``M`` counts the pixels of an input plane."""
    row = table + tl.program_id(0).to(tl.int64) * 8
    kept = tl.multiple_of(tl.load(row + 2), 16)
    gradient = tl.multiple_of(tl.load(row + 6), 16)
    target = tl.multiple_of(tl.load(row + 7), 16)
    m = tl.program_id(1) * BM + tl.arange(0, BM)
    image, h, w = pixel(m, SIDE_IN)
    total = tl.zeros((BM,), tl.float32)
    for i in tl.static_range(K):
        th = h + PADDING - i
        oh = th // STRIDE
        row_inside = (m < M) & (th >= 0) & (oh < SIDE_OUT) & (oh * STRIDE == th)
        for j in tl.static_range(K):
            tw = w + PADDING - j
            ow = tw // STRIDE
            inside = row_inside & (tw >= 0) & (ow < SIDE_OUT) & (ow * STRIDE == tw)
            place = image * (SIDE_OUT * SIDE_OUT) + oh * SIDE_OUT + ow
            which = tl.load(chosen + kept + place, mask=inside, other=-1)
            g = tl.load(arena + gradient + place, mask=inside & (which == i * K + j), other=0.0)
            total += g.to(tl.float32)
    tl.store(arena + target + m, total.to(arena.dtype.element_ty), mask=m < M)
