"""Measures of the k highest scored items.

All of them rank equal scores by the rule ``ties`` of :mod:`nasbed.evaluation.ranking.ties`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from nasbed.core.errors import InvalidMeasurement
from nasbed.evaluation.ranking.columns import Floats, checked_columns, checked_depth
from nasbed.evaluation.ranking.ties import Ties, checked_ties, rank_ranges, ranks_of


def precision_at(truth: ArrayLike, scores: ArrayLike, *, k: int, best: int, ties: Ties = "average") -> float:
    """The share of the ``k`` highest scored items that are truly among the best.

    Args:
        truth: The true values.
        scores: The scores of the same items.
        k: How many of the highest scored items count.
        best: How many of the highest true values count as the best.
        ties: The rule for equal items.

    >>> precision_at([9, 8, 7, 6, 5], [5, 1, 4, 3, 2], k=2, best=3)
    1.0
    """
    return _hit_count(truth, scores, k, best, ties) / k


def recall_at(truth: ArrayLike, scores: ArrayLike, *, k: int, best: int, ties: Ties = "average") -> float:
    """The share of the truly best items that are among the ``k`` highest scored.

    Args:
        truth, scores, k, best, ties: As for :func:`precision_at`.

    >>> round(recall_at([9, 8, 7, 6, 5], [5, 1, 4, 3, 2], k=2, best=3), 3)
    0.667
    """
    return _hit_count(truth, scores, k, best, ties) / best


def best_rank_at(truth: ArrayLike, scores: ArrayLike, *, k: int, ties: Ties = "average") -> float:
    """The true rank of the best item among the ``k`` highest scored: the result of a search that can train k.

    1 is the best. Equal true values are equally good: they share the smallest of their ranks, by all rules.

    >>> best_rank_at([9, 8, 7, 6], [1, 2, 3, 4], k=2), best_rank_at([9, 8, 7, 6], [0, 0, 0, 0], k=1)
    (3.0, 2.5)
    """
    by_truth, by_score = map(rank_ranges, checked_columns(truth, scores))
    depth = checked_depth(k, len(by_truth.first), "k")
    if checked_ties(ties) != "average":
        _, ranks = ranks_of(by_truth, by_score, ties)
        return float(by_truth.first[ranks <= depth].min())
    sure = by_truth.first[by_score.last <= depth]
    bound = int(sure.min()) if len(sure) else len(by_truth.first)
    cut = np.sort(by_truth.first[(by_score.first <= depth) & (by_score.last > depth)])
    if not len(cut):
        return float(bound)
    open_places = depth - len(sure)  # filled by equal ones at random: the chance that the r-th best is the best of them
    earlier = np.arange(len(cut))
    missed = np.cumprod(np.clip(1 - open_places / (len(cut) - earlier), 0.0, None))
    chances = np.concatenate([[1.0], missed[:-1]]) - missed
    return float((chances * np.minimum(cut, bound)).sum())


def ndcg_at(truth: ArrayLike, scores: ArrayLike, *, k: int, ties: Ties = "average") -> float:
    """The normalised discounted cumulative gain (Järvelin & Kekäläinen 2002): true values of the ``k`` highest scored,
    each over log2(rank + 1), as a share of the most that is possible.

    Gains are the true values, finite and at least 0. Where all accuracies are similar, subtract that of a poor item;
    otherwise every scoring seems good. NaN if all are 0.

    >>> round(ndcg_at([3, 2, 0], [1, 2, 3], k=3), 4)
    0.648
    """
    gains, column = checked_columns(truth, scores)
    depth = checked_depth(k, len(gains), "k")
    if not np.isfinite(gains).all() or gains.min() < 0:
        raise InvalidMeasurement(
            f"gains are finite and at least 0, got true values from {gains.min()} to {gains.max()}; subtract the least"
        )
    discounts = np.zeros(len(gains))
    discounts[:depth] = 1 / np.log2(np.arange(2, depth + 2))
    ideal = float((np.sort(gains)[::-1] * discounts).sum())
    if not ideal:
        return float("nan")
    return float((gains * _item_discounts(gains, column, discounts, ties)).sum()) / ideal


def _item_discounts(gains: Floats, scores: Floats, discounts: Floats, ties: Ties) -> Floats:
    """The discount of each item."""
    by_score = rank_ranges(scores)
    if checked_ties(ties) == "average":
        sums = np.concatenate([[0.0], np.cumsum(discounts)])
        means: Floats = (sums[by_score.last] - sums[by_score.first - 1]) / (by_score.last - by_score.first + 1)
        return means
    return discounts[ranks_of(rank_ranges(gains), by_score, ties)[1] - 1]


def _hit_count(truth: ArrayLike, scores: ArrayLike, k: int, best: int, ties: Ties) -> float:
    """How many of the k highest scored are among the truly best."""
    by_truth, by_score = map(rank_ranges, checked_columns(truth, scores))
    count = len(by_truth.first)
    depth, relevant = checked_depth(k, count, "k"), checked_depth(best, count, "the number of the truly best")
    if checked_ties(ties) == "average":
        return float((by_truth.chance(relevant) * by_score.chance(depth)).sum())
    true_ranks, ranks = ranks_of(by_truth, by_score, ties)
    return float(((true_ranks <= relevant) & (ranks <= depth)).sum())
