"""Depth and width of NAS-Bench-101 cells (section 3.2), over a batch of seven-vertex edge sets."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nasbed.spaces.nb101.canonical import kept_batch
from nasbed.spaces.nb101.cell import FIRST_BIT, LAST, MAX_VERTICES


def pruned_sources(edges: NDArray[np.int64]) -> NDArray[np.int64]:
    """The predecessors of each vertex after pruning, as bit sets ``[7, n]``; the vertices keep their numbers."""
    remaining = kept_batch(edges)
    sources = np.zeros((MAX_VERTICES, len(edges)), dtype=np.int64)
    for vertex in range(1, MAX_VERTICES):
        sources[vertex] = (edges >> FIRST_BIT[vertex] & ((1 << vertex) - 1)) & remaining * (remaining >> vertex & 1)
    return sources


def edge_counts(edges: NDArray[np.int64]) -> NDArray[np.int64]:
    """The number of edges after pruning."""
    counts: NDArray[np.int64] = np.bitwise_count(pruned_sources(edges)).sum(axis=0, dtype=np.int64)
    return counts


def depths(edges: NDArray[np.int64]) -> NDArray[np.int64]:
    """The number of edges on the longest path from input to output."""
    sources = pruned_sources(edges)
    longest = np.zeros_like(sources)
    for target in range(1, MAX_VERTICES):
        for source in range(target):
            longest[target] = np.maximum(longest[target], (longest[source] + 1) * (sources[target] >> source & 1))
    to_output: NDArray[np.int64] = longest[LAST]
    return to_output


def widths(edges: NDArray[np.int64]) -> NDArray[np.int64]:
    """The largest directed cut: the most edges that lead out of a set of vertices that holds the input, not the
    output, and
    all that feeds the set.

    Exactly the chains have width 1, as the paper says. By this definition 90 cells of the space have width 6, where
    the paper calls 5 the largest.
    """
    sources = pruned_sources(edges)
    widest = np.zeros_like(edges)
    for subset in range(1, 1 << LAST, 2):
        closed = np.ones(len(edges), dtype=bool)
        cut = np.zeros_like(edges)
        for vertex in range(1, MAX_VERTICES):
            if subset >> vertex & 1:
                closed &= (sources[vertex] & ~subset) == 0
            else:
                cut += np.bitwise_count(sources[vertex] & subset)
        widest = np.maximum(widest, cut * closed)
    return widest
