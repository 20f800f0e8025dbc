"""A test of whether two scorings correlate differently with the same truth, by a formula instead of resampling."""

from __future__ import annotations

from dataclasses import dataclass
from math import isnan, sqrt

from numpy.typing import ArrayLike
from scipy import stats

from nasbed.core.errors import InvalidOption, shorten
from nasbed.evaluation.ranking.columns import checked_columns
from nasbed.evaluation.ranking.correlation import spearman


@dataclass(frozen=True, slots=True)
class Williams:
    """Student's t with ``items`` − 3 degrees of freedom, and its two-sided p-value."""

    t: float
    p: float


def williams(first: float, second: float, *, between: float, items: int) -> Williams:
    """Williams' test (1959) of whether the correlations ``first`` and ``second`` of two columns with a third are equal.

    ``between`` is the correlation of the two columns with each other. The test is T2 of Steiger (1980), who prefers it
    to Hotelling's.

    >>> result = williams(0.4, 0.5, between=0.1, items=103)  # the example of Steiger (1980) has t = -0.89
    >>> round(result.t, 2), round(result.p, 2)
    (-0.89, 0.37)
    """
    if items < 4:
        raise InvalidOption(f"Williams' test takes 4 items or more, got {shorten(items)}; give more items")
    if any(abs(correlation) > 1 for correlation in (first, second, between)):
        raise InvalidOption(f"a correlation is from -1 to 1, got {first}, {second} and {between}")
    if isnan(first + second + between):
        return Williams(float("nan"), float("nan"))
    if first == second:
        return Williams(0.0, 1.0)
    determinant = max(0.0, 1 - first**2 - second**2 - between**2 + 2 * first * second * between)
    spread = 2 * determinant * (items - 1) / (items - 3) + ((first + second) / 2) ** 2 * (1 - between) ** 3
    if spread <= 0:
        raise InvalidOption(f"the correlations {first}, {second} and {between} between them cannot go together")
    t = (first - second) * sqrt((items - 1) * (1 + between) / spread)
    return Williams(t, float(2 * stats.t.sf(abs(t), items - 3)))


def compare_spearman(truth: ArrayLike, scores: ArrayLike, other_scores: ArrayLike) -> Williams:
    """:func:`williams` on Spearman's correlations of two scorings with the truth.

    The p-value is approximate, as ranks replace normal values; :func:`paired_bootstrap` assumes less.

    >>> compare_spearman([1, 2, 3, 4, 5], [1, 3, 2, 5, 4], [5, 4, 2, 3, 1]).p < 0.1
    True
    """
    true_values, first, second = checked_columns(truth, scores, other_scores)
    return williams(
        spearman(true_values, first),
        spearman(true_values, second),
        between=spearman(first, second),
        items=len(true_values),
    )
