"""Locality, the similarity of neighbouring architectures, by random walks through a table (section 3.3, Figure 6)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nasbed.core.errors import InvalidOption
from nasbed.spaces import SearchSpace
from nasbed.spaces.base import Codes


@dataclass(frozen=True, slots=True)
class Autocorrelation:
    """The autocorrelation of a metric along random walks, and the part of the table that they could reach."""

    lags: NDArray[np.int64]
    correlations: NDArray[np.float64]
    standard_errors: NDArray[np.float64]  # from the spread between walks
    reachable: int  # architectures in the part of the table that was walked
    isolated: int  # architectures none of whose neighbours is in the table
    total: int

    @property
    def coverage(self) -> float:
        """The fraction of the table that was walked."""
        return self.reachable / self.total

    @property
    def noise_lag(self) -> int | None:
        """The first of three lags in a row at which the correlation is at most two standard errors above zero."""
        lost = self.correlations <= 2 * self.standard_errors
        runs = np.flatnonzero(lost[:-2] & lost[1:-1] & lost[2:])
        return int(self.lags[runs[0]]) if len(runs) else None


def neighbor_graph(space: SearchSpace, codes: Codes) -> Any:
    """The rows of a table that are one edit apart, as a symmetric ``scipy.sparse.csr_array`` of ones.

    ``codes`` are canonical and distinct. In NAS-Bench-101 two cells are neighbours if *some* encodings of them differ
    in one label or edge.

    >>> from nasbed import space
    >>> nb201 = space("nb201")
    >>> graph = neighbor_graph(nb201, nb201.codes(list(nb201.enumerate())))
    >>> graph.shape, graph.nnz // 15625
    ((15625, 15625), 24)
    """
    from scipy.sparse import csr_array

    pairs = space.neighbor_pairs(codes)
    sources = np.concatenate([np.empty(0, dtype=np.int64), *(source for source, _ in pairs)])
    targets = np.concatenate([np.empty(0, dtype=np.int64), *(target for _, target in pairs)])
    apart = sources != targets
    sources, targets = sources[apart], targets[apart]
    ends = np.concatenate([sources, targets]), np.concatenate([targets, sources])
    graph = csr_array((np.ones(len(ends[0]), dtype=np.int8), ends), shape=(len(codes), len(codes)))
    graph.sum_duplicates()
    graph.data[:] = 1
    return graph


def random_walk_autocorrelation(
    graph: Any, values: ArrayLike, rng: np.random.Generator, *, lags: int = 64, steps: int = 2000, walks: int = 500
) -> Autocorrelation:
    """The autocorrelation of ``values`` along random walks on a :func:`neighbor_graph` (RWA, section 3.3).

    A step leads to a neighbour that is in the table and has a value. Architectures without such a neighbour cannot be
    walked, and a walk never leaves the connected part that it starts in. Mixing parts would leave a correlation at
    every lag that only shows that parts differ. So all walks go through the largest part, and the result has its size.
    In a sample of a space that part is more ragged than the space: walks double back more often, and the correlation
    falls more slowly than in the whole space. :func:`space_walk_autocorrelation` corrects for that.

    The step between two architectures with ``d`` and ``e`` neighbours has weight ``1 / max(d, e)``. Where all have the
    same number of neighbours, every step is equally likely. Elsewhere, an architecture with thousands of neighbours is
    not visited thousands of times as often. NAS-Bench-101 has such cells, as many cells lose all but a short path with
    one edge. Many parallel walks, each started in the stationary distribution, estimate the same as a single long one,
    and their spread gives the error.

    Args:
        graph: The neighbours of each row, from :func:`neighbor_graph`.
        values: The metric of each row, NaN where it is missing.
        rng: Draws the starts and the steps.
        lags: The largest lag.
        steps: The length of a walk.
        walks: The number of walks.

    >>> from scipy.sparse import csr_array
    >>> ring = csr_array(np.roll(np.eye(4), 1, axis=1) + np.roll(np.eye(4), -1, axis=1))
    >>> result = random_walk_autocorrelation(ring, [1.0, 0.0, 1.0, 0.0], np.random.default_rng(0), lags=3)
    >>> result.correlations.round(2).tolist(), result.coverage
    ([1.0, -1.0, 1.0, -1.0], 1.0)
    """
    from scipy.sparse.csgraph import connected_components

    column = _check_walk(graph, values, lags=lags, steps=steps, walks=walks)
    present = np.flatnonzero(~np.isnan(column))
    graph = graph[present][:, present]
    isolated = int((np.diff(graph.indptr) == 0).sum())
    if not graph.nnz:
        raise InvalidOption(
            f"a walk needs two neighbours in the table, its {len(present)} architectures have none; measure some"
        )
    _, part = connected_components(graph, directed=False)
    inside = np.flatnonzero(part == np.argmax(np.bincount(part)))
    graph, column = graph[inside][:, inside], column[present[inside]]
    visited = _walk(graph, rng, steps=steps, walks=walks)
    correlations, errors = _autocorrelation(column, visited, lags=lags, sampled=1.0)
    return Autocorrelation(np.arange(lags + 1), correlations, errors, len(inside), isolated, len(present))


def space_walk_autocorrelation(
    graph: Any, values: ArrayLike, rng: np.random.Generator, *, lags: int = 64, steps: int = 2000, walks: int = 2000
) -> Autocorrelation:
    """:func:`random_walk_autocorrelation` of a whole space, estimated from a table that is a sample of it.

    Walks visit every architecture of the space; two visits ``lag`` steps apart count if both were measured. A walk that
    returns to a node has two measured visits more often than one that does not. So such pairs are weighted by the
    measured fraction of the space. If the table is a uniform sample, the result estimates the correlation of the full
    table. Its error is the spread between walks and does not include the choice of the sample, which at short lags can
    be the larger part: with a tenth of NAS-Bench-201, 0.04 at lag 1.

    Args:
        graph: The neighbours of every architecture of the space.
        values: The metric of each architecture, NaN where it was not measured.
        rng, lags, steps, walks: As for :func:`random_walk_autocorrelation`.

    >>> from scipy.sparse import csr_array
    >>> ring = csr_array(np.roll(np.eye(4), 1, axis=1) + np.roll(np.eye(4), -1, axis=1))
    >>> result = space_walk_autocorrelation(ring, [1.0, 0.0, np.nan, np.nan], np.random.default_rng(0), lags=3)
    >>> result.correlations.round(1).tolist(), result.reachable, result.total
    ([1.0, -1.0, 1.0, -1.0], 2, 2)
    """
    column = _check_walk(graph, values, lags=lags, steps=steps, walks=walks)
    measured = int((~np.isnan(column)).sum())
    if not graph.nnz or not measured:
        raise InvalidOption(f"a walk needs neighbours and values, got {graph.nnz} links and {measured} values")
    visited = _walk(graph, rng, steps=steps, walks=walks)
    isolated = int(((np.diff(graph.indptr) == 0) & ~np.isnan(column)).sum())
    correlations, errors = _autocorrelation(column, visited, lags=lags, sampled=measured / len(column))
    return Autocorrelation(np.arange(lags + 1), correlations, errors, measured - isolated, isolated, measured)


def _check_walk(graph: Any, values: ArrayLike, *, lags: int, steps: int, walks: int) -> NDArray[np.float64]:
    column = np.asarray(values, dtype=np.float64)
    if graph.shape != (len(column), len(column)):
        raise InvalidOption(f"one value for each of the {graph.shape[0]} architectures of a graph, got {len(column)}")
    if not 0 < lags < steps or walks < 2:
        raise InvalidOption(f"autocorrelation needs 0 < lags < steps and 2 walks, got {lags}, {steps}, {walks}")
    return column


def _walk(graph: Any, rng: np.random.Generator, *, steps: int, walks: int) -> NDArray[np.int64]:
    """The visited nodes, ``[steps, walks]``, of walks that start in their stationary distribution."""
    targets = graph.indices
    degrees = np.diff(graph.indptr)
    sources = np.repeat(np.arange(len(degrees)), degrees)
    edges = np.cumsum(1.0 / np.maximum(degrees[sources], degrees[targets]))
    nodes = np.concatenate([[0.0], edges])[graph.indptr]  # where the links of each node start and end
    visited = np.empty((steps, walks), dtype=np.int64)
    visited[0] = sources[_draw_links(edges, np.zeros(walks), edges[-1], rng)]
    for step in range(1, steps):
        current = visited[step - 1]
        link = _draw_links(edges, nodes[current], nodes[current + 1], rng)
        visited[step] = targets[np.clip(link, graph.indptr[current], graph.indptr[current + 1] - 1)]
    return visited


def _draw_links(
    edges: NDArray[np.float64],
    low: NDArray[np.float64],
    high: NDArray[np.float64] | np.float64,
    rng: np.random.Generator,
) -> NDArray[np.int64]:
    index: NDArray[np.int64] = np.searchsorted(edges, low + rng.random(len(low)) * (high - low), side="right")
    return np.minimum(index, len(edges) - 1)


def _autocorrelation(
    column: NDArray[np.float64], visited: NDArray[np.int64], *, lags: int, sampled: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The correlation at each lag over all pairs of measured visits, and its standard error.

    The error is that of a ratio of sums over walks. Pairs of visits to the same node have weight ``sampled``.
    """
    walked = column[visited]
    present = ~np.isnan(walked)
    correlations, errors = np.full(lags + 1, np.nan), np.full(lags + 1, np.nan)
    if not present.any():
        return correlations, errors
    centred = np.where(present, walked - walked[present].mean(), 0.0)
    variance = float((centred**2).sum() / present.sum())
    if variance == 0:
        return correlations, errors
    steps, walks = visited.shape
    for lag in range(lags + 1):
        later, earlier = slice(lag, steps), slice(0, steps - lag)
        if sampled == 1 and present.all():
            products = np.einsum("sw,sw->w", centred[later], centred[earlier])
            pairs = np.full(walks, float(steps - lag))
        else:
            step, walk = np.nonzero(present[later] & present[earlier])
            weights = np.where(visited[step + lag, walk] == visited[step, walk], sampled, 1.0)
            products = np.bincount(walk, weights * centred[step + lag, walk] * centred[step, walk], minlength=walks)
            pairs = np.bincount(walk, weights, minlength=walks)
        if pairs.sum() > 0:
            correlations[lag] = products.sum() / variance / pairs.sum()
            residuals = products / variance - correlations[lag] * pairs
            errors[lag] = np.sqrt((residuals**2).sum() * walks / (walks - 1)) / pairs.sum()
    return correlations, errors
