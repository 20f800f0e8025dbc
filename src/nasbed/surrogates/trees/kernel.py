"""The walk down all trees of a forest, compiled.

It is one function in one file, because the compiler's cache looks only at the file of the function called. An explicit
signature compiles it only once. Every index is unsigned: for others the compiler adds code for negative values.
"""

from __future__ import annotations

import numpy as np
from numba import types

from nasbed.core.arrays import numba_compiled

BLOCK = 64
"""Rows that share a pass over the trees, so that a tree is still in the cache for the next row."""

LANES = 8
"""Walks side by side: while one waits for memory, others continue."""

TOP = np.uint32(1 << 31)
ALL = np.uint32(0xFFFFFFFF)
ZERO, ONE, TWO = np.uint32(0), np.uint32(1), np.uint32(2)
FIRST, SECOND, THIRD = np.uint64(0), np.uint64(1), np.uint64(2)
BIT_SHIFT, BIT_MASK = np.uint32(5), np.uint32(31)
MAGNITUDE = np.uint32(0x7FFFFFFF)
INFINITY = np.uint32(0x7F800000)
NEARLY_ZERO = np.float32(1e-35).view(np.uint32)
"""LightGBM takes smaller magnitudes for zero."""

NAN_RIGHT, NAN_ZERO, ZERO_LEFT, CATEGORY = 1, 2, 3, 5  # as in forest.py, but constants here
CATEGORIES, CUT_CATEGORIES = np.float32(2**24), np.float32(2**31)
"""Where XGBoost's and LightGBM's categories end."""

_words, _floats = types.uint32[::1], types.float64[::1]
SIGNATURE = types.void(
    types.float32[:, ::1],
    types.uint32[:, ::1],
    _words,
    types.int32[:, ::1],
    _words,
    _floats,
    _words,
    types.int64[::1],
    _floats,
    _floats,
    types.boolean[::1],
    types.float64[:, ::1],
)


@numba_compiled(SIGNATURE)
def walk(rows, bits, splits, columns, sets, leaves, roots, bounds, start, divisor, narrow, predictions):  # type: ignore[no-untyped-def]
    """Fill in what each member answers for each row.

    Args:
        rows, bits: The features, ``[n, features]``, and the same as bit patterns.
        splits, columns, sets, leaves, roots, bounds, start, divisor, narrow: The fields of :class:`Forest`.
        predictions: What is filled in, ``[n, members]``.
    """
    width = columns.shape[0]
    keys = np.empty(BLOCK * width, dtype=np.uint32)
    place, base = np.empty(LANES, dtype=np.uint32), np.zeros(LANES, dtype=np.uint64)
    for first in range(0, rows.shape[0], BLOCK):
        count = min(BLOCK, rows.shape[0] - first)
        for column in range(width):
            feature, rule = columns[column, 0], columns[column, 1]
            for row in range(count):
                number, value = bits[first + row, feature], rows[first + row, feature]
                missing = number & MAGNITUDE > INFINITY
                if rule >= CATEGORY:
                    if missing:
                        key = ZERO
                    elif (rule == CATEGORY and 0 <= value < CATEGORIES) or (
                        rule != CATEGORY and -1 < value < CUT_CATEGORIES
                    ):
                        key = np.uint32(np.int64(value) + 2)
                    else:
                        key = ONE
                elif missing or (rule >= ZERO_LEFT and number & MAGNITUDE <= NEARLY_ZERO):
                    key = TOP if rule == NAN_ZERO else ALL if rule == NAN_RIGHT or rule > ZERO_LEFT else ZERO
                elif number > TOP:
                    key = ~number
                else:
                    key = number | TOP
                keys[row * width + column] = key
        for member in range(start.shape[0]):
            for row in range(first, first + count):
                predictions[row, member] = start[member]
            # One walk for each tree and row, rows first: each row's sum runs over the trees in their order.
            tree, row, summed = bounds[member], 0, first
            walks = (bounds[member + 1] - tree) * count
            while walks > 0:
                lanes = min(LANES, walks)
                walks -= lanes
                walking = False
                for lane in range(LANES):
                    place[lane] = TOP
                    if lane < lanes:
                        place[lane], base[lane] = roots[tree], row * width
                        walking = walking or roots[tree] < TOP
                        row += 1
                        if row == count:
                            tree, row = tree + 1, 0
                while walking:
                    walking = False
                    for lane in range(LANES):
                        at_lane = place[lane]
                        at = np.uint64(at_lane) if at_lane < TOP else FIRST  # a lane that reached its leaf stays there
                        column_word = splits[at + SECOND]
                        if column_word < TOP:
                            right = keys[base[lane] + np.uint64(column_word)] > splits[at]
                        else:
                            members_at = np.uint64(splits[at])
                            key = min(keys[base[lane] + np.uint64(column_word & MAGNITUDE)], sets[members_at])
                            word = sets[members_at + SECOND + np.uint64(key >> BIT_SHIFT)]
                            right = (word >> (key & BIT_MASK)) & ONE == ZERO
                        child = splits[at + THIRD + np.uint64(right)]
                        child_place = child if at_lane < TOP else at_lane
                        place[lane] = child_place
                        walking = walking or child_place < TOP
                if count == 1:  # the same as below, with the sum in a register
                    total = predictions[first, member]
                    for lane in range(lanes):
                        total += leaves[np.uint64(place[lane] & MAGNITUDE)]
                        if narrow[member]:
                            total = np.float64(np.float32(total))
                    predictions[first, member] = total
                    continue
                for lane in range(lanes):
                    total = predictions[summed, member] + leaves[np.uint64(place[lane] & MAGNITUDE)]
                    predictions[summed, member] = np.float32(total) if narrow[member] else total
                    summed += 1
                    if summed == first + count:
                        summed = first
            for row in range(first, first + count):
                predictions[row, member] /= divisor[member]
