"""The walk down all trees in numpy: the answer while nothing is compiled, and what the compiled walk is held to."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from nasbed.surrogates.trees.keys import TOP, Floats, column_keys

if TYPE_CHECKING:
    from nasbed.surrogates.trees.forest import Forest

PLAIN_WALKS = 500_000
"""How many walks down a tree a process does in numpy, in a tenth of a second or two, before it gets the compiled walk.
Loading that from its cache takes half a second of processor time, compiling it once on a machine one to two seconds."""

_walked = 0


def plain_is_enough(walks: int) -> bool:
    """Whether these many more walks are too few to get the compiled walk ready. It answers the same to the last bit, so
    that this decides on the time alone: a first query waits for no compiler."""
    global _walked  # noqa: PLW0603
    if _walked + walks > PLAIN_WALKS:
        _walked = PLAIN_WALKS
        return False
    _walked += walks
    return True


def predict_plainly(forest: Forest, rows: NDArray[np.float32]) -> Floats:
    """What each member answers for each row, ``[n, members]``."""
    keys = column_keys(rows, forest.columns)
    place = np.tile(forest.roots.astype(np.int64), len(rows))
    row = np.repeat(np.arange(len(rows)), forest.trees)
    walking = np.flatnonzero(place < TOP)
    while len(walking):
        at = place[walking]
        column = forest.splits[at + 1].astype(np.int64)
        key, threshold = keys[row[walking], column % TOP], forest.splits[at]
        right = key > threshold
        category = np.flatnonzero(column >= TOP)
        if len(category):
            right[category] = _other_category(
                forest, key[category].astype(np.int64), threshold[category].astype(np.int64)
            )
        place[walking] = forest.splits[at + 2 + right]
        walking = walking[place[walking] < TOP]
    leaves = forest.leaves[place - TOP].reshape(len(rows), forest.trees)
    predictions = np.empty((len(rows), forest.members))
    for member, (begin, end) in enumerate(zip(forest.bounds[:-1], forest.bounds[1:], strict=True)):
        terms = np.column_stack([np.full(len(rows), forest.start[member]), leaves[:, begin:end]])
        if forest.narrow[member]:
            terms = terms.astype(np.float32)
        sums = np.add.accumulate(terms, axis=1)[:, -1]  # in order, as libraries do
        predictions[:, member] = sums / forest.divisor[member]
    return predictions


def _other_category(forest: Forest, key: NDArray[np.int64], place: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Whether categories are on the right of their splits."""
    key = np.minimum(key, forest.sets[place])
    bit = forest.sets[place + 1 + key // 32] >> (key % 32).astype(np.uint32) & np.uint32(1)
    is_right: NDArray[np.bool_] = bit == 0
    return is_right
