"""Grouped convolutions of one pixel as Triton kernels, for maps whose channels are last in memory.

A program computes some places of one group: a product of two small matrices. Matrices of fewer than 16 rows or columns
are multiplied without matrix units, which take no smaller ones.
"""

# mypy: disable-error-code="no-untyped-def,untyped-decorator"

from __future__ import annotations

import triton
import triton.language as tl

COMPILED_ONCE = "places", "groups", "per_chunk", "weights_of_group", "by_read", "by_written"
"""Numbers for which Triton makes no variants of its own. A search would compile hundreds."""


@triton.jit(do_not_specialize=COMPILED_ONCE)
def products(
    maps, weights, results, places, groups, weights_of_group, by_read, by_written,
    READ: tl.constexpr, WRITTEN: tl.constexpr,
    BM: tl.constexpr, BR: tl.constexpr, BW: tl.constexpr, PRECISION: tl.constexpr,
):  # fmt: skip
    """``results[place, group, w]``: the sum over ``r`` of ``maps[place, group, r]`` and its weight.

    Args:
        maps, results, places, groups: What is read and written, and how many places and groups both have.
        weights, weights_of_group, by_read, by_written: The weight of ``group``, ``r`` and ``w`` is this many numbers
            from the first, times each.
        READ, WRITTEN: The channels of a group that are read and written.
        BM, BR, BW: The places of a program, and the powers of two that are not below READ and WRITTEN.
        PRECISION: Of matrix units.
    """
    place = tl.program_id(0) * BM + tl.arange(0, BM)
    group = tl.program_id(1)
    r, w = tl.arange(0, BR), tl.arange(0, BW)
    inside = place < places
    seen = tl.load(
        maps + place[:, None] * (groups * READ) + group * READ + r[None, :], inside[:, None] & (r[None, :] < READ), 0.0
    )
    weight = tl.load(
        weights + group * weights_of_group + w[:, None] * by_written + r[None, :] * by_read,
        (w[:, None] < WRITTEN) & (r[None, :] < READ),
        0.0,
    )
    if BR >= 16 and BW >= 16:
        total = tl.dot(seen, tl.trans(weight), input_precision=PRECISION)
    else:  # summed over the last axis: over another one Triton takes matrix units too small for it, and is wrong
        total = tl.sum(seen[:, None, :] * weight[None, :, :], 2)
    to = results + place[:, None] * (groups * WRITTEN) + group * WRITTEN + w[None, :]
    tl.store(to, total, inside[:, None] & (w[None, :] < WRITTEN))


@triton.jit(do_not_specialize=COMPILED_ONCE)
def backward_weights(
    slopes, maps, sums, places, groups, per_chunk,
    READ: tl.constexpr, WRITTEN: tl.constexpr,
    BM: tl.constexpr, BR: tl.constexpr, BW: tl.constexpr, PRECISION: tl.constexpr,
):  # fmt: skip
    """``sums[chunk, group, w, r]``: the gradient by the weights of one group, over the places of one chunk.

    Args:
        slopes, maps: ``[places, group, w]``, the gradient by the results, and ``[places, group, r]``.
        sums: What is written.
        places, groups, per_chunk: How many places and groups there are, and places of a chunk, a multiple of BM.
        READ, WRITTEN, BM, BR, BW, PRECISION: As of :func:`products`.
    """
    group, chunk = tl.program_id(0), tl.program_id(1)
    r, w = tl.arange(0, BR), tl.arange(0, BW)
    is_dot: tl.constexpr = BR >= 16 and BW >= 16
    total = tl.zeros([BW, BR], tl.float32) if is_dot else tl.zeros([BM, BW, BR], tl.float32)
    for start in range(0, per_chunk, BM):
        place = chunk * per_chunk + start + tl.arange(0, BM)
        inside = place < places
        slope = tl.load(
            slopes + place[:, None] * (groups * WRITTEN) + group * WRITTEN + w[None, :],
            inside[:, None] & (w[None, :] < WRITTEN),
            0.0,
        )
        seen = tl.load(
            maps + place[:, None] * (groups * READ) + group * READ + r[None, :],
            inside[:, None] & (r[None, :] < READ),
            0.0,
        )
        if is_dot:
            total += tl.dot(tl.trans(slope), seen, input_precision=PRECISION)
        else:
            total += slope[:, :, None] * seen[:, None, :]
    to = sums + ((chunk * groups + group) * WRITTEN + w[:, None]) * READ + r[None, :]
    real = (w[:, None] < WRITTEN) & (r[None, :] < READ)
    if is_dot:
        tl.store(to, total, real)
    else:
        tl.store(to, tl.sum(total, 0), real)
