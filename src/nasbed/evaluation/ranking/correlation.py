"""Rank correlations over all items. Equal items stay equal: they get no arbitrary order. A column of equal values has
no ranking, so its correlation is NaN.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from nasbed.core.errors import InvalidOption, shorten
from nasbed.evaluation.landscape import relations
from nasbed.evaluation.ranking.columns import Floats, checked_columns
from nasbed.surrogates import scores as fits


def spearman(truth: ArrayLike, scores: ArrayLike) -> float:
    """Pearson's correlation of the ranks, equal items sharing their mean rank (equation 1 of the paper).

    >>> round(spearman([1.0, 2.0, 3.0, 4.0], [10.0, 20.0, 40.0, 30.0]), 6)
    0.8
    """
    return relations.spearman(*checked_columns(truth, scores))


def kendall(truth: ArrayLike, scores: ArrayLike) -> float:
    """Kendall's tau-b: pairs in the same order less pairs in the opposite order, normalised. The divisor is the
    geometric mean of the pairs that differ in the truth and those that differ in the scores.

    >>> round(kendall([1.0, 2.0, 3.0, 4.0], [10.0, 20.0, 40.0, 30.0]), 6)
    0.666667
    """
    true_values, column = checked_columns(truth, scores)
    return fits.kendall(true_values, column) if _differ(true_values) and _differ(column) else float("nan")


def sparse_kendall(
    truth: ArrayLike, scores: ArrayLike, *, precision: float, rounded: Literal["scores", "truth"] = "scores"
) -> float:
    """:func:`kendall` after rounding one column to multiples of ``precision``, so that smaller differences are ties.

    ``scores`` are rounded where they predict the metric, as published; where they have no unit, as those of a proxy,
    round the ``truth``.

    >>> sparse_kendall([93.01, 93.02, 95.0], [7.0, 5.0, 9.0], precision=0.1, rounded="truth") > 0.8
    True
    """
    true_values, column = checked_columns(truth, scores)
    if not 0 < precision < np.inf:
        raise InvalidOption(f"what a sparse Kendall rounds to is above 0, got {shorten(precision)}")
    if rounded not in ("scores", "truth"):
        raise InvalidOption(f"a sparse Kendall rounds the scores or the truth, got {shorten(rounded)}")
    exact, coarse = (true_values, column) if rounded == "scores" else (column, true_values)
    if not _differ(exact) or not _differ(np.round(coarse / precision)):
        return float("nan")
    return fits.sparse_kendall(exact, coarse, precision=precision)


def _differ(column: Floats) -> bool:
    return bool((column != column[0]).any())
