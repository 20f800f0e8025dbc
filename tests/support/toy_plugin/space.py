"""The space: a cell of three nodes with one of four operations on each of its three edges."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nasbed.core.architecture import Architecture
from nasbed.core.errors import ParseError, shorten
from nasbed.spaces.base import Batch
from nasbed.spaces.choice import ChoiceSpace
from nasbed.spaces.facts import NamedPart, Operations
from nasbed.spaces.graph import ABSENT, Diagram, Graphs, Node

OPERATIONS = ("none", "skip_connect", "avg_pool_3x3", "conv_3x3")
EDGES = ((0, 1), (0, 2), (1, 2))


@dataclass(frozen=True, slots=True)
class ToySkeleton:
    """A 3x3 stem, equal cells, a classifier."""

    channels: int = 16
    cells: int = 2
    image_channels: int = 3
    classes: int = 10


def carries_something(arch: Architecture) -> bool:
    """Whether no edge is empty."""
    return 0 not in arch.code


PARTS = {"full": NamedPart(":full", carries_something)}


class Toy(ChoiceSpace):
    """``code[i]`` is the operation on ``EDGES[i]``. The native form is the list of the operations' names."""

    name = "toy"
    title = "Three nodes, four operations on three edges"
    citation = "none"
    choice_names = tuple(f"{target}<-{source}" for source, target in EDGES)
    choices = (OPERATIONS,) * len(EDGES)
    skeleton = ToySkeleton
    operations = Operations(tuple(range(len(EDGES))), OPERATIONS, ("skip_connect", "avg_pool_3x3"))
    parts = PARTS

    def format(self, arch: Architecture) -> str:
        return "/".join(self.to_options(arch))

    def parse(self, text: str) -> Architecture:
        if not isinstance(text, str):
            raise ParseError(f"a toy cell reads op/op/op, got {shorten(text)}")
        return self.from_options(text.split("/"))

    def to_native(self, arch: Architecture) -> list[str]:
        return list(self.to_options(arch))

    def from_native(self, obj: Any) -> Architecture:
        if not isinstance(obj, list):
            raise ParseError(f"a toy cell is a list of operations, got {shorten(obj)}")
        return self.from_options(obj)

    def properties(self, archs: Batch) -> dict[str, NDArray[Any]]:
        return {"parameters": self.costs(archs)[:, 0]}

    def costs(self, archs: Batch, skeleton: ToySkeleton | None = None) -> NDArray[np.int64]:
        size = skeleton or ToySkeleton()
        convolutions = (self.codes(archs) == OPERATIONS.index("conv_3x3")).sum(axis=1)
        stem = 9 * size.image_channels * size.channels + 2 * size.channels
        cells = size.cells * convolutions * (9 * size.channels**2 + 2 * size.channels)
        total: NDArray[np.int64] = stem + cells + size.channels * size.classes + size.classes
        return total[:, None]

    def graphs(self, archs: Batch) -> Graphs:
        codes = self.codes(archs)
        labels = np.full((len(codes), 3, 3), ABSENT, dtype=np.int8)
        sources, targets = np.array(EDGES).T
        labels[:, sources, targets] = codes - 1
        nodes = np.tile(np.array([0, 1, 2], dtype=np.int8), (len(codes), 1))
        return Graphs(nodes, labels, ("input", "sum", "output"), OPERATIONS[1:])

    def diagrams(self, arch: Architecture) -> tuple[Diagram, ...]:
        nodes = [Node("0", "input", "input"), Node("1", "1", "sum"), Node("2", "output", "output")]
        links: list[tuple[str, str]] = []
        for (source, target), option in zip(EDGES, self.to_options(arch), strict=True):
            nodes.append(Node(f"{source}-{target}", option))
            links += [(str(source), f"{source}-{target}"), (f"{source}-{target}", str(target))]
        return (Diagram("Toy cell", tuple(nodes), tuple(links)),)
