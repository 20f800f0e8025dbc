"""What the cells of every supernet are built of and computed by."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from torch import Tensor, nn

from nasbed.networks.blocks import added
from nasbed.oneshot.cells import Layout
from nasbed.oneshot.edge import EdgePass, MakeOperation, MixedEdge, NodeOutputs, mixed_sum
from nasbed.oneshot.mixing import EdgeMixing
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


class MixedCell:
    """One pass through the mixed edges of a cell, node by node.

    Args:
        ends: The source and the target of each edge.
        edges: The edges.
        mixings: How each is mixed.
    """

    def __init__(self, ends: Sequence[tuple[int, int]], edges: nn.ModuleList, mixings: Sequence[EdgeMixing]) -> None:
        self._parts = [
            (source, target, cast(MixedEdge, edge), mixing)
            for (source, target), edge, mixing in zip(ends, edges, mixings, strict=True)
        ]
        self._outputs: dict[int, NodeOutputs] = {}
        self._shared: dict[int, dict[str, Tensor]] = {}

    def node(self, target: int, nodes: Sequence[Tensor]) -> Tensor | None:
        """The sum of what the edges into a node carry, None for nothing; ``nodes`` are those before it."""
        into = [(source, edge, mixing) for source, other, edge, mixing in self._parts if other == target]
        if all(mixing.computed is None for _, _, mixing in into):
            return mixed_sum([EdgePass(edge, mixing, self._from(source, nodes)) for source, edge, mixing in into])
        carried = [edge(nodes[source], mixing, self._shared.setdefault(source, {})) for source, edge, mixing in into]
        terms = [term for term in carried if term is not None]
        return added(terms) if terms else None

    def _from(self, source: int, nodes: Sequence[Tensor]) -> NodeOutputs:
        if source not in self._outputs:
            edges = [edge for other, _, edge, _ in self._parts if other == source]
            self._outputs[source] = NodeOutputs(nodes[source], edges)
        return self._outputs[source]
