"""Architectures in words: their cells, and what changed from one to the next."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from nasbed.core.architecture import Architecture

if TYPE_CHECKING:
    from nasbed.oneshot.spaces.base import SearchedSpace

Edges = dict[tuple[int, int], str]
"""The operation on each edge (source, target) that an architecture has."""
MOST_TOLD = 4
"""So many changes of a cell are told of; the others are counted."""


def edges_by_kind(arch: Architecture, space: SearchedSpace) -> dict[str, Edges]:
    """The edges of each kind of cell."""
    cells = space.cells(with_none=False)
    return {
        kind: {edge: cells.operations[op] for edge, op in zip(cells.edges, row, strict=True) if op is not None}
        for kind, row in zip(cells.kinds, space.selected(arch, cells), strict=True)
    }


def cell_lines(arch: Architecture, space: SearchedSpace) -> list[str]:
    """A line for each kind of cell and node of it with what comes in, from where: ``2 = skip_connect(0) + …``."""
    lines = []
    for kind, edges in edges_by_kind(arch, space).items():
        targets = sorted({target for _, target in space.cells(with_none=False).edges})
        for target in targets:
            terms = [f"{name}({source})" for (source, into), name in edges.items() if into == target]
            title = kind if target == targets[0] else ""
            lines.append(f"{title:<7} {target} = {' + '.join(terms) or 'nothing'}")
    return lines


def changes(before: Architecture, after: Architecture, space: SearchedSpace) -> str:
    """What is different, edge by edge, on one line; empty where nothing is."""
    old, new = edges_by_kind(before, space), edges_by_kind(after, space)
    said = []
    for kind, edges in new.items():
        parts = []
        for edge in space.cells(with_none=False).edges:
            was, is_ = old[kind].get(edge), edges.get(edge)
            if was != is_:
                how = f"{was} ⇒ {is_}" if was and is_ else f"+{is_}" if is_ else f"−{was}"
                parts.append(f"{edge[0]}→{edge[1]} {how}")
        if parts:
            more = f" and {len(parts) - MOST_TOLD} more" if len(parts) > MOST_TOLD else ""
            said.append(f"{kind}: {', '.join(parts[:MOST_TOLD])}{more}")
    return "; ".join(said)


def skips_said(skips: Mapping[str, int]) -> str:
    """Numbers of skip connections on one line.

    >>> skips_said({"normal": 2, "reduce": 0}), skips_said({"cell": 1})
    ('normal 2, reduce 0', '1')
    """
    return ", ".join(f"{kind} {count}" if len(skips) > 1 else str(count) for kind, count in skips.items())
