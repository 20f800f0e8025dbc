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
class ProxyAgreement:
    """Agreement of two files on one proxy: Spearman's correlation of the mean scores of two files over the ``count``
    architectures that have both, and whether they are ``equal`` but for a constant factor, such as millions. ``own``
    and ``other_own`` are the mean correlations between the seeds of each file, which no other implementation can exceed
    by much; NaN with one seed."""

    proxy: str
    count: int
    correlation: float
    equal: bool
    own: float
    other_own: float


def agreements(table: ScoreTable, other: ScoreTable) -> list[ProxyAgreement]:
    """The agreement on every proxy of both tables, over the architectures of both."""
    if table.about.space != other.about.space:
        raise InvalidOption(
            f"scores are compared in one space, got {table.about.space} and {other.about.space}; choose other files"
        )
    proxies = [name for name in table.proxies if name in other.proxies]
    rows, other_rows = _shared(table.codes, other.codes)
    if not proxies or len(rows) < 2:
        raise InvalidOption(
            f"files to compare share 1 proxy and 2 architectures or more, these share {len(proxies)} and {len(rows)}"
        )
    first, second = table.take(rows), other.take(other_rows)
    return [_agreement(name, first, second) for name in proxies]


def _agreement(name: str, table: ScoreTable, other: ScoreTable) -> ProxyAgreement:
    scores, other_scores = table.mean(name), other.mean(name)
    shared = np.isfinite(scores) & np.isfinite(other_scores)
    if shared.sum() < 2:
        return ProxyAgreement(
            name, int(shared.sum()), float("nan"), False, between_seeds(table, name), between_seeds(other, name)
        )
    return ProxyAgreement(
        name,
        int(shared.sum()),
        spearman(other_scores[shared], scores[shared]),
        proportional(scores[shared], other_scores[shared]),
        between_seeds(table, name),
        between_seeds(other, name),
    )


def between_seeds(table: ScoreTable, proxy: str) -> float:
    """The mean correlation between the scores with two seeds, over all pairs of seeds."""
    columns = table.of(proxy).T
    correlations = []
    for first, second in combinations(columns, 2):
        shared = np.isfinite(first) & np.isfinite(second)
        if shared.sum() > 1:
            correlations.append(spearman(first[shared], second[shared]))
    finite = [value for value in correlations if value == value]
    return float(np.mean(finite)) if finite else float("nan")


def proportional(values: NDArray[np.float64], other: NDArray[np.float64]) -> bool:
    """Whether one is the other times a constant above zero, up to rounding.

    >>> proportional(np.array([1e6, 2e6]), np.array([1.0, 2.0]))
    True
    >>> proportional(np.array([1.0, 2.0]), np.array([2.0, 1.0]))
    False
    """
    largest = int(np.argmax(np.abs(other)))
    if not other[largest] or not values[largest] / other[largest] > 0:
        return not np.any(values) and not np.any(other)
    factor = values[largest] / other[largest]
    return bool(np.all(np.abs(values - factor * other) <= EQUAL * abs(values[largest])))


def _shared(codes: NDArray[np.int64], other_codes: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The rows of the shared architectures in each table."""
    places: Mapping[tuple[int, ...], int] = {tuple(code): row for row, code in enumerate(other_codes.tolist())}
    pairs = [(row, places[tuple(code)]) for row, code in enumerate(codes.tolist()) if tuple(code) in places]
    rows = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    return rows[:, 0], rows[:, 1]
