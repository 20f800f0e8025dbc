"""The compiled part of :mod:`nasbed.surrogates.trees.quick`: one function in one file, as in ``kernel.py``."""

from __future__ import annotations

import numpy as np
from numba import types

from nasbed.core.arrays import numba_compiled

TOP = np.uint32(1 << 31)
ALL = np.uint32(0xFFFFFFFF)
EVERY = np.uint64(0xFFFFFFFFFFFFFFFF)
ZERO, ONE = np.uint64(0), np.uint64(1)
NOTHING = np.uint32(0)
MAGNITUDE = np.uint32(0x7FFFFFFF)
INFINITY = np.uint32(0x7F800000)
NEARLY_ZERO = np.float32(1e-35).view(np.uint32)
NAN_RIGHT, NAN_ZERO, ZERO_LEFT = 1, 2, 3  # as in keys.py, but constants here
SPREAD = np.uint64(0x03F79D71B4CB0A89)  # a de Bruijn sequence: its top six bits differ for every power of two
SHIFT = np.uint64(58)

PLACES = np.zeros(64, dtype=np.uint8)
PLACES[[(int(SPREAD) << place & (1 << 64) - 1) >> 58 for place in range(64)]] = range(64)

_words, _floats, _numbers = types.uint32[::1], types.float64[::1], types.int64[::1]
SIGNATURE = types.void(
    types.uint32[:, ::1],
    types.int32[:, ::1],
    _numbers,
    _words,
    _numbers,
    types.uint16[::1],
    types.uint64[::1],
    _floats,
    _numbers,
    _numbers,
    _floats,
    _floats,
    types.boolean[::1],
    types.float64[:, ::1],
)


@numba_compiled(SIGNATURE)
def score(  # type: ignore[no-untyped-def]
    bits,
    columns,
    first,
    thresholds,
    ends,
    trees,
    masks,
    leaves,
    leaf_start,
    bounds,
    start,
    divisor,
    narrow,
    predictions,
):
    """Fill in what each member answers for one row.

    Args:
        bits: The bit patterns of its features, ``[1, features]``.
        first, thresholds, ends, trees, masks, leaves, leaf_start: The fields of :class:`QuickForest`.
        columns, bounds, start, divisor, narrow: The fields of its forest.
        predictions: What is filled in, ``[1, members]``.
    """
    reachable = np.full(leaf_start.shape[0], EVERY)
    for column in range(columns.shape[0]):
        number, rule = bits[0, columns[column, 0]], columns[column, 1]
        if number & MAGNITUDE > INFINITY or (rule >= ZERO_LEFT and number & MAGNITUDE <= NEARLY_ZERO):
            key = TOP if rule == NAN_ZERO else ALL if rule == NAN_RIGHT or rule > ZERO_LEFT else NOTHING
        elif number > TOP:
            key = ~number
        else:
            key = number | TOP
        step = first[column]
        while step < first[column + 1] and thresholds[step] < key:
            step += 1
        for place in range(ends[first[column]], ends[step]):
            reachable[trees[place]] &= masks[place]
    for member in range(start.shape[0]):
        total = start[member]
        for tree in range(bounds[member], bounds[member + 1]):
            word = reachable[tree]
            lowest = word & (ZERO - word)
            total += leaves[leaf_start[tree] + PLACES[(lowest * SPREAD) >> SHIFT]]
            if narrow[member]:
                total = np.float64(np.float32(total))
        predictions[0, member] = total / divisor[member]
