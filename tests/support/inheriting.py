"""Weights that go from a supernet to the network of one of its architectures, to compare what both compute."""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

from torch import nn

from nasbed.core.architecture import Architecture
from nasbed.networks.blocks import EdgeCell
from nasbed.networks.darts import DartsCell, DartsNetwork
from nasbed.networks.nb201 import NB201Network
from nasbed.oneshot import SEARCHED_SPACES
from nasbed.oneshot.edge import MixedEdge
from nasbed.oneshot.spaces.base import Supernet
from nasbed.oneshot.spaces.darts import DartsSupernet
from nasbed.oneshot.spaces.nb201 import NB201Supernet
from nasbed.spaces.facts import CellGraph

Counterparts = Iterator[tuple[nn.Module, nn.Module]]


def inherit(network: nn.Module, supernet: Supernet, arch: Architecture, cells: CellGraph) -> None:
    """Copy the weights of an architecture's operations from a supernet of the same size to its own network.

    A supernet has no running statistics, and unless it is ``affine`` no scale and shift in its batch normalisations.
    Those of the network stay as they are, one and zero in a new network.
    """
    counterparts = _darts if isinstance(network, DartsNetwork) else _nb201
    for own, shared in counterparts(network, supernet, arch, cells):
        inherited = shared.state_dict()
        for name, value in own.state_dict().items():
            if name in inherited:
                value.copy_(inherited[name])


def _darts(network: nn.Module, supernet: Supernet, arch: Architecture, cells: CellGraph) -> Counterparts:
    assert isinstance(network, DartsNetwork) and isinstance(supernet, DartsSupernet)
    frame, chosen = supernet.frame, SEARCHED_SPACES.get("darts").selected(arch, cells)
    yield network.stem, frame.stem
    yield network.head, frame.head
    for position, (own, shared) in enumerate(zip(network.cells, frame.cells, strict=True)):
        own, shared = cast(DartsCell, own), cast(DartsCell, shared)
        yield own.before_last, shared.before_last
        yield own.last, shared.last
        kind = int(position in supernet.reductions)
        for (node, source), module in zip(own.edges, own.operations, strict=True):
            edge = cells.edges.index((source, node))
            yield module, _operation(supernet.mixed(position)[edge], cells, chosen[kind][edge])


def _nb201(network: nn.Module, supernet: Supernet, arch: Architecture, cells: CellGraph) -> Counterparts:
    assert isinstance(network, NB201Network) and isinstance(supernet, NB201Supernet)
    frame, (chosen,) = supernet.frame, SEARCHED_SPACES.get("nb201").selected(arch, cells)
    yield network.stem, frame.stem
    yield network.last, frame.last
    yield network.head, frame.head
    for position, (own, shared) in enumerate(zip(network.cells, frame.cells, strict=True)):
        if not isinstance(own, EdgeCell):
            yield own, shared
            continue
        for (source, target), edge, op in zip(cells.edges, supernet.mixed(position), chosen, strict=True):
            if op is not None:
                yield own.edges[f"{source}-{target}"], _operation(edge, cells, op)


def _operation(edge: nn.Module, cells: CellGraph, place: int | None) -> nn.Module:
    assert isinstance(edge, MixedEdge) and place is not None
    return edge.operations[cells.operations[place]]
