"""The spaces of Bonsai-Net, one for each frame, as sets of plain values."""

from __future__ import annotations

import json
from functools import cache
from itertools import permutations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nasbed.core.architecture import Architecture
from nasbed.core.errors import InvalidArchitecture, ParseError, shorten
from nasbed.spaces.base import Batch, Codes
from nasbed.spaces.bonsai.cell_text import diagrams
from nasbed.spaces.bonsai.costs import BonsaiSkeleton, network_costs
from nasbed.spaces.bonsai.frame import ENTRANCES, OPERATIONS, Frame
from nasbed.spaces.bonsai.genotype import BonsaiGenotype
from nasbed.spaces.bonsai.paths import useful
from nasbed.spaces.bonsai.sampling import random_flags
from nasbed.spaces.choice import ChoiceSpace
from nasbed.spaces.edits import Pairs, listed_pairs
from nasbed.spaces.graph import Diagram, Graphs

TARGET = 0.3
"""The largest size of a sampled architecture, as a share of all: the usual target of Bonsai-Net."""
_NODE_NAMES = ("input", "sum", "output", *OPERATIONS)


class Bonsai(ChoiceSpace):
    """Networks of cells that each keep any inputs, and any of seven operations on every edge.

    ``code[i]`` is 1 if flag ``i`` of the :class:`Frame` is kept, else 0. Any flags are an architecture. What lies on no
    path from the image to the output changes nothing, and :meth:`canonical` leaves it out; if no path is left the
    network knows its classifier's bias alone. The native form is a :class:`BonsaiGenotype`, the text its JSON.
    """

    citation = "Geada, Prangle & McGough, Bonsai-Net: One-Shot NAS via Differentiable Pruners, 2020, arXiv:2006.09264"
    skeleton = BonsaiSkeleton

    def __init__(self, frame: Frame | None = None) -> None:
        self.frame = frame or Frame()
        cells, nodes = self.frame.cells, self.frame.nodes
        self.name = self.frame.space_name
        plural = "s" if nodes > 1 else ""
        self.title = f"Bonsai-Net: cells {cells} of {nodes} node{plural}, any of seven operations an edge"
        self.choice_names = tuple(_flag_names(self.frame))
        self.choices = (("off", "on"),) * self.frame.count

    def sample(self, rng: np.random.Generator) -> Architecture:
        """A random architecture of at most the size ``TARGET``, without anything that leads nowhere."""
        return self.random(rng, target=TARGET)

    def random(self, rng: np.random.Generator, *, target: float) -> Architecture:
        """A random architecture of at most the size ``target``, see :func:`random_flags`."""
        return Architecture(self.name, tuple(map(int, random_flags(self.frame, rng, target=target))))

    def canonical(self, arch: Architecture) -> Architecture:
        """The architecture without what lies on no path. The inner nodes of each cell are in the order that gives the
        smallest code."""
        frame = self.frame if arch.space == self.name else Frame.of_space(arch.space)
        flags = useful(frame, [bool(flag) for flag in arch.code])
        if frame.nodes > 2:
            for cell in range(len(frame.cells)):
                _reorder(flags, frame, cell)
        return Architecture(frame.space_name, tuple(map(int, flags)))

    def neighbor_pairs(self, codes: Codes) -> Pairs:
        """One flag may take others with it, which then lie on no path: so neighbours are listed."""
        return listed_pairs(self, codes)

    @property
    def encoding_sizes(self) -> tuple[int, ...]:
        """None, as one edit may change several flags."""
        return ()

    # --- text and foreign forms --------------------------------------------------------------------------------------

    def format(self, arch: Architecture) -> str:
        return BonsaiGenotype.of(arch).to_json()

    def parse(self, text: str) -> Architecture:
        if not isinstance(text, str):
            raise ParseError(f"a {self.name} architecture is read from text, got {shorten(text)}")
        return self.from_native(BonsaiGenotype.from_json(text))

    def to_native(self, arch: Architecture) -> BonsaiGenotype:
        return BonsaiGenotype.of(arch)

    def from_native(self, obj: Any) -> Architecture:
        """From a genotype, or from what :meth:`BonsaiGenotype.plain` gives."""
        genotype = obj if isinstance(obj, BonsaiGenotype) else self._read(obj)
        if genotype.frame != self.frame:
            raise InvalidArchitecture(
                f"this architecture belongs to the space {shorten(genotype.frame.space_name)}, not {self.name!r}; ask "
                "that space"
            )
        return genotype.architecture

    def _read(self, obj: Any) -> BonsaiGenotype:
        try:
            text = json.dumps(obj)
        except (TypeError, ValueError, RecursionError):
            raise ParseError(f"a {self.name} architecture is a BonsaiGenotype, got {shorten(obj)}") from None
        return BonsaiGenotype.from_json(text)

    # --- costs, features and pictures --------------------------------------------------------------------------------

    def parameters(self, archs: Batch, skeleton: BonsaiSkeleton | None = None) -> NDArray[np.int64]:
        """Trainable parameters."""
        return self.costs(archs, skeleton)[:, 0]

    def multiply_adds(self, archs: Batch, skeleton: BonsaiSkeleton | None = None) -> NDArray[np.int64]:
        """Multiply-adds of one forward pass: convolutions and the classifier."""
        return self.costs(archs, skeleton)[:, 1]

    def costs(self, archs: Batch, skeleton: BonsaiSkeleton | None = None) -> NDArray[np.int64]:
        costs = [network_costs(genotype, skeleton or BonsaiSkeleton()) for genotype in self._pruned(archs)]
        return np.array(costs, dtype=np.int64).reshape(len(costs), 2)

    def _pruned(self, archs: Batch) -> list[BonsaiGenotype]:
        return [BonsaiGenotype.of(arch).pruned() for arch in self.architectures(self.codes(archs))]

    def properties(self, archs: Batch) -> dict[str, NDArray[Any]]:
        """Parameters and multiply-adds of the usual skeleton, operations, and their size as a share of all."""
        genotypes, costs = self._pruned(archs), self.costs(archs)
        return {
            "parameters": costs[:, 0],
            "multiply_adds": costs[:, 1],
            "operations": np.array([genotype.kept for genotype in genotypes], dtype=np.int64),
            "size": np.array([genotype.size for genotype in genotypes], dtype=np.float64),
        }

    def graphs(self, archs: Batch) -> Graphs:
        """A node for the stem, each second entrance and each node of a cell, and one for every operation that is
        kept, between the two that it joins."""
        codes, frame = self.codes(archs), self.frame
        outputs, per_cell = len(frame.cells), frame.nodes + 1
        first_operation = 1 + outputs * per_cell
        width = first_operation + frame.count
        nodes = np.full((len(codes), width), -1, dtype=np.int8)
        edges = np.full((len(codes), width, width), -1, dtype=np.int8)
        nodes[:, 0] = _NODE_NAMES.index("input")
        nodes[:, 1:first_operation] = _NODE_NAMES.index("sum")
        nodes[:, first_operation - 1] = _NODE_NAMES.index("output")

        def output(number: int) -> int:
            return number * per_cell  # 0 is the stem, then the last node of each cell

        for cell in range(outputs):
            place = {0: output(cell)} | {node: output(cell) + node for node in range(1, per_cell + 1)}
            for number, flag in enumerate(frame.inputs(cell)):
                edges[codes[:, flag] == 1, output(number), place[1]] = 0
            for edge, (source, target) in enumerate(frame.edges):
                for operation, flag in enumerate(frame.operations(cell, edge)):
                    is_kept = codes[:, flag] == 1
                    slot = first_operation + flag
                    nodes[is_kept, slot] = _NODE_NAMES.index(OPERATIONS[operation])
                    edges[is_kept, place[source], slot] = 0
                    edges[is_kept, slot, place[target]] = 0
        return Graphs(nodes, edges, _NODE_NAMES, ("flow",))

    def diagrams(self, arch: Architecture) -> tuple[Diagram, ...]:
        return diagrams(BonsaiGenotype.of(arch).pruned())


