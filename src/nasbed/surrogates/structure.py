"""Features of a cell's graph: which operation leads to which, on how many paths, and how long they are.

Dead ends are left out, and operations that pass their input on unchanged are contracted. So cells that compute the same
function mostly have the same features.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nasbed.core.errors import InvalidOption
from nasbed.spaces.base import SearchSpace
from nasbed.surrogates.structure_kernel import describe_quickly, width

PASSES = frozenset({"skip_connect", "skip", "concat", "link", "edge", "sum", "intermediate"})
"""Labels of nodes and edges that change nothing."""

MOST_OPERATIONS = 12


def structure(space: SearchSpace, codes: NDArray[np.int64]) -> NDArray[np.float32]:
    """Columns about the graph of each architecture; the order of its nodes does not matter.

    The source and the sink count as operations. The columns are, in this order:

    - for every two operations, the number of walks of 1, 2 and 3 steps;
    - the longest and the shortest path, counted in all operations and in each;
    - for each operation, the sum and the maximum of: ways in, ways out, paths from the source, to the sink, through it;
    - how often each operation occurs;
    - the logarithm of the number of paths.

    Edges from a later node slot to an earlier one, which close a cycle, do not count. A space without such graphs, or
    with more than ``MOST_OPERATIONS`` operations, has no columns.
    """
    try:
        graphs = space.graphs(codes)
    except InvalidOption:  # a space of numbers has no graphs
        return np.empty((len(codes), 0), dtype=np.float32)
    names = _names(graphs.node_names, graphs.edge_names)
    if names is None:
        return np.empty((len(codes), 0), dtype=np.float32)
    features = np.zeros((len(graphs), width(names.labels)), dtype=np.float32)
    describe_quickly(
        np.ascontiguousarray(graphs.node_labels),
        np.ascontiguousarray(graphs.edge_labels),
        names.node_kinds,
        names.edge_kinds,
        names.input,
        names.output,
        names.labels,
        names.on_edges,
        features,
    )
    return features


class _Names(NamedTuple):
    """The labels of a space's graphs as the compiled part knows them."""

    node_kinds: NDArray[np.int64]
    edge_kinds: NDArray[np.int64]
    input: int
    output: int
    labels: int
    on_edges: bool


@lru_cache
def _names(node_names: tuple[str, ...], edge_names: tuple[str, ...]) -> _Names | None:
    on_edges = len(edge_names) > 1
    names = edge_names if on_edges else node_names
    operations = [name for name in names if name not in PASSES and name not in ("input", "output")]
    if len(operations) > MOST_OPERATIONS or not {"input", "output"} <= set(node_names):
        return None
    kinds = np.array([operations.index(name) + 2 if name in operations else -1 for name in names], dtype=np.int64)
    none = np.full(1, -1, dtype=np.int64)
    return _Names(
        none if on_edges else kinds,
        kinds if on_edges else none,
        node_names.index("input"),
        node_names.index("output"),
        len(operations) + 2,
        on_edges,
    )
