"""The supernet of the NAS-Bench-201 space."""

from __future__ import annotations

from typing import cast

import torch
from torch import Tensor, nn

from nasbed.core.architecture import Architecture
from nasbed.networks.blocks import EdgeCell
from nasbed.networks.nb201 import NB201Network, operation
from nasbed.oneshot.cells import Layout
from nasbed.oneshot.mixing import EdgeMixing, Mixing, by_edge
from nasbed.oneshot.norms import searching_norms
from nasbed.oneshot.spaces.base import SearchedSpace, Selected, Strengths, Supernet, SupernetSize
from nasbed.oneshot.spaces.mixed_cells import MixedCell, mixed_edges
from nasbed.spaces.facts import NONE, CellGraph
from nasbed.spaces.nb201 import NB201Skeleton


class NB201Supernet(Supernet):
    """A network of the space whose cells have no operations, and beside each cell its mixed edges."""

    def __init__(self, skeleton: NB201Skeleton, size: SupernetSize, cells: CellGraph, layout: Layout) -> None:
        super().__init__()
        self.ends = cells.edges
        self.frame = NB201Network((NONE,) * len(cells.edges), skeleton, size.shape[0])
        searching_norms(self.frame, affine=size.affine)
        self.edges = nn.ModuleDict(
            {
                str(position): mixed_edges(
                    lambda name, channels, stride: operation(name, channels),
                    cells,
                    layout,
                    kind=0,
                    channels=cell.channels,
                    strides=[1] * len(cells.edges),
                    size=size,
                )
                for position, cell in enumerate(self.frame.cells)
                if isinstance(cell, EdgeCell)
            }
        )

    def forward(self, x: Tensor, mixing: Mixing) -> Tensor:
        (mixings,) = by_edge(mixing)
        x = self.frame.stem(x)
        for position, cell in enumerate(self.frame.cells):
            x = self._cell(position, x, mixings) if isinstance(cell, EdgeCell) else cell(x)
        logits: Tensor = self.frame.head(self.frame.last(x))
        return logits

    def mixed(self, position: int) -> nn.ModuleList:
        return cast(nn.ModuleList, self.edges[str(position)])

    def _cell(self, position: int, x: Tensor, mixings: list[EdgeMixing]) -> Tensor:
        nodes, mixed = [x], MixedCell(self.ends, self.mixed(position), mixings)
        for node in (1, 2, 3):
            total = mixed.node(node, nodes)
            nodes.append(torch.zeros_like(x) if total is None else total)
        return nodes[-1]


class _NB201SupernetSpace(SearchedSpace):
    name = "nb201"

    def skeleton(self, size: SupernetSize) -> NB201Skeleton:
        return NB201Skeleton(
            channels=size.channels,
            cells_per_stage=NB201Skeleton().cells_per_stage if size.cells is None else size.cells,
            image=size.shape[1:],
            classes=size.classes,
        )

    def supernet(self, size: SupernetSize, cells: CellGraph, layout: Layout) -> NB201Supernet:
        return NB201Supernet(self.skeleton(size), size, cells, layout)

    def strongest(self, strengths: Strengths, cells: CellGraph) -> Architecture:
        """Each edge keeps its strongest operation, be it none; of equals the first."""
        return Architecture(self.name, tuple(int(op) for op in strengths[0].argmax(axis=1)))

    def selected(self, arch: Architecture, cells: CellGraph) -> Selected:
        return (tuple(None if cells.operations[op] == NONE else op for op in arch.code),)


NB201 = _NB201SupernetSpace()
