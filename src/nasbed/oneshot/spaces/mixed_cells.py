"""What the cells of every supernet are built of and computed by."""

from __future__ import annotations

from collections.abc import Sequence

from torch import Tensor, nn

from nasbed.oneshot.cells import Layout
from nasbed.oneshot.edge import MakeOperation, MixedEdge
from nasbed.oneshot.norms import searching_norms
from nasbed.oneshot.spaces.base import SupernetSize
from nasbed.spaces.facts import CellGraph


def mixed_edges(
    make: MakeOperation,
    cells: CellGraph,
    layout: Layout,
    *,
    kind: int,
    channels: int,
    strides: Sequence[int],
    size: SupernetSize,
) -> nn.ModuleList:
    """The edges of one cell.

    Args:
        make: Makes an operation of the space.
        cells: The cells with all candidates.
        layout: Which candidates and channels the supernet has.
        kind: The kind of the cell.
        channels: The channels of the cell.
        strides: The stride of each edge.
        size: Says how batch normalisations are set.
    """

    def make_searchable(name: str, channels: int, stride: int) -> nn.Module | None:
        module = make(name, channels, stride)
        if module is None:
            return None
        if size.normalised_pools and "pool" in name:
            module = nn.Sequential(module, nn.BatchNorm2d(channels))
        searching_norms(module, affine=size.affine)
        return module

    edges = nn.ModuleList()
    for edge, stride in enumerate(strides):
        places = range(len(cells.operations)) if layout.candidates is None else layout.candidates[kind][edge]
        candidates = {place: cells.operations[place] for place in places}
        edges.append(MixedEdge(make_searchable, candidates, channels=channels, stride=stride, partial=layout.partial))
    return edges


def by_source(nodes: int) -> list[dict[str, Tensor]]:
    """For each node of a cell, what edges from it share in one forward pass."""
    return [{} for _ in range(nodes)]


def node_sum(terms: Sequence[Tensor | None]) -> Tensor | None:
    """The sum of the terms that are not None; None without any."""
    total: Tensor | None = None
    for term in terms:
        if term is not None:
            total = term if total is None else total + term
    return total
