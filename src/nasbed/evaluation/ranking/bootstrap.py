"""How far a measure of a ranking depends on which items happen to be ranked: the bootstrap over items.

Items are drawn with replacement, each with its true value and all its scores. Copies of an item are equal to each
other in every column; under the rule ``index`` they also stay in one order, so a measure that looks at the top sees
the same ranking, only thinner here and denser there. Under ``average`` copies disagree like any other equal items.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from nasbed.core.errors import InvalidOption, shorten
from nasbed.evaluation.ranking.columns import Floats, Integers, checked_columns
from nasbed.evaluation.ranking.correlation import spearman
from nasbed.evaluation.ranking.top import Measure
from nasbed.evaluation.significance import Interval

CHUNK = 1 << 20


@dataclass(frozen=True, slots=True)
class Difference:
    """A measure of one scoring less that of another, with an interval and a two-sided p-value."""

    estimate: float
    low: float
    high: float
    p: float


def item_bootstrap(
    truth: ArrayLike,
    scores: ArrayLike,
    rng: np.random.Generator,
    *,
    measure: Measure = spearman,
    level: float = 0.95,
    resamples: int = 1000,
) -> Interval:
    """A ``measure`` of a scoring with a percentile interval. Options of a measure go in by ``functools.partial``.

    Resamples for which the measure is NaN, such as those of a single item over and over, are left out.

    >>> found = item_bootstrap([1, 2, 3, 4, 5], [1, 3, 2, 5, 4], np.random.default_rng(0))
    >>> round(found.estimate, 3), found.low < 0.8 < found.high
    (0.8, True)
    """
    one, other = checked_columns(truth, scores)
    drawn = _resampled(one, [other], rng, measure, level, resamples)[0]
    return Interval(measure(one, other), *_ends(drawn, level))


def paired_bootstrap(
    truth: ArrayLike,
    scores: ArrayLike,
    other_scores: ArrayLike,
    rng: np.random.Generator,
    *,
    measure: Measure = spearman,
    level: float = 0.95,
    resamples: int = 1000,
) -> Difference:
    """The ``measure`` of ``scores`` less that of ``other_scores`` on the same items, both on the same resamples.

    The p-value is twice the share of resamples on which the difference is not of its sign, (count + 1) over
    (resamples + 1), at most 1.

    >>> found = paired_bootstrap([1, 2, 3, 4, 5], [1, 2, 3, 4, 5], [2, 1, 3, 5, 4], np.random.default_rng(0))
    >>> round(found.estimate, 3), found.p > 0.05
    (0.2, True)
    """
    one, first, second = checked_columns(truth, scores, other_scores)
    drawn = np.subtract(*_resampled(one, [first, second], rng, measure, level, resamples))
    known = drawn[~np.isnan(drawn)]
    against = min(int((known <= 0).sum()), int((known >= 0).sum()))
    p = min(1.0, 2 * (against + 1) / (len(known) + 1)) if len(known) else float("nan")
    return Difference(measure(one, first) - measure(one, second), *_ends(drawn, level), p)


def _resampled(
    truth: Floats, scorings: list[Floats], rng: np.random.Generator, measure: Measure, level: float, resamples: int
) -> Floats:
    """The measure of each scoring on each resample."""
    if not 0 < level < 1 or resamples < 1:
        raise InvalidOption(
            f"an interval has a level in (0, 1) and 1 resample or more, got {shorten(level)} and {shorten(resamples)}"
        )
    found = []
    correlations = [_WeightedSpearman(truth, scores) for scores in scorings] if measure is spearman else []
    for drawn in _draws(len(truth), resamples, rng):
        if correlations:
            counts = np.stack([np.bincount(row, minlength=len(truth)) for row in drawn]).astype(np.float64)
            found.append(np.stack([each(counts) for each in correlations]))
        else:
            found.append(np.array([[measure(truth[row], scores[row]) for row in drawn] for scores in scorings]))
    return np.concatenate(found, axis=1)


def _draws(items: int, resamples: int, rng: np.random.Generator) -> Iterator[Integers]:
    """Rows of items drawn, a bounded piece at a time."""
    size = max(1, CHUNK // items)
    for first in range(0, resamples, size):
        yield rng.integers(items, size=(min(size, resamples - first), items))


class _WeightedSpearman:
    """Spearman's correlation of items of which each is there so many times, without sorting them again."""

    def __init__(self, truth: Floats, scores: Floats) -> None:
        self.columns = []
        for column in (truth, scores):
            _, block, sizes = np.unique(column, return_inverse=True, return_counts=True)
            order = np.argsort(block, kind="stable")
            starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
            self.columns.append((order, block, starts))

    def __call__(self, counts: Floats) -> Floats:
        one, other = (self._centred(counts, *column) for column in self.columns)
        weighted = counts * one
        with np.errstate(invalid="ignore", divide="ignore"):
            found: Floats = (weighted * other).sum(axis=1) / np.sqrt(
                (weighted * one).sum(axis=1) * (counts * other**2).sum(axis=1)
            )
        return np.clip(found, -1.0, 1.0)

    @staticmethod
    def _centred(counts: Floats, order: Integers, block: Integers, starts: Integers) -> Floats:
        """The mean rank of each item's block of equal ones, less the mean of all ranks."""
        sizes = np.add.reduceat(counts[:, order], starts, axis=1)
        ranks: Floats = np.cumsum(sizes, axis=1) - (sizes + counts.sum(axis=1, keepdims=True)) / 2
        return ranks[:, block]


def _ends(drawn: Floats, level: float) -> tuple[float, float]:
    known = drawn[~np.isnan(drawn)]
    if not len(known):
        return float("nan"), float("nan")
    low, high = np.quantile(known, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)
