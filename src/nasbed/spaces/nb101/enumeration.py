"""All 423 624 unique cells, without looking at the 510 million encodings.

Isomorphic cells have isomorphic bare graphs. So for each number of vertices: keep the edge sets that are the smallest
of their class, find each one's automorphisms, and keep the labellings that no automorphism makes smaller. What is left
is exactly one cell a class, and it is the published representative.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nasbed.spaces.nb101.canonical import interior_orders, kept_batch, relabelled
from nasbed.spaces.nb101.cell import FIRST_BIT, LAST, MAX_EDGES, MAX_VERTICES, OPERATIONS

COUNTS = {2: 1, 3: 6, 4: 84, 5: 2_441, 6: 62_010, 7: 359_082}
"""Unique cells by number of vertices, as published; the enumeration is tested against it."""


def unique_codes(vertices: int | None = None) -> NDArray[np.int64]:
    """The codes of all unique cells, or of those with exactly ``vertices`` vertices, in the published order."""
    if vertices is None:
        return np.concatenate([unique_codes(count) for count in COUNTS])
    interior = vertices - 2
    orders = interior_orders(vertices)
    graphs = _full_graphs(vertices)
    moved = np.stack([relabelled(graphs, order) for order in orders])
    smallest = moved.min(axis=0) == graphs
    graphs, moved = graphs[smallest], moved[:, smallest]

    kinds = len(OPERATIONS)
    labellings = np.indices((kinds,) * interior).reshape(interior, kinds**interior).T
    own_rank = np.arange(len(labellings))
    ranks = np.stack(
        [labellings @ kinds ** (interior - np.array(order[1:-1], dtype=np.int64)) for order in orders]
    ).reshape(len(orders), len(labellings))

    automorphic, groups = np.unique((moved == graphs).T, axis=0, return_inverse=True)
    labellings_by_group = [np.flatnonzero((ranks[group] >= own_rank).all(axis=0)) for group in automorphic]
    codes = []
    for graph, group in zip(_padded_edges(graphs, vertices), groups.ravel(), strict=True):
        smallest_labellings = labellings_by_group[group]
        block = np.zeros((len(smallest_labellings), MAX_VERTICES - 1), dtype=np.int64)
        block[:, 0] = graph
        block[:, 1 : 1 + interior] = labellings[smallest_labellings]
        codes.append(block)
    return np.concatenate(codes)


def _full_graphs(vertices: int) -> NDArray[np.int64]:
    """The edge sets over ``vertices`` vertices that pruning does not change, with at most nine edges, rising."""
    edges = np.arange(1 << FIRST_BIT[vertices], dtype=np.int64)
    edges = edges[np.bitwise_count(edges) <= MAX_EDGES]
    all_vertices = (1 << (vertices - 1)) - 1 | 1 << LAST
    full: NDArray[np.int64] = edges[kept_batch(_padded_edges(edges, vertices)) == all_vertices]
    return full


def _padded_edges(edges: NDArray[np.int64], vertices: int) -> NDArray[np.int64]:
    """Edge sets over ``vertices`` vertices as seven-vertex ones, the output moved to vertex 6."""
    output_bit = FIRST_BIT[vertices - 1]
    padded: NDArray[np.int64] = edges & ((1 << output_bit) - 1) | edges >> output_bit << FIRST_BIT[LAST]
    return padded
