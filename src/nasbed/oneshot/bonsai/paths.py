"""Which of the things that are kept lie on a path from the image to the output."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nasbed.oneshot.bonsai.space import Frame


def useful(frame: Frame, flags: Sequence[bool]) -> list[bool]:
    """The flags without those that get nothing from the image or give nothing to the output; where the image does not
    reach the output none is left."""
    reached = _reached(frame, flags)
    left = [False] * frame.count
    if not reached[-1][0]:
        return left
    needed = {len(frame.cells)}  # outputs: 0 is the stem's, i that of cell i - 1
    for cell in reversed(range(len(frame.cells))):
        if cell + 1 in needed:
            needed |= _needed(frame, cell, flags, reached, left)
    return left


def _reached(frame: Frame, flags: Sequence[bool]) -> list[tuple[bool, list[bool]]]:
    """Of the stem and each cell whether the image reaches its output, and of a cell which entrances and nodes."""
    found: list[tuple[bool, list[bool]]] = [(True, [])]
    for cell in range(len(frame.cells)):
        second = any(flags[flag] and found[place][0] for place, flag in enumerate(frame.inputs(cell)))
        nodes = [found[-1][0], second] + [False] * frame.nodes
        for edge, (source, target) in enumerate(frame.edges):
            if nodes[source] and not nodes[target]:
                nodes[target] = any(flags[flag] for flag in frame.operations(cell, edge))
        found.append((nodes[-1], nodes))
    return found


def _needed(
    frame: Frame, cell: int, flags: Sequence[bool], reached: Sequence[tuple[bool, list[bool]]], left: list[bool]
) -> set[int]:
    """Mark what a cell needs for its output, and give the outputs that it takes."""
    nodes = reached[cell + 1][1]
    wanted = {frame.targets[-1]}
    for edge, (source, target) in reversed(list(enumerate(frame.edges))):
        if target in wanted and nodes[source]:
            kept = [flag for flag in frame.operations(cell, edge) if flags[flag]]
            for flag in kept:
                left[flag] = True
            wanted |= {source} if kept else set()
    outputs = {cell} if 0 in wanted else set()
    if 1 in wanted:
        for place, flag in enumerate(frame.inputs(cell)):
            if flags[flag] and reached[place][0]:
                left[flag] = True
                outputs.add(place)
    return outputs
