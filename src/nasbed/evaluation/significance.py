"""Tests of differences between methods over seeds.

They follow Demšar (2006), Statistical comparisons of classifiers over multiple data sets, with seeds as data sets. All
values are losses: lower is better.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Literal

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike, NDArray

from nasbed.core.errors import InvalidOption
from nasbed.evaluation.ranks import ENDS, ranks

EXACT_PAIRS = 50
Test = Literal["wilcoxon", "mann-whitney"]


@dataclass(frozen=True, slots=True)
class Pairwise:
    """P-values of all pairs of methods, raw and corrected: symmetric ``[methods, methods]``, 1 on the diagonal."""

    p: NDArray[np.float64]
    holm: NDArray[np.float64]  # corrected for the number of pairs


@dataclass(frozen=True, slots=True)
class Friedman:
    """The statistic and the p-value of the hypothesis that all methods rank alike."""

    statistic: float
    p: float


@dataclass(frozen=True, slots=True)
class Interval:
    """An estimate and the ends of its interval."""

    estimate: float
    low: float
    high: float


def wilcoxon(x: ArrayLike, y: ArrayLike) -> float:
    """The two-sided p-value of Wilcoxon's signed-rank test for losses paired by seed: 1 if no pair differs.

    Pairs without a difference or with a missing value are left out; an infinite loss, of a run that found nothing,
    ranks last. Exact, also with ties, up to 50 pairs.

    >>> wilcoxon([1.0, 2.0, 3.0, 4.0], [2.0, 4.0, 6.0, 8.0])
    0.125
    """
    from scipy import stats

    with np.errstate(invalid="ignore"):
        differences = _column(x) - _column(y)
    differences = differences[(differences != 0) & ~np.isnan(differences)]
    if not len(differences):
        return 1.0
    sizes = stats.rankdata(np.abs(differences))
    if len(sizes) > EXACT_PAIRS:
        return float(stats.wilcoxon(np.sign(differences) * sizes, method="approx").pvalue)
    doubled = np.rint(2 * sizes).astype(np.int64)  # ties share half ranks
    chances = np.ones(1)  # of each sum of the doubled ranks with a positive sign
    for size in doubled:
        chances = (np.pad(chances, (0, size)) + np.pad(chances, (size, 0))) / 2
    total = int(doubled[differences > 0].sum())
    return min(1.0, 2 * float(min(chances[: total + 1].sum(), chances[total:].sum())))


def mann_whitney(x: ArrayLike, y: ArrayLike) -> float:
    """The two-sided p-value of the Mann–Whitney test for unpaired losses; 1 if either side has none. Missing losses
    are left out.

    >>> round(mann_whitney([1.0, 2.0, 3.0], [4.0, 5.0, 6.0]), 3)
    0.1
    """
    from scipy import stats

    first, second = _present(x), _present(y)
    if not len(first) or not len(second) or len(set(first.tolist()) | set(second.tolist())) == 1:
        return 1.0
    return float(stats.mannwhitneyu(first, second, alternative="two-sided").pvalue)


def holm(p: ArrayLike) -> NDArray[np.float64]:
    """P-values corrected for multiple tests by Holm's step-down method.

    >>> holm([0.01, 0.04, 0.03]).tolist()
    [0.03, 0.06, 0.06]
    """
    raw = _column(p)
    order = np.argsort(raw, kind="stable")
    stepped = np.maximum.accumulate(raw[order] * np.arange(len(raw), 0, -1)) if len(raw) else raw
    corrected = np.empty(len(raw))
    corrected[order] = np.minimum(stepped, 1.0)
    return corrected


def pairwise(losses: ArrayLike, *, test: Test = "wilcoxon") -> Pairwise:
    """Every two rows of ``losses [methods, seeds]`` tested, and the p-values corrected by :func:`holm`.

    >>> pairwise([[1, 2, 3, 4, 5, 6], [2, 4, 6, 8, 10, 12], [1, 2, 3, 4, 5, 6]]).holm[0].tolist()
    [1.0, 0.09375, 1.0]
    """
    table = _table(losses)
    function = {"wilcoxon": wilcoxon, "mann-whitney": mann_whitney}[test]
    pairs = list(combinations(range(len(table)), 2))
    p, corrected = np.ones((2, len(table), len(table)))
    raw = [function(table[row], table[column]) for row, column in pairs]
    for (row, column), raw_p, corrected_p in zip(pairs, raw, holm(raw).tolist(), strict=True):
        p[row, column] = p[column, row] = raw_p
        corrected[row, column] = corrected[column, row] = corrected_p
    return Pairwise(p, corrected)


def friedman(losses: ArrayLike) -> Friedman:
    """Friedman's test on ``losses [methods, seeds]``, corrected for ties; a statistic of 0 if all are equal.

    >>> friedman([[1, 1, 1, 1], [2, 2, 2, 3], [3, 3, 3, 2]]).statistic
    6.5
    """
    from scipy import stats

    by_seed = ranks(_table(losses))
    count, seeds = by_seed.shape
    if count < 2:
        raise InvalidOption("Friedman's test compares 2 methods or more, got 1")
    spread = ((by_seed - (count + 1) / 2) ** 2).sum() / (count - 1)
    if not spread:
        return Friedman(0.0, 1.0)
    statistic = float(((by_seed.sum(axis=1) - seeds * (count + 1) / 2) ** 2).sum() / spread)
    return Friedman(statistic, float(stats.chi2.sf(statistic, count - 1)))


def critical_difference(methods: int, seeds: int, *, alpha: float = 0.05) -> float:
    """How far apart two mean ranks must be to differ by Nemenyi's test (Demšar 2006, section 3.2.2).

    >>> round(critical_difference(5, 30), 3)  # the q of Demšar's table 5 is 2.728
    1.114
    """
    from scipy import stats

    if methods < 2 or seeds < 1 or not 0 < alpha < 1:
        raise InvalidOption(f"Nemenyi's test takes 2 methods, 1 seed or more, got {methods}, {seeds}, alpha {alpha}")
    q = float(stats.studentized_range.ppf(1 - alpha, methods, np.inf)) / np.sqrt(2)
    return float(q * np.sqrt(methods * (methods + 1) / (6 * seeds)))


def superiority(x: ArrayLike, y: ArrayLike) -> float:
    """The effect size: the probability that a run of ``x`` has a lower loss than one of ``y``, a tie counting half.

    >>> superiority([1.0, 2.0], [2.0, 3.0])
    0.875
    """
    first, second = _present(x), np.sort(_present(y))
    if not len(first) or not len(second):
        return float("nan")
    at_most, below = np.searchsorted(second, first, side="right"), np.searchsorted(second, first, side="left")
    return float((len(second) - (at_most + below) / 2).mean() / len(second))


def bootstrap_interval(sample: ArrayLike, rng: Generator, *, resamples: int = 2000) -> Interval:
    """A 95 % percentile bootstrap interval for a mean. Missing values are left out.

    For a difference between two methods, pass the differences of their paired losses.

    >>> bootstrap_interval([1.0, 1.0, 1.0], np.random.default_rng(0))
    Interval(estimate=1.0, low=1.0, high=1.0)
    """
    values = _present(sample)
    if not len(values):
        return Interval(*[float("nan")] * 3)
    samples = values[rng.integers(len(values), size=(resamples, len(values)))]
    low, high = np.quantile(samples.mean(axis=1), ENDS)
    return Interval(float(values.mean()), float(low), float(high))


def _column(values: ArrayLike) -> NDArray[np.float64]:
    return np.asarray(values, dtype=np.float64).ravel()


def _present(values: ArrayLike) -> NDArray[np.float64]:
    column = _column(values)
    return column[~np.isnan(column)]


def _table(losses: ArrayLike) -> NDArray[np.float64]:
    table = np.asarray(losses, dtype=np.float64)
    if table.ndim != 2:
        raise InvalidOption(f"a comparison takes losses [methods, seeds], got shape {table.shape}")
    return table
