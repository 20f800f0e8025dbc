"""The supernet of the DARTS space, and DARTS's rule for reading an architecture from it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import torch
from torch import Tensor, nn

from nasbed.core.architecture import Architecture
from nasbed.networks.darts import DartsCell, DartsNetwork, operation
from nasbed.oneshot.cells import Layout
from nasbed.oneshot.mixing import EdgeMixing, Mixing, by_edge
from nasbed.oneshot.norms import searching_norms
from nasbed.oneshot.spaces.base import SearchedSpace, Selected, Strengths, Supernet, SupernetSize
from nasbed.oneshot.spaces.mixed_cells import MixedCell, mixed_edges
from nasbed.spaces.darts.cell import CELL_LENGTH, EDGE_OFFSET, INPUTS, NODES, OPERATIONS, node_edges, with_edges
from nasbed.spaces.darts.costs import DartsSkeleton
from nasbed.spaces.facts import NONE, CellGraph


class DartsSupernet(Supernet):
    """A network of the space whose cells have no operations, and beside each cell its mixed edges."""

    def __init__(self, skeleton: DartsSkeleton, size: SupernetSize, cells: CellGraph, layout: Layout) -> None:
        super().__init__()
        self.ends = cells.edges
        self.frame = DartsNetwork([], [], skeleton)
        searching_norms(self.frame, affine=size.affine)
        self.reductions = skeleton.reductions
        self.edges = nn.ModuleList()
        for position, cell in enumerate(cast(Sequence[DartsCell], self.frame.cells)):
            reduces = position in self.reductions
            self.edges.append(
                mixed_edges(
                    lambda name, channels, stride: None if name == NONE else operation(name, channels, stride),
                    cells,
                    layout,
                    kind=int(reduces),
                    channels=cast(nn.Conv2d, cell.last[1]).out_channels,
                    strides=[2 if reduces and source < INPUTS else 1 for source, _ in cells.edges],
                    size=size,
                )
            )

    def forward(self, x: Tensor, mixing: Mixing) -> Tensor:
        mixings = by_edge(mixing)
        before_last = last = self.frame.stem(x)
        for position, cell in enumerate(self.frame.cells):
            kind = int(position in self.reductions)
            before_last, last = last, self._cell(position, cast(DartsCell, cell), (before_last, last), mixings[kind])
        logits: Tensor = self.frame.head(last)
        return logits

    def mixed(self, position: int) -> nn.ModuleList:
        return cast(nn.ModuleList, self.edges[position])

    def _cell(self, position: int, cell: DartsCell, inputs: tuple[Tensor, Tensor], mixings: list[EdgeMixing]) -> Tensor:
        nodes: list[Tensor] = [cell.before_last(inputs[0]), cell.last(inputs[1])]
        mixed = MixedCell(self.ends, self.mixed(position), mixings)
        for node in NODES:
            total = mixed.node(node, nodes)
            nodes.append(self._zeros(nodes, position) if total is None else total)
        return torch.cat(nodes[INPUTS:], dim=1)

    def _zeros(self, nodes: Sequence[Tensor], position: int) -> Tensor:
        if len(nodes) > INPUTS or position not in self.reductions:
            return torch.zeros_like(nodes[-1])
        return torch.zeros_like(nodes[-1][:, :, ::2, ::2])


class _DartsSupernetSpace(SearchedSpace):
    name = "darts"

    def skeleton(self, size: SupernetSize) -> DartsSkeleton:
        return DartsSkeleton(
            channels=size.channels,
            cells=DartsSkeleton().cells if size.cells is None else size.cells,
            image=size.shape[1:],
            image_channels=size.shape[0],
            classes=size.classes,
        )

    def supernet(self, size: SupernetSize, cells: CellGraph, layout: Layout) -> DartsSupernet:
        return DartsSupernet(self.skeleton(size), size, cells, layout)

    def strongest(self, strengths: Strengths, cells: CellGraph) -> Architecture:
        """Each node keeps the two edges whose strongest operation is strongest, each with that operation; an operation
        that carries nothing does not count (DARTS, section 2.4). Of equals the first is kept."""
        code: tuple[int, ...] = ()
        for table in strengths:
            edges: list[tuple[int, int]] = []
            for first, past in cells.incoming:
                best = [max(cells.real, key=row.__getitem__) for row in table[first:past]]
                ranked = sorted(range(past - first), key=lambda at: -table[first + at][best[at]])
                edges += [(at, best[at]) for at in ranked[:2]]
            code += with_edges(edges)
        return Architecture(self.name, code)

    def selected(self, arch: Architecture, cells: CellGraph) -> Selected:
        rows = []
        for code in (arch.code[:CELL_LENGTH], arch.code[CELL_LENGTH:]):
            row: list[int | None] = [None] * len(cells.edges)
            for node, source, op in node_edges(code):
                row[EDGE_OFFSET[node] + source] = cells.operations.index(OPERATIONS[op])
            rows.append(tuple(row))
        return tuple(rows)


DARTS = _DartsSupernetSpace()
