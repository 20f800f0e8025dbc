"""The agreement of two files of scores, proxy by proxy: of two implementations, or of one with itself."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from nasbed.core.arrays import common_rows
from nasbed.core.errors import InvalidOption
from nasbed.evaluation.ranking import spearman

if TYPE_CHECKING:
    from nasbed.proxies.table import ScoreTable

EQUAL = 1e-9


@dataclass(frozen=True, slots=True)
class ProxyAgreement:
    """The agreement of two files on one proxy.

    ``correlation`` is Spearman's, of the mean scores over the ``count`` architectures that have both. ``equal`` says
    whether the scores are equal up to a constant factor, such as millions. ``own`` and ``other_own`` are the mean
    correlations between the seeds of each file, NaN with one seed. Another implementation cannot exceed them by much.
    """

    proxy: str
    count: int
    correlation: float
    equal: bool
    own: float
    other_own: float


def agreements(first: ScoreTable, second: ScoreTable) -> list[ProxyAgreement]:
    """The agreement on every shared proxy, over the shared architectures."""
    if first.about.space != second.about.space:
        raise InvalidOption(
            f"scores are compared in one space, got {first.about.space} and {second.about.space}; choose other files"
        )
    proxies = [name for name in first.proxies if name in second.proxies]
    rows, second_rows = common_rows(first.codes, second.codes)
    if not proxies or len(rows) < 2:
        raise InvalidOption(
            f"files to compare share 1 proxy and 2 architectures or more, these share {len(proxies)} and {len(rows)}"
        )
    return [_agreement(name, first.take(rows), second.take(second_rows)) for name in proxies]


def _agreement(name: str, first: ScoreTable, second: ScoreTable) -> ProxyAgreement:
    scores, second_scores = first.mean(name), second.mean(name)
    shared = np.isfinite(scores) & np.isfinite(second_scores)
    comparable = shared.sum() >= 2
    return ProxyAgreement(
        proxy=name,
        count=int(shared.sum()),
        correlation=spearman(second_scores[shared], scores[shared]) if comparable else float("nan"),
        equal=comparable and proportional(scores[shared], second_scores[shared]),
        own=between_seeds(first, name),
        other_own=between_seeds(second, name),
    )


def between_seeds(table: ScoreTable, proxy: str) -> float:
    """The mean correlation of the scores of two seeds, over all pairs of seeds."""
    columns = table.of(proxy).T
    correlations = []
    for first, second in combinations(columns, 2):
        shared = np.isfinite(first) & np.isfinite(second)
        if shared.sum() > 1:
            correlations.append(spearman(first[shared], second[shared]))
    finite = [value for value in correlations if value == value]
    return float(np.mean(finite)) if finite else float("nan")


def proportional(values: NDArray[np.float64], reference: NDArray[np.float64]) -> bool:
    """Whether values are a positive multiple of the reference, up to rounding.

    >>> proportional(np.array([1e6, 2e6]), np.array([1.0, 2.0]))
    True
    >>> proportional(np.array([1.0, 2.0]), np.array([2.0, 1.0]))
    False
    """
    largest = int(np.argmax(np.abs(reference)))
    if not reference[largest] or not values[largest] / reference[largest] > 0:
        return not np.any(values) and not np.any(reference)
    factor = values[largest] / reference[largest]
    return bool(np.all(np.abs(values - factor * reference) <= EQUAL * abs(values[largest])))
