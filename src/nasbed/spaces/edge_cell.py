"""Cells of four nodes with an operation on every edge, operation 0 being none: what NAS-Bench-201 and
TransNAS-Bench-101 share."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nasbed.core.architecture import Architecture
from nasbed.spaces.base import Batch, Codes
from nasbed.spaces.choice import ChoiceSpace
from nasbed.spaces.encodings import path_offsets
from nasbed.spaces.facts import NONE
from nasbed.spaces.graph import ABSENT, Diagram, Graphs, Node, used_part

EDGES = ((0, 1), (0, 2), (1, 2), (0, 3), (1, 3), (2, 3))
"""(source, target) of each position of the code, in the order of the published architecture strings."""

_SOURCES, _TARGETS = np.array(EDGES).T

PATHS = ((3,), (0, 4), (1, 5), (0, 2, 5))
"""The ways from input to output, as positions of the code."""

_NODES = (Node("0", "input", "input"), Node("1", "1", "sum"), Node("2", "2", "sum"), Node("3", "output", "output"))


def edge_path_encoding(codes: Codes, operations: int) -> NDArray[np.float32]:
    """One bit for each sequence of the operations 1 … ``operations`` along a path; a path over an edge with none does
    not exist."""
    offsets = path_offsets(operations, 3) - 1  # no path has length 0
    features = np.zeros((len(codes), int(offsets[-1])), dtype=np.float32)
    for path in PATHS:
        steps = codes[:, list(path)]
        exists = (steps > 0).all(axis=1)
        sequence = (steps - 1) @ operations ** np.arange(len(path))[::-1]
        features[np.flatnonzero(exists), offsets[len(path)] + sequence[exists]] = 1
    return features


def edge_cell_graphs(codes: Codes, operations: tuple[str, ...]) -> Graphs:
    """The cells as graphs; the operation none is not an edge."""
    nodes = np.tile(np.array([0, 1, 1, 2], dtype=np.int8), (len(codes), 1))
    labels = np.full((len(codes), 4, 4), ABSENT, dtype=np.int8)
    labels[:, _SOURCES, _TARGETS] = codes - 1
    return Graphs(nodes, labels, ("input", "sum", "output"), operations[1:])


class EdgeCellSpace(ChoiceSpace):
    """A space of such cells: a choice an edge."""

    cell_title: str
    choice_names = tuple(f"{target}<-{source}" for source, target in EDGES)

    def choice_title(self, position: int) -> str:
        source, target = EDGES[position]
        return f"edge {_NODES[source].label} → {_NODES[target].label}"

    def graphs(self, archs: Batch) -> Graphs:
        return edge_cell_graphs(self.codes(archs), self.choices[0])

    def diagrams(self, arch: Architecture) -> tuple[Diagram, ...]:
        """The cell with its operations as boxes between the nodes; edges with none are left out."""
        return tuple(map(used_part, self.edit_diagrams(arch)))

    def edit_diagrams(self, arch: Architecture) -> tuple[Diagram, ...]:
        """The cell with a box on every edge, that with none too."""
        nodes, links = list(_NODES), []
        for (source, target), option, choice in zip(EDGES, self.to_options(arch), self.choice_names, strict=True):
            box = f"{source}-{target}"
            nodes.append(Node(box, option, choice=choice, used=option != NONE))
            links += [(str(source), box), (box, str(target))]
        return (Diagram(self.cell_title, tuple(nodes), tuple(links)),)
