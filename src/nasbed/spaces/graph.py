"""Architectures as labelled graphs: arrays for a graph network, and a small diagram for a person."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Literal

import numpy as np
from numpy.typing import NDArray

ABSENT = -1


@dataclass(frozen=True, slots=True)
class Graphs:
    """A batch of ``n`` directed graphs over the same ``N`` node slots, densely stored.

    A label is an index into ``node_names`` or ``edge_names``; ``-1`` says that the node or edge is not there.
    """

    node_labels: NDArray[np.int8]  # [n, N]
    edge_labels: NDArray[np.int8]  # [n, N, N], from row to column
    node_names: tuple[str, ...]
    edge_names: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.node_labels)

    @property
    def adjacency(self) -> NDArray[np.bool_]:
        """Where there is an edge, ``[n, N, N]``."""
        present: NDArray[np.bool_] = self.edge_labels != ABSENT
        return present

    def edge_list(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The batch as one sparse graph: ``edge_index [2, E]`` over nodes numbered ``graph * N + node``, and the label
        of each edge."""
        graph, source, target = np.nonzero(self.adjacency)
        width = self.node_labels.shape[1]
        return np.stack([graph * width + source, graph * width + target]), self.edge_labels[
            graph, source, target
        ].astype(np.int64)


@dataclass(frozen=True, slots=True)
class Node:
    """A node of a diagram. ``at`` fixes its (column, row); without it the layout decides.

    ``choice`` names the choice of the space that the node shows, in a diagram to be edited. A node that is not
    ``used`` has no effect on what the network computes: it is there to be edited.
    """

    id: str
    label: str
    kind: Literal["input", "output", "operation", "sum"] = "operation"
    at: tuple[float, float] | None = None
    choice: str = ""
    used: bool = True


@dataclass(frozen=True, slots=True)
class Diagram:
    """A picture to be drawn: nodes and the edges between their ids. Operations of the same label share a colour.

    In a diagram to be edited, ``edge_choices`` names the choice that an edge shows: that of one of the ``edges``, or of
    one that an edit can add.
    """

    title: str
    nodes: tuple[Node, ...]
    edges: tuple[tuple[str, str], ...]
    edge_choices: tuple[tuple[tuple[str, str], str], ...] = ()


def used_part(diagram: Diagram) -> Diagram:
    """A diagram to be edited as a plain one: without the nodes that have no effect, and without choices."""
    nodes = tuple(replace(node, choice="") for node in diagram.nodes if node.used)
    ids = {node.id for node in nodes}
    return Diagram(diagram.title, nodes, tuple(edge for edge in diagram.edges if ids.issuperset(edge)))


def chain_links(nodes: Sequence[Node]) -> tuple[tuple[str, str], ...]:
    """Edges from each node to the next.

    >>> chain_links([Node("in", "input"), Node("1", "conv"), Node("out", "output")])
    (('in', '1'), ('1', 'out'))
    """
    return tuple((source.id, target.id) for source, target in pairwise(nodes))


def chain_graphs(codes: NDArray[np.int64], names: Sequence[str]) -> Graphs:
    """Chains of the input, a node for each position of the codes, and the output. Codes index the names."""
    length, kinds = codes.shape[1], len(names)
    nodes = np.empty((len(codes), length + 2), dtype=np.int8)
    nodes[:, 0], nodes[:, 1:-1], nodes[:, -1] = kinds, codes, kinds + 1
    edges = np.full((len(codes), length + 2, length + 2), ABSENT, dtype=np.int8)
    edges[:, np.arange(length + 1), np.arange(1, length + 2)] = 0
    return Graphs(nodes, edges, node_names=(*names, "input", "output"), edge_names=("edge",))
