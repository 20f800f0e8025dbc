"""The rank correlation of predictions by the depth of cells (appendix E.7)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nasbed.core.errors import InvalidOption
from nasbed.spaces.base import Codes, SearchSpace
from nasbed.spaces.graph import Graphs
from nasbed.studies.validation.data import ValidationData
from nasbed.studies.validation.scoring import score
from nasbed.surrogates.base import Floats

FEWEST = 10
"""The least number of evaluations of one depth for a correlation."""
BETWEEN_CELLS = "link"
"""The label of edges that lead from one cell to the next."""


@dataclass(frozen=True, slots=True)
class Topology:
    """Sparse Kendall within each depth, by model; NaN where there are too few evaluations."""

    depths: tuple[int, ...]
    counts: tuple[int, ...]
    sparse_kendall: dict[str, tuple[float, ...]]


def topology(data: ValidationData, codes: Codes, truth: Floats, predicted: Mapping[str, Floats]) -> Topology:
    """Group evaluations by cell depth; raises where all have the same, or the space has no graphs."""
    depth = cell_depths(data.space, codes)
    depths, counts = np.unique(depth, return_counts=True)
    if len(depths) < 2:
        raise InvalidOption(f"the architectures of {data.name} all have the depth {depths[0] if len(depths) else '-'}")
    correlations = {}
    for label, mean in predicted.items():
        groups = [(truth[depth == level], mean[depth == level]) for level in depths]
        correlations[label] = tuple(
            score(values, predictions, data.metric).sparse_kendall if len(values) >= FEWEST else float("nan")
            for values, predictions in groups
        )
    return Topology(tuple(depths.tolist()), tuple(counts.tolist()), correlations)


def cell_depths(space: SearchSpace, codes: Codes) -> NDArray[np.int64]:
    """The number of edges on the longest path from an input to an output of each cell, 0 without a path.

    Of several cells, the deepest counts.
    """
    return graph_depths(space.graphs(codes))


def graph_depths(graphs: Graphs) -> NDArray[np.int64]:
    """:func:`cell_depths` of graphs. Edges between cells, and back to earlier nodes, do not count."""
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
    ends = np.where(graphs.node_labels == graphs.node_names.index("output"), longest, unreached)
    depths: NDArray[np.int64] = np.maximum(ends.max(axis=1), 0).astype(np.int64)
    return depths
