"""The truly best items, and any measure among them only."""

from __future__ import annotations

from collections.abc import Callable
from math import floor
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nasbed.core.errors import InvalidOption, shorten
from nasbed.evaluation.ranking.columns import Floats, checked_columns
from nasbed.evaluation.ranking.ties import rank_ranges, ranks_of

Measure = Callable[[Floats, Floats], float]
"""From true values and scores to a number."""

Boundary = Literal["all", "index"]


def top_count(items: int, percent: float) -> int:
    """How many items the top ``percent`` of them are, rounded down.

    >>> top_count(9445, 1)
    94
    """
    if not 0 < percent <= 100:
        raise InvalidOption(f"the top of a ranking is more than 0 and at most 100 percent, got {shorten(percent)}")
    count = floor(items * percent / 100 + 1e-9)
    if not count:
        raise InvalidOption(f"the top {percent} % of {items} items is less than one item; ask for a larger percentage")
    return count


def in_top(truth: ArrayLike, *, percent: float, ties: Boundary = "all") -> NDArray[np.bool_]:
    """Which items are among the top ``percent`` by truth, the highest first.

    Equal items may lie on both sides of the boundary. Then ``all`` takes all of them, more than :func:`top_count`;
    ``index`` takes exactly that many, the first in the input.

    >>> in_top([4.0, 9.0, 4.0, 1.0], percent=50).tolist()
    [True, True, True, False]
    >>> in_top([4.0, 9.0, 4.0, 1.0], percent=50, ties="index").tolist()
    [True, True, False, False]
    """
    (column,) = checked_columns(truth)
    count, ranges = top_count(len(column), percent), rank_ranges(column)
    if ties not in ("all", "index"):
        raise InvalidOption(f"equal items at a boundary are taken by the rule all or index, got {shorten(ties)}")
    members: NDArray[np.bool_] = (ranges.first if ties == "all" else ranks_of(ranges, ranges, "index")[0]) <= count
    return members


def within_top(
    truth: ArrayLike, scores: ArrayLike, *, percent: float, measure: Measure, ties: Boundary = "all"
) -> float:
    """A ``measure`` among the top items by truth only.

    Args:
        truth: The true values.
        scores: The scores of the same items.
        percent: The size of the top, in per cent.
        measure: From true values and scores to a number.
        ties: The rule at the boundary, as for :func:`in_top`.

    >>> from nasbed.evaluation.ranking import spearman
    >>> truth, scores = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0], [1.0, 2.0, 3.0, 6.0, 5.0, 4.0]
    >>> round(spearman(truth, scores), 3), within_top(truth, scores, percent=50, measure=spearman)
    (0.771, -1.0)
    """
    true_values, column = checked_columns(truth, scores)
    members = in_top(true_values, percent=percent, ties=ties)
    if members.sum() < 2:
        raise InvalidOption(
            f"the top {percent} % of {len(true_values)} items is a single one; ask for a larger percentage"
        )
    return measure(true_values[members], column[members])
