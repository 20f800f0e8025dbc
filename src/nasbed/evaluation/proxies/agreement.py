"""How far two files of scores agree, proxy by proxy: one implementation with another, or one with itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from nasbed.core.errors import InvalidOption
from nasbed.evaluation.ranking import spearman
from nasbed.proxies.table import ScoreTable

EQUAL = 1e-9


@dataclass(frozen=True, slots=True)
class Agreement:
    """Of one proxy: Spearman's correlation of the mean scores of two files over the ``count`` architectures that have
    both, and whether they are ``equal`` but for a constant factor, such as millions. ``own`` and ``other_own`` are the
    mean correlations between the seeds of each file, which no other implementation can exceed by much; NaN with one
    seed."""

    proxy: str
    count: int
    correlation: float
    equal: bool
    own: float
    other_own: float


def agreements(one: ScoreTable, other: ScoreTable) -> list[Agreement]:
    """Of every proxy that both have, over the architectures that both have."""
    if one.about.space != other.about.space:
        raise InvalidOption(
            f"scores are compared in one space, got {one.about.space} and {other.about.space}; choose other files"
        )
    proxies = [name for name in one.proxies if name in other.proxies]
    rows, other_rows = _shared(one.codes, other.codes)
    if not proxies or len(rows) < 2:
        raise InvalidOption(
            f"files to compare share 1 proxy and 2 architectures or more, these share {len(proxies)} and {len(rows)}"
        )
    first, second = one.take(rows), other.take(other_rows)
    return [_agreement(name, first, second) for name in proxies]


def _agreement(name: str, one: ScoreTable, other: ScoreTable) -> Agreement:
    ours, theirs = one.mean(name), other.mean(name)
    both = np.isfinite(ours) & np.isfinite(theirs)
    if both.sum() < 2:
        return Agreement(
            name, int(both.sum()), float("nan"), False, between_seeds(one, name), between_seeds(other, name)
        )
    return Agreement(
        name,
        int(both.sum()),
        spearman(theirs[both], ours[both]),
        proportional(ours[both], theirs[both]),
        between_seeds(one, name),
        between_seeds(other, name),
    )


def between_seeds(table: ScoreTable, proxy: str) -> float:
    """The mean correlation between the scores with two seeds, over all pairs of seeds."""
    columns = table.of(proxy).T
    found = []
    for first, second in combinations(columns, 2):
        both = np.isfinite(first) & np.isfinite(second)
        if both.sum() > 1:
            found.append(spearman(first[both], second[both]))
    known = [each for each in found if each == each]
    return float(np.mean(known)) if known else float("nan")


def proportional(one: NDArray[np.float64], other: NDArray[np.float64]) -> bool:
    """Whether one is the other times a constant above zero, up to rounding.

    >>> proportional(np.array([1e6, 2e6]), np.array([1.0, 2.0]))
    True
    >>> proportional(np.array([1.0, 2.0]), np.array([2.0, 1.0]))
    False
    """
    largest = int(np.argmax(np.abs(other)))
    if not other[largest] or not one[largest] / other[largest] > 0:
        return not np.any(one) and not np.any(other)
    factor = one[largest] / other[largest]
    return bool(np.all(np.abs(one - factor * other) <= EQUAL * abs(one[largest])))


def _shared(one: NDArray[np.int64], other: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Where the architectures that both have stand in each."""
    places: Mapping[tuple[int, ...], int] = {tuple(code): row for row, code in enumerate(other.tolist())}
    pairs = [(row, places[tuple(code)]) for row, code in enumerate(one.tolist()) if tuple(code) in places]
    found = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    return found[:, 0], found[:, 1]
