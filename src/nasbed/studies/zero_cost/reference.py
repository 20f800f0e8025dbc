"""What the top of a ranking shows of a proxy whose errors are the same everywhere.

Among the best few percent the true values hardly differ, so any error weighs more there and every correlation falls:
restriction of range. Here truth and scores are made as two normal variables with the correlation that a proxy has over
all architectures (a Gaussian copula), and measured in the same way. What a proxy shows below that is its own failing.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nasbed.core.errors import InvalidOption
from nasbed.evaluation.ranking import rbo_normalised
from nasbed.evaluation.significance import Interval

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class RangeReference:
    """What rankings with given correlations over all items show, on each draw: ``[correlations, draws]``."""

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
    found: Floats = 2 * np.sin(np.pi * np.asarray(spearman, dtype=np.float64) / 6)
    return np.clip(found, -1.0, 1.0)


def range_reference(
    correlations: ArrayLike, items: int, top: int, p: float, rng: np.random.Generator, *, draws: int = 200
) -> RangeReference:
    """For each Spearman correlation over so many items, the correlation within the truly best ``top`` and the overlap.

    >>> found = range_reference([1.0, -1.0], 100, 10, 0.9, np.random.default_rng(0), draws=5)
    >>> found.in_top(0).estimate, found.in_top(1).estimate, found.overlap(0).estimate
    (1.0, -1.0, 1.0)
    """
    if not 2 <= top <= items or draws < 1:
        raise InvalidOption(f"a reference takes a top of 2 to {items} items and 1 draw or more, got {top} and {draws}")
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
    """Spearman's correlation of scores with their own order, the best first, none of them equal."""
    places = np.empty(len(scores))
    places[np.argsort(-scores)] = np.arange(len(scores))
    away = places - np.arange(len(scores))
    count = len(scores)
    return float(1 - 6 * (away * away).sum() / (count * (count * count - 1)))


def _interval(drawn: Floats) -> Interval:
    known = drawn[~np.isnan(drawn)]
    if not len(known):
        return Interval(*[float("nan")] * 3)
    low, high = np.quantile(known, [0.025, 0.975])
    return Interval(float(known.mean()), float(low), float(high))
