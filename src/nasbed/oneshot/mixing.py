"""How a supernet mixes its operations in one forward pass, as a method decides."""

from __future__ import annotations

from dataclasses import dataclass, field

from torch import Tensor


@dataclass(frozen=True, slots=True)
class Mixing:
    """``operations[kind, edge, candidate]`` weighs the outputs of the candidates on an edge, ``edges[kind, edge]``, if
    present, what the whole edge carries.

    With ``selected`` only the operation ``selected[kind][edge]`` of an edge is computed, none at all where that is
    None; its output is still multiplied by its weight, through which gradients flow.
    """

    operations: Tensor
    edges: Tensor | None = None
    selected: tuple[tuple[int | None, ...], ...] | None = None


@dataclass(frozen=True, slots=True)
class EdgeMixing:
    """The part of a mixing for one edge: a weight for each candidate, and a scalar weight for the edge."""

    operations: Tensor
    edge: Tensor | None = None
    computed: tuple[int, ...] | None = None  # the candidates to compute, None for all
    by_candidates: dict[tuple[int, ...], Tensor] = field(default_factory=dict, repr=False, compare=False)
    """The weights of some candidates, that of the edge included, once they are known: all cells of a kind use them."""


def by_edge(mixing: Mixing) -> list[list[EdgeMixing]]:
    """A mixing split by kind and edge, once per forward pass, however many cells share its weights."""
    kinds = []
    for kind, table in enumerate(mixing.operations.unbind()):
        edges = (None,) * len(table) if mixing.edges is None else mixing.edges[kind].unbind()
        selected: tuple[tuple[int, ...] | None, ...] = (None,) * len(table)
        if mixing.selected is not None:
            selected = tuple(() if op is None else (op,) for op in mixing.selected[kind])
        kinds.append([EdgeMixing(*parts) for parts in zip(table.unbind(), edges, selected, strict=True)])
    return kinds
