"""A step of SGD for all networks."""

# mypy: disable-error-code="no-untyped-def,untyped-decorator"

from __future__ import annotations

import triton
import triton.language as tl


@triton.jit
def _gradient(sums, offset, size, CHUNKS: tl.constexpr):
    """The parts of a gradient, added up in their order."""
    total = tl.load(sums + offset)
    for chunk in tl.static_range(1, CHUNKS):
        total += tl.load(sums + tl.cast(size, tl.int64) * chunk + offset)
    return total


@triton.jit
def squared_lengths(sums, squares, size, CHUNKS: tl.constexpr, BLOCK: tl.constexpr):
    """The sum of the squares of a block of the gradient."""
    block = tl.program_id(0)
    g = _gradient(sums, block.to(tl.int64) * BLOCK + tl.arange(0, BLOCK), size, CHUNKS)
    tl.store(squares + block, tl.sum(g * g, axis=0))


@triton.jit
def clipping(squares, blocks, factors, longest, BM: tl.constexpr):
    """By how much to shorten the gradient of a network, from the squares of its blocks."""
    row = tl.program_id(0)
    first = tl.load(blocks + row)
    last = tl.load(blocks + row + 1)
    total = tl.zeros((BM,), tl.float32)
    for start in range(first, last, BM):
        offset = start + tl.arange(0, BM)
        total += tl.load(squares + offset, mask=offset < last, other=0.0)
    length = tl.sqrt(tl.sum(total, axis=0))
    tl.store(factors + row, tl.minimum(longest / (length + 1e-6), 1.0))


@triton.jit
def update(
    weights, packed, velocity, sums, factors, owners, rate, size, momentum, decay,
    NESTEROV: tl.constexpr, CLIPPED: tl.constexpr, PACKED: tl.constexpr, CHUNKS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """As torch's SGD takes it. Where ``PACKED``, the weights are also kept in the precision of the planes."""
    block = tl.program_id(0)
    offset = block.to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    g = _gradient(sums, offset, size, CHUNKS)
    if CLIPPED:
        g = g * tl.load(factors + tl.load(owners + block))
    weight = tl.load(weights + offset)
    g = g + decay * weight
    moving = momentum * tl.load(velocity + offset) + g
    tl.store(velocity + offset, moving)
    if NESTEROV:
        moving = g + momentum * moving
    weight = weight - tl.load(rate) * moving
    tl.store(weights + offset, weight)
    if PACKED:
        tl.store(packed + offset, weight.to(packed.dtype.element_ty))
