"""How a supernet mixes its operations: what a method gives it for one forward pass."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor


@dataclass(frozen=True, slots=True)
class Mixing:
    """``operations[kind, edge, candidate]`` weighs the outputs of the candidates on an edge, ``edges[kind, edge]``, if
    there, what the whole edge carries.

    With ``selected`` only the operation ``selected[kind][edge]`` of an edge is computed, none at all where that is
    None; its output is still multiplied by its weight, through which gradients flow.
    """

    operations: Tensor
    edges: Tensor | None = None
    selected: tuple[tuple[int | None, ...], ...] | None = None


@dataclass(frozen=True, slots=True)
class EdgeMixing:
    """What of a mixing concerns one edge: a weight for each candidate, and one of no dimension for the whole."""

    operations: Tensor
    edge: Tensor | None = None
    computed: tuple[int, ...] | None = None  # the candidates to compute, None for all


def by_edge(mixing: Mixing) -> list[list[EdgeMixing]]:
    """A mixing split by kind and edge, once per forward pass, however many cells share its weights."""
    kinds = []
    for kind, table in enumerate(mixing.operations.unbind()):
        edges = (None,) * len(table) if mixing.edges is None else mixing.edges[kind].unbind()
        chosen: tuple[tuple[int, ...] | None, ...] = (None,) * len(table)
        if mixing.selected is not None:
            chosen = tuple(() if op is None else (op,) for op in mixing.selected[kind])
        kinds.append([EdgeMixing(*parts) for parts in zip(table.unbind(), edges, chosen, strict=True)])
    return kinds
