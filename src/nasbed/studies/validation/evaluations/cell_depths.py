"""The depth of cells: the number of edges on the longest path through one (Surrogate NAS Benchmarks, appendix C.5)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nasbed.core.errors import InvalidOption
from nasbed.spaces.base import Codes, SearchSpace
from nasbed.spaces.graph import Graphs

BETWEEN_CELLS = "link"
"""The label of edges that lead from one cell to the next."""
ONLY_CELL = "cell"
"""The name of the cell of a space that has one."""


def cell_depths(space: SearchSpace, codes: Codes) -> NDArray[np.int64]:
    """The number of edges on the longest path from an input to an output of each cell, 0 without a path.

    Of several cells, the deepest counts.
    """
    deepest: NDArray[np.int64] = graph_depths(space.graphs(codes)).max(axis=1)
    return deepest


def varied_depths(space: SearchSpace, codes: Codes) -> dict[str, NDArray[np.int64]]:
    """The depths of the cells that differ in depth, by name; none in a space without cells."""
    try:
        depths = depths_by_cell(space, codes)
    except InvalidOption:
        return {}
    return {cell: values for cell, values in depths.items() if np.ptp(values) > 0}


def depths_by_cell(space: SearchSpace, codes: Codes) -> dict[str, NDArray[np.int64]]:
    """The depths of each cell, by its name; one entry for the deepest where cells have no names."""
    depths = graph_depths(space.graphs(codes))
    names = cell_names(space)
    if len(names) != depths.shape[1]:
        return {ONLY_CELL: depths.max(axis=1)}
    return {name: depths[:, place] for place, name in enumerate(names)}


def cell_names(space: SearchSpace) -> tuple[str, ...]:
    """The names of the cells with architectures of their own, such as normal and reduce."""
    kinds = () if space.cell_graph is None else space.cell_graph.kinds
    return kinds if len(kinds) > 1 else (ONLY_CELL,)


def graph_depths(graphs: Graphs) -> NDArray[np.int64]:
    """The depths of graphs at each of their outputs, ``[n, outputs]``; 0 for an output that a graph does not have.

    Edges between cells, and back to earlier nodes, do not count.
    """
    if not {"input", "output"} <= set(graphs.node_names):
        raise InvalidOption(f"depth needs an input and an output, the nodes are {', '.join(graphs.node_names)}")
    edges = graphs.adjacency
    if BETWEEN_CELLS in graphs.edge_names:
        edges = edges & (graphs.edge_labels != graphs.edge_names.index(BETWEEN_CELLS))
    unreached = -(graphs.node_labels.shape[1] + 1)
    longest = np.where(graphs.node_labels == graphs.node_names.index("input"), 0, unreached)
    for node in range(1, longest.shape[1]):
        steps = np.where(edges[:, :node, node], longest[:, :node] + 1, unreached)
        longest[:, node] = np.maximum(longest[:, node], steps.max(axis=1))
    is_output = graphs.node_labels == graphs.node_names.index("output")
    order = np.argsort(~is_output, axis=1, kind="stable")[:, : max(int(is_output.sum(axis=1).max(initial=1)), 1)]
    ends = np.take_along_axis(np.where(is_output, longest, unreached), order, axis=1)
    depths: NDArray[np.int64] = np.maximum(ends, 0).astype(np.int64)
    return depths
