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
    """The sum of the squares of a block of the gradient.

    Args:
        sums, size, CHUNKS: The parts of all gradients, the number of all parameters, the number of parts.
        squares: Gets the sum of each block.
        BLOCK: The parameters of a block.
    """
    block = tl.program_id(0)
    g = _gradient(sums, block.to(tl.int64) * BLOCK + tl.arange(0, BLOCK), size, CHUNKS)
    tl.store(squares + block, tl.sum(g * g, axis=0))


@triton.jit
def clipping(squares, blocks, factors, longest, BM: tl.constexpr):
    """By how much to shorten the gradient of each network, from the squares of its blocks.

    Args:
        squares, blocks: The squares, and the first block of each network.
        factors: Gets the factor of each network.
        longest: The length that gradients are shortened to.
        BM: Squares that are added up at a time.
    """
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
    weights, packed, velocity, sums, factors, owners, rate, size, momentum, decay, NESTEROV: tl.constexpr,
    CLIPPED: tl.constexpr, PACKED: tl.constexpr, CHUNKS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """A step of SGD as torch takes it.

    Args:
        weights, packed, velocity: All parameters, their copy in the precision of the planes, their momentum.
        sums, size, CHUNKS: The parts of all gradients, the number of all parameters, the number of parts.
        factors, owners: What gradients are clipped by, and the network of each block.
        rate, momentum, decay: The settings of the step; the learning rate is on the device.
        NESTEROV, CLIPPED, PACKED: Which of these there are.
        BLOCK: The parameters of a block.
    """
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