@cache
def bonsai_space(name: str) -> Bonsai:
    """The space of a name such as ``bonsai-nr-1``.

    >>> bonsai_space("bonsai-nr-1").size == 2**31
    True
    """
    return Bonsai(Frame.of_space(name))


def _flag_names(frame: Frame) -> list[str]:
    """``c1.input0`` is the first input of the second cell, ``c1.0-2.skip_connect`` an operation on an edge of it."""
    names = []
    for cell in range(len(frame.cells)):
        names += [f"c{cell}.input{number}" for number in range(cell + 1)]
        names += [f"c{cell}.{source}-{target}.{name}" for source, target in frame.edges for name in OPERATIONS]
    return names


def _reorder(flags: list[bool], frame: Frame, cell: int) -> None:
    """Put the inner nodes of a cell in the order, in which every edge still goes forward, whose flags are smallest."""
    first, last = frame.operations(cell, 0).start, frame.operations(cell, len(frame.edges) - 1).stop
    edges = [flags[start : start + len(OPERATIONS)] for start in range(first, last, len(OPERATIONS))]
    if any(map(any, edges)):
        no_operations = [False] * len(OPERATIONS)
        forms = (
            [no_operations if edge is None else edges[edge] for edge in order]
            for order, turned in _orders(frame)
            if not any(any(edges[edge]) for edge in turned)
        )
        flags[first:last] = [flag for edge in min(forms) for flag in edge]


@cache
def _orders(frame: Frame) -> list[tuple[list[int | None], list[int]]]:
    """For every order of a cell's inner nodes: which edge comes to each edge's place, and which would go backward."""
    inner = range(ENTRANCES, frame.targets[-1])
    number = {edge: index for index, edge in enumerate(frame.edges)}
    orders = []
    for order in permutations(inner):
        place = {**{node: node for node in (0, 1, frame.targets[-1])}, **dict(zip(inner, order, strict=True))}
        moved = {(place[source], place[target]): index for (source, target), index in number.items()}
        turned = [index for edge, index in moved.items() if edge not in number]
        orders.append(([moved.get(edge) for edge in frame.edges], turned))
    return orders
