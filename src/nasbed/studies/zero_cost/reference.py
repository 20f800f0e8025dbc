"""The reference for the top of a ranking: a proxy whose errors are the same everywhere.

Among the best few percent, true values differ little, so any error weighs more and every correlation falls: restriction
of range. The reference is a Gaussian copula: truth and scores are two normal variables with the proxy's correlation
over all architectures. They are measured in the same way. A proxy below the reference fails at the top by itself.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from nasbed.core.errors import InvalidOption
from nasbed.evaluation.ranking import rbo_normalised
from nasbed.evaluation.ranking.columns import Floats
from nasbed.evaluation.significance import Interval


@dataclass(frozen=True, slots=True)
class RangeReference:
    """Measures of rankings with known correlations over all items, on each draw: ``[correlations, draws]``."""

    top: Floats  # Spearman's correlation within the top
    rbo: Floats  # normalised

    def in_top(self, place: int) -> Interval:
        return _interval(self.top[place])

    def overlap(self, place: int) -> Interval:
        return _interval(self.rbo[place])


def normal_correlation(spearman: ArrayLike) -> Floats:
    """Pearson's correlation of two normal variables with a Spearman correlation: 2 sin(π ρ / 6).

    >>> normal_correlation([0.0, 1.0, -1.0]).round(12).tolist()
    [0.0, 1.0, -1.0]
    """
    pearson: Floats = 2 * np.sin(np.pi * np.asarray(spearman, dtype=np.float64) / 6)
    return np.clip(pearson, -1.0, 1.0)


def range_reference(
    correlations: ArrayLike, items: int, top: int, p: float, rng: np.random.Generator, *, draws: int = 200
) -> RangeReference:
    """For each Spearman correlation over all items, the correlation within the top and the overlap.

    Args:
        correlations: Spearman correlations over all items.
        items: The number of items.
        top: The number of the truly best items that count as the top.
        p: The persistence of rank-biased overlap.
        rng: Draws the rankings.
        draws: The number of rankings for each correlation.

    >>> reference = range_reference([1.0, -1.0], 100, 10, 0.9, np.random.default_rng(0), draws=5)
    >>> reference.in_top(0).estimate, reference.in_top(1).estimate, reference.overlap(0).estimate
    (1.0, -1.0, 1.0)
    """
    if not 2 <= top <= items or draws < 1:
        raise InvalidOption(f"a reference needs a top of 2 to {items} items and 1 draw or more, got {top} and {draws}")
    pearsons = normal_correlation(correlations)
    in_top, overlap = np.full((2, len(pearsons), draws), np.nan)
    best_first = np.arange(items, 0, -1.0)
    for draw in range(draws):
        truth = np.sort(rng.standard_normal(items))[::-1]
        noise = rng.standard_normal(items)
        for place, r in enumerate(pearsons):
            if np.isnan(r):
                continue
            scores = r * truth + np.sqrt(1 - r * r) * noise
            in_top[place, draw] = _spearman_of_sorted(scores[:top])
            overlap[place, draw] = rbo_normalised(best_first, scores, p=p)
    return RangeReference(in_top, overlap)


def _spearman_of_sorted(scores: Floats) -> float:
    """Spearman's correlation of scores with their own order, the best first, without ties."""
    places = np.empty(len(scores))
    places[np.argsort(-scores)] = np.arange(len(scores))
    away = places - np.arange(len(scores))
    count = len(scores)
    return float(1 - 6 * (away * away).sum() / (count * (count * count - 1)))


def _interval(samples: Floats) -> Interval:
    finite = samples[~np.isnan(samples)]
    if not len(finite):
        return Interval(*[float("nan")] * 3)
    low, high = np.quantile(finite, [0.025, 0.975])
    return Interval(float(finite.mean()), float(low), float(high))
