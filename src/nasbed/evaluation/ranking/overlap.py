"""Rank-biased overlap: agreement of two rankings, the more important the nearer to the top.

At depth d, the overlap O_d is how many items are among the first d of both rankings. An item counts from depth
max(rank by truth, rank by score) on, so all overlaps are one cumulative count.

*The paper* is Zero-Cost Benchmarks: Towards Lower Reliance on Spearman Rank Correlation, whose overlap is that count.
*The textbook* is Webber, Moffat & Zobel (2010), A similarity measure for indefinite rankings, which divides it by d.
"""

from __future__ import annotations

from math import log

import numpy as np
from numpy.typing import ArrayLike

from nasbed.core.errors import InvalidOption, shorten
from nasbed.evaluation.ranking.columns import Floats, Integers, checked_columns, checked_depth
from nasbed.evaluation.ranking.ties import RankRange, Ties, checked_ties, rank_ranges, ranks_of


def overlaps(truth: ArrayLike, scores: ArrayLike, *, ties: Ties = "average") -> Floats:
    """The overlap at depths 1 to n, a count (equation 3), the highest values first.

    ``average`` gives its mean over the orders of equal items, exactly; ``pessimistic`` and ``optimistic`` the least and
    the most that an order can give, at all depths at once; ``index`` ranks equal items as they come.

    >>> overlaps([4, 3, 2, 1], [4, 1, 2, 3]).tolist(), overlaps([4, 3, 2, 1], [2, 2, 1, 1]).tolist()
    ([1.0, 1.0, 2.0, 4.0], [0.5, 2.0, 2.5, 4.0])
    """
    by_truth, by_score = map(rank_ranges, checked_columns(truth, scores))
    if not by_truth.tied and not by_score.tied:
        checked_ties(ties)
        return _overlap_counts(by_truth.first, by_score.first).astype(np.float64)
    if checked_ties(ties) == "average":
        return _mean_overlaps(by_truth, by_score)
    return _overlap_counts(*ranks_of(by_truth, by_score, ties)).astype(np.float64)


def rbo_counted(truth: ArrayLike, scores: ArrayLike, *, p: float, ties: Ties = "average") -> float:
    """Equation 2 of the paper: (1 − p) Σ p^(d−1) O_d, the overlap a count. From 0 to nearly 1 / (1 − p).

    >>> rbo_counted([3, 2, 1], [3, 1, 2], p=0.5)  # overlaps 1, 1, 3
    1.125
    """
    counts = overlaps(truth, scores, ties=ties)
    return (1 - _check_p(p)) * _dot(_weights(p, len(counts)), counts)


def rbo_normalised(truth: ArrayLike, scores: ArrayLike, *, p: float, ties: Ties = "average") -> float:
    """Equation 5 of the paper: Σ p^(d−1) O_d / Σ p^(d−1) d, which is 1 for equal rankings without ties.

    >>> rbo_normalised([3, 2, 1], [3, 1, 2], p=0.5)
    0.8181818181818182
    """
    counts = overlaps(truth, scores, ties=ties)
    weights = _weights(_check_p(p), len(counts))
    return _dot(weights, counts) / _dot(weights, np.arange(1.0, len(counts) + 1))


def rbo_truncated(
    truth: ArrayLike, scores: ArrayLike, *, p: float, depth: int | None = None, ties: Ties = "average"
) -> float:
    """The textbook's measure up to a depth, all items by default: (1 − p) Σ p^(d−1) O_d / d. Equal rankings have
    1 − p^depth: what lies deeper is taken to disagree.

    Args:
        truth: The true values.
        scores: The scores of the same items.
        p: The persistence, in (0, 1).
        depth: The last depth that counts; all items by default.
        ties: The rule for equal items.

    >>> rbo_truncated([3, 2, 1], [3, 1, 2], p=0.5)  # agreements 1, 1/2, 1
    0.75
    """
    agreements = _agreements(truth, scores, depth, ties)
    return (1 - _check_p(p)) * _dot(_weights(p, len(agreements)), agreements)


def rbo_extrapolated(
    truth: ArrayLike, scores: ArrayLike, *, p: float, depth: int | None = None, ties: Ties = "average"
) -> float:
    """The textbook's RBO_EXT for two rankings of one length: the agreement at the last depth is taken
    to go on for ever, which adds p^depth O_depth / depth. Equal rankings without ties have 1.

    Args:
        truth: The true values.
        scores: The scores of the same items.
        p: The persistence, in (0, 1).
        depth: The last depth that is seen; all items by default.
        ties: The rule for equal items.

    >>> rbo_extrapolated([3, 2, 1], [3, 1, 2], p=0.5)
    0.875
    """
    agreements = _agreements(truth, scores, depth, ties)
    weights = _weights(_check_p(p), len(agreements) + 1)
    return (1 - p) * _dot(weights[:-1], agreements) + float(weights[-1] * agreements[-1])


def _agreements(truth: ArrayLike, scores: ArrayLike, depth: int | None, ties: Ties) -> Floats:
    counts = overlaps(truth, scores, ties=ties)
    count = len(counts) if depth is None else checked_depth(depth, len(counts), "the depth of an overlap")
    agreements: Floats = counts[:count] / np.arange(1, count + 1)
    return agreements


def _weights(p: float, count: int) -> Floats:
    """p^0 to p^(count − 1); far down they are 0, as they should be."""
    weights: Floats = np.exp(np.arange(count) * log(p))
    return weights


def _dot(x: Floats, y: Floats) -> float:
    """By numpy alone: threads of a BLAS that wait for each other take longer than the sum."""
    return float((x * y).sum())


def _check_p(p: float) -> float:
    if not 0 < p < 1:
        raise InvalidOption(f"the p of a rank-biased overlap is above 0 and below 1, got {shorten(p)}")
    return p


def _overlap_counts(ranks: Integers, other_ranks: Integers) -> Integers:
    """How many items have both ranks at most 1, 2, ... n."""
    return np.cumsum(np.bincount(np.maximum(ranks, other_ranks), minlength=len(ranks) + 1)[1:])


def _mean_overlaps(first: RankRange, second: RankRange) -> Floats:
    """At each depth a single block of equal items a ranking is cut. Three counts give the exact mean at any length:
    items wholly within both, items within one and in the cut block of the other, and items in both cut blocks."""
    inside = _overlap_counts(first.last, second.last)
    only_other = _spans(np.maximum(first.first, second.last), first.last - 1)
    only_one = _spans(np.maximum(second.first, first.last), second.last - 1)
    neither = _spans(np.maximum(first.first, second.first), np.minimum(first.last, second.last) - 1)
    cut_one, cut_other = _shares(first), _shares(second)
    means: Floats = inside + cut_one * only_other + cut_other * only_one + cut_one * cut_other * neither
    return means


def _spans(first: Integers, last: Integers) -> Integers:
    """How many of the spans ``first`` to ``last`` hold each of the depths 1 to n; those that end early hold none."""
    count, valid = len(first), first <= last
    steps = np.bincount(first[valid], minlength=count + 2) - np.bincount(last[valid] + 1, minlength=count + 2)
    return np.cumsum(steps)[1 : count + 1]


def _shares(ranges: RankRange) -> Floats:
    """At each depth, the share within it of the block that it cuts or ends with."""
    at_first = np.bincount(ranges.first)[1:]
    starts = np.flatnonzero(at_first)
    sizes = at_first[starts]
    shares: Floats = (np.arange(1, len(ranges.first) + 1) - np.repeat(starts, sizes)) / np.repeat(sizes, sizes)
    return shares
