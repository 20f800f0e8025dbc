"""How measured quantities relate: fidelities, cost and quality (section 3.1, Figure 3)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nasbed.core.errors import InvalidOption
from nasbed.core.metric import Direction


@dataclass(frozen=True, slots=True)
class BinnedMean:
    """A plane cut into rectangles: how many points fall into each, and the mean of a third quantity there."""

    x_edges: NDArray[np.float64]
    y_edges: NDArray[np.float64]
    counts: NDArray[np.int64]  # [x, y]
    means: NDArray[np.float64]  # [x, y], NaN where empty


def pearson(x: ArrayLike, y: ArrayLike) -> float:
    """Pearson's correlation over the pairs of which neither is missing; NaN if one of the two does not vary.

    >>> pearson([1.0, 2.0, 3.0, float("nan")], [2.0, 4.0, 6.0, 0.0])
    1.0
    """
    pairs = _complete(x, y)
    if pairs.shape[1] < 2 or (pairs == pairs[:, :1]).all(axis=1).any():
        return float("nan")
    scale = np.abs(pairs).max(axis=1, keepdims=True)
    centred = pairs / np.where(scale > 0, scale, 1.0)
    centred = centred - centred.mean(axis=1, keepdims=True)
    norms = np.sqrt((centred**2).sum(axis=1))
    return float(np.clip((centred[0] @ centred[1]) / (norms[0] * norms[1]), -1.0, 1.0))


def spearman(x: ArrayLike, y: ArrayLike) -> float:
    """Spearman's rank correlation over the pairs of which neither is missing; tied values share their mean rank.

    >>> round(spearman([1.0, 2.0, 3.0, 4.0], [1.0, 8.0, 27.0, 20.0]), 6)
    0.8
    """
    from scipy.stats import rankdata

    pairs = _complete(x, y)
    return pearson(rankdata(pairs[0]), rankdata(pairs[1]))


def rank_correlations(columns: ArrayLike) -> NDArray[np.float64]:
    """Spearman's correlation between every two columns of ``columns [n, k]``, such as one metric at ``k`` fidelities.

    >>> rank_correlations([[1.0, 10.0], [2.0, 30.0], [3.0, 20.0]]).round(6).tolist()
    [[1.0, 0.5], [0.5, 1.0]]
    """
    table = np.asarray(columns, dtype=np.float64)
    if table.ndim != 2:
        raise InvalidOption(f"rank correlations need an array [architectures, columns], got shape {table.shape}")
    width = table.shape[1]
    correlations = np.full((width, width), np.nan)
    for i in range(width):
        for j in range(i, width):
            correlations[i, j] = correlations[j, i] = spearman(table[:, i], table[:, j])
    return correlations


def binned_mean(x: ArrayLike, y: ArrayLike, *, values: ArrayLike, bins: tuple[int, int] = (48, 36)) -> BinnedMean:
    """Count points of a plane by rectangle and average ``values`` in each, so that any table gives a small drawing.

    >>> result = binned_mean([0.0, 0.1, 1.0], [0.0, 0.0, 1.0], values=[1.0, 3.0, 5.0], bins=(2, 2))
    >>> result.counts.tolist(), result.means.tolist()
    ([[2, 0], [0, 1]], [[2.0, nan], [nan, 5.0]])
    """
    triples = _complete(x, y, values)
    counts, x_edges, y_edges = np.histogram2d(triples[0], triples[1], bins=bins)
    sums, _, _ = np.histogram2d(triples[0], triples[1], bins=(x_edges, y_edges), weights=triples[2])
    with np.errstate(invalid="ignore", divide="ignore"):
        return BinnedMean(x_edges, y_edges, counts.astype(np.int64), sums / counts)


def pareto_front(cost: ArrayLike, metric: ArrayLike, *, direction: Direction) -> NDArray[np.int64]:
    """The rows that no other row dominates: none has at most the cost and a better metric, or less cost and as good a
    one.

    Cheapest first. Of equal rows the first one stands for all.

    >>> pareto_front([3.0, 1.0, 2.0, 4.0], [0.9, 0.7, 0.6, 0.9], direction="maximize").tolist()
    [1, 0]
    """
    costs, values = np.asarray(cost, dtype=np.float64), np.asarray(metric, dtype=np.float64)
    losses = -values if direction == "maximize" else values
    present = np.flatnonzero(~np.isnan(costs) & ~np.isnan(losses))
    order = present[np.lexsort((losses[present], costs[present]))]
    best_before = np.minimum.accumulate(np.r_[np.inf, losses[order]])[:-1]
    front: NDArray[np.int64] = order[losses[order] < best_before]
    return front


def _complete(*columns: ArrayLike) -> NDArray[np.float64]:
    """Columns of equal length as rows of one array, places left out at which one of them is missing."""
    arrays = [np.asarray(column, dtype=np.float64) for column in columns]
    if len({array.shape for array in arrays}) != 1 or arrays[0].ndim != 1:
        raise InvalidOption(
            f"columns that are compared have one length, got {', '.join(str(array.shape) for array in arrays)}"
        )
    table = np.stack(arrays)
    return table[:, ~np.isnan(table).any(axis=0)]
