"""The bootstrap over items: how much a measure of a ranking depends on the sample of items.

Items are drawn with replacement, each with its true value and all its scores. Copies of an item are equal to each other
in every column; under the rule ``index`` they also stay in one order, so a measure of the top sees the same ranking
with other densities. Under ``average`` copies disagree like any other equal items.
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

    Args:
        truth: The true values.
        scores: The scores of the same items.
        rng: Draws the resamples.
        measure: From true values and scores to a number.
        level: The level of the interval.
        resamples: The number of resamples.

    >>> result = item_bootstrap([1, 2, 3, 4, 5], [1, 3, 2, 5, 4], np.random.default_rng(0))
    >>> round(result.estimate, 3), result.low < 0.8 < result.high
    (0.8, True)
    """
    true_values, column = checked_columns(truth, scores)
    resampled = _resample_measures(true_values, [column], rng, measure, level, resamples)[0]
    return Interval(measure(true_values, column), *_ends(resampled, level))


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

    Args:
        truth: The true values.
        scores: The scores of the same items.
        other_scores: The scores that they are compared with.
        rng: Draws the resamples.
        measure: From true values and scores to a number.
        level: The level of the interval.
        resamples: The number of resamples.

    >>> result = paired_bootstrap([1, 2, 3, 4, 5], [1, 2, 3, 4, 5], [2, 1, 3, 5, 4], np.random.default_rng(0))
    >>> round(result.estimate, 3), result.p > 0.05
    (0.2, True)
    """
    true_values, first, second = checked_columns(truth, scores, other_scores)
    resampled = np.subtract(*_resample_measures(true_values, [first, second], rng, measure, level, resamples))
    finite = resampled[~np.isnan(resampled)]
    against = min(int((finite <= 0).sum()), int((finite >= 0).sum()))
    p = min(1.0, 2 * (against + 1) / (len(finite) + 1)) if len(finite) else float("nan")
    return Difference(measure(true_values, first) - measure(true_values, second), *_ends(resampled, level), p)


def _resample_measures(
    truth: Floats, scorings: list[Floats], rng: np.random.Generator, measure: Measure, level: float, resamples: int
) -> Floats:
    """The measure of each scoring on each resample.

    Args:
        truth: The true values.
        scorings: The scores of the same items, by each scoring.
        rng: Draws the resamples.
        measure: From true values and scores to a number.
        level: The level of the interval, which is only checked here.
        resamples: The number of resamples.
    """
    if not 0 < level < 1 or resamples < 1:
        raise InvalidOption(
            f"an interval has a level in (0, 1) and 1 resample or more, got {shorten(level)} and {shorten(resamples)}"
        )
    results = []
    correlations = [_WeightedSpearman(truth, scores) for scores in scorings] if measure is spearman else []
    for samples in _draws(len(truth), resamples, rng):
        if correlations:
            counts = np.stack([np.bincount(row, minlength=len(truth)) for row in samples]).astype(np.float64)
            results.append(np.stack([correlation(counts) for correlation in correlations]))
        else:
            results.append(np.array([[measure(truth[row], scores[row]) for row in samples] for scores in scorings]))
    return np.concatenate(results, axis=1)


def _draws(items: int, resamples: int, rng: np.random.Generator) -> Iterator[Integers]:
    """Rows of items drawn, a bounded piece at a time."""
    size = max(1, CHUNK // items)
    for first in range(0, resamples, size):
        yield rng.integers(items, size=(min(size, resamples - first), items))


class _WeightedSpearman:
    """Spearman's correlation of items with repetitions, without sorting them again."""

    def __init__(self, truth: Floats, scores: Floats) -> None:
        self.columns = []
        for column in (truth, scores):
            _, block, sizes = np.unique(column, return_inverse=True, return_counts=True)
            order = np.argsort(block, kind="stable")
            starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
            self.columns.append((order, block, starts))

    def __call__(self, counts: Floats) -> Floats:
        x, y = (self._centre_ranks(counts, *column) for column in self.columns)
        weighted = counts * x
        with np.errstate(invalid="ignore", divide="ignore"):
            correlations: Floats = (weighted * y).sum(axis=1) / np.sqrt(
                (weighted * x).sum(axis=1) * (counts * y**2).sum(axis=1)
            )
        return np.clip(correlations, -1.0, 1.0)

    @staticmethod
    def _centre_ranks(counts: Floats, order: Integers, block: Integers, starts: Integers) -> Floats:
        """The mean rank of each item's block of equal ones, less the mean of all ranks."""
        sizes = np.add.reduceat(counts[:, order], starts, axis=1)
        ranks: Floats = np.cumsum(sizes, axis=1) - (sizes + counts.sum(axis=1, keepdims=True)) / 2
        return ranks[:, block]


def _ends(resampled: Floats, level: float) -> tuple[float, float]:
    finite = resampled[~np.isnan(resampled)]
    if not len(finite):
        return float("nan"), float("nan")
    low, high = np.quantile(finite, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)
