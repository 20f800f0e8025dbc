"""How much of an encoded space lies near given points of it (section 3.3, Figure 6, right)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nasbed.core.errors import InvalidOption

COUNTABLE = 1 << 30
"""The largest number of encodings that is counted; each takes one byte of memory."""

BLOCK = 1 << 21
FAR = 200
"""A distance that no two encodings have."""


@dataclass(frozen=True, slots=True)
class Volume:
    """The number of encodings at each distance from the nearest of some points."""

    counts: NDArray[np.int64]  # at distance 0, 1, 2 …

    @property
    def points(self) -> int:
        """How many encodings are at distance 0."""
        return int(self.counts[0])

    @property
    def total(self) -> int:
        return int(self.counts.sum())

    def fraction_within(self, distance: int) -> float:
        """The fraction of all encodings that are at most this far away."""
        return float(self.counts[: distance + 1].sum() / self.total)


def volume_by_distance(sizes: Sequence[int], points: Iterable[NDArray[np.int64]]) -> Volume:
    """Count all encodings by their distance to the nearest of the points: exactly, none is sampled.

    An encoding is a row of independent choices, and a distance is the number of choices that differ. Such a distance
    is found choice by choice: what is nearest with any option of a choice is one edit further with another option.

    Args:
        sizes: The number of options of each choice.
        points: Arrays of numbers of encodings, the last choice counting fastest; at least one number in all.

    >>> volume_by_distance((2, 3), [np.array([1])]).counts.tolist()
    [1, 3, 2]
    """
    total = math.prod(sizes)
    if total > COUNTABLE:
        raise InvalidOption(f"up to {COUNTABLE:,} encodings can be counted, got {total:,}; sample them instead")
    distances = np.full(total, FAR, dtype=np.uint8)
    for numbers in points:
        distances[numbers] = 0
    if distances.min():
        raise InvalidOption("a distance needs a point to measure from, got none")
    first_inner = _first_inner(sizes)
    inner = math.prod(sizes[first_inner:])
    for row in distances.reshape(-1, inner):
        if not row.min():
            _spread(row, sizes[first_inner:])
    _spread(distances, sizes[:first_inner], inner)
    counts = sum(np.bincount(part, minlength=FAR) for part in np.array_split(distances, max(total // BLOCK, 1)))
    return Volume(np.trim_zeros(np.asarray(counts, dtype=np.int64), "b"))


def _first_inner(sizes: Sequence[int]) -> int:
    """The first choice from which on all choices together fit a block, which stays in the processor's cache."""
    first = len(sizes)
    while first and math.prod(sizes[first - 1 :]) <= BLOCK:
        first -= 1
    return first


def _spread(distances: NDArray[np.uint8], sizes: Sequence[int], inner: int = 1) -> None:
    """Let every choice of a block vary, in place; ``inner`` encodings lie between two options of the last choice."""
    for options in reversed(sizes):
        if inner < 8:  # long strided rows are faster than many short ones
            rows = [
                [distances[offset + option * inner :: options * inner] for option in range(options)]
                for offset in range(inner)
            ]
        else:
            stacked = distances.reshape(-1, options, inner)
            rows = [[stacked[:, option] for option in range(options)]]
        for by_option in rows:
            elsewhere = by_option[0].copy()
            for one in by_option[1:]:
                np.minimum(elsewhere, one, out=elsewhere)
            elsewhere += 1
            for one in by_option:
                np.minimum(one, elsewhere, out=one)
        inner *= options
