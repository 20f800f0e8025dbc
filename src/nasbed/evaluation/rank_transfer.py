"""Whether architectures rank alike on several datasets, corrected for the noise of their trainings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from nasbed.core.errors import InvalidOption
from nasbed.evaluation.ranking.bootstrap import item_bootstrap
from nasbed.evaluation.ranking.correlation import spearman
from nasbed.evaluation.ranking.overlap import rbo_extrapolated
from nasbed.evaluation.ranking.persistence import persistence_for
from nasbed.evaluation.ranking.top import within_top

Floats = NDArray[np.float64]

FEWEST_REPEATED = 10
"""With fewer architectures of several seeds, how far seeds agree is not estimated."""
TOP_WEIGHT = 0.9
"""The weight of the top in rank-biased overlap."""


@dataclass(frozen=True, slots=True)
class RankTransfer:
    """Matrices ``[datasets, datasets]``; what is not symmetric goes from the row's dataset to the column's.

    ``spearman`` is that of the means over seeds, with an interval over resampled architectures from ``low`` to
    ``high``. ``corrected`` estimates it for results without noise. ``top`` is the correlation among the row's best,
    ``overlap`` the rank-biased overlap. ``reliability`` is the correlation of one seed with another, NaN where too few
    architectures have several.
    """

    spearman: Floats
    low: Floats
    high: Floats
    corrected: Floats
    top: Floats
    overlap: Floats
    reliability: Floats


def rank_transfer(
    results: Sequence[Floats], rng: np.random.Generator, *, top_percent: float = 10.0, resamples: int = 200
) -> RankTransfer:
    """Compare the rankings of the same architectures on several datasets.

    Args:
        results: of each dataset ``[architectures, seeds]``, more is better; NaN where a seed is missing. Every
            architecture has one seed at least.
        rng: draws the resamples.
        top_percent: the share of the best that counts as the top, in per cent.
        resamples: how many the intervals come from.
    """
    if len({len(values) for values in results}) != 1 or len(results) < 2:
        raise InvalidOption("rankings of the same architectures are compared on two datasets or more")
    means = [mean_over_seeds(values) for values in results]
    reliability = np.array([seed_reliability(values) for values in results])
    count = len(results)
    matrices = {name: np.eye(count) for name in ("spearman", "low", "high", "corrected", "top", "overlap")}
    p = persistence_for(len(means[0]), top_percent=top_percent, weight=TOP_WEIGHT)
    for i, j in combinations(range(count), 2):
        interval = item_bootstrap(means[i], means[j], rng, resamples=resamples)
        for name, value in (
            ("spearman", interval.estimate),
            ("low", interval.low),
            ("high", interval.high),
            ("corrected", corrected_spearman(results[i], results[j])),
            ("overlap", rbo_extrapolated(means[i], means[j], p=p)),
        ):
            matrices[name][i, j] = matrices[name][j, i] = value
        for first, second in ((i, j), (j, i)):
            matrices["top"][first, second] = within_top(
                means[first], means[second], percent=top_percent, measure=spearman
            )
    return RankTransfer(**matrices, reliability=reliability)


def mean_over_seeds(values: Floats) -> Floats:
    """The mean of each row, missing seeds left out.

    >>> mean_over_seeds(np.array([[1.0, 3.0], [2.0, np.nan]])).tolist()
    [2.0, 2.0]
    """
    measured = ~np.isnan(values)
    if not measured.any(axis=1).all():
        raise InvalidOption("every architecture needs a result that ended well; leave the others out")
    means: Floats = np.where(measured, values, 0).sum(axis=1) / measured.sum(axis=1)
    return means


def seed_reliability(values: Floats) -> float:
    """The Spearman correlation of one seed with another, the mean over all pairs of seeds; NaN where fewer than
    :data:`FEWEST_REPEATED` architectures have both.

    >>> round(seed_reliability(np.column_stack([np.arange(20.0), np.arange(20.0) ** 2])), 9)
    1.0
    """
    correlations = []
    for first, second in combinations(values.T, 2):
        both = ~np.isnan(first) & ~np.isnan(second)
        if both.sum() >= FEWEST_REPEATED:
            correlations.append(spearman(first[both], second[both]))
    return float(np.mean(correlations)) if correlations else float("nan")


def corrected_spearman(first: Floats, second: Floats) -> float:
    """An estimate of the Spearman correlation of two results without their noise, by Spearman's correction: that of
    single seeds over the root of the product of both reliabilities. NaN where one cannot be estimated or seeds do not
    agree at all.

    Args:
        first, second: ``[architectures, seeds]`` of the same architectures, NaN where a seed is missing.
    """
    reliabilities = [seed_reliability(values) for values in (first, second)]
    if not min(reliabilities) > 0:
        return float("nan")
    corrected = spearman(_first_seed(first), _first_seed(second)) / np.sqrt(np.prod(reliabilities))
    return float(np.clip(corrected, -1, 1))


def _first_seed(values: Floats) -> Floats:
    """Each row's first measured seed: as noisy as a single training, whatever the number of seeds."""
    return np.asarray(values[np.arange(len(values)), (~np.isnan(values)).argmax(axis=1)])


def operation_effects(codes: NDArray[np.int64], values: Floats, places: Sequence[int], operations: int) -> Floats:
    """``[places, operations]``: how far the mean result of architectures with an operation at a place lies above that
    of all, in standard deviations; NaN where none has it.

    >>> operation_effects(np.array([[0], [0], [1], [1]]), np.array([1.0, 1.0, 3.0, 3.0]), [0], 2).tolist()
    [[-1.0, 1.0]]
    """
    standard = (values - values.mean()) / values.std()
    effects = np.full((len(places), operations), np.nan)
    for row, place in enumerate(places):
        for operation in range(operations):
            having = codes[:, place] == operation
            if having.any():
                effects[row, operation] = standard[having].mean()
    return effects
