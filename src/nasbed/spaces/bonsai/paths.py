"""Which of the things that are kept lie on a path from the image to the output."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nasbed.spaces.bonsai.frame import Frame


def useful(frame: Frame, flags: Sequence[bool]) -> list[bool]:
    """The flags without those that get nothing from the image or give nothing to the output; where the image does not
    reach the output none is left."""
    reached = _reached(frame, flags)
    marked = [False] * frame.count
    if not reached[-1][0]:
        return marked
    needed = {len(frame.cells)}  # outputs: 0 is the stem's, i that of cell i - 1
    for cell in reversed(range(len(frame.cells))):
        if cell + 1 in needed:
            needed |= _mark_needed(frame, cell, flags, reached, marked)
    return marked


def _reached(frame: Frame, flags: Sequence[bool]) -> list[tuple[bool, list[bool]]]:
    """Whether the image reaches the output of the stem and of each cell, and which entrances and nodes of a cell."""
    reached: list[tuple[bool, list[bool]]] = [(True, [])]
    for cell in range(len(frame.cells)):
        second = any(flags[flag] and reached[number][0] for number, flag in enumerate(frame.inputs(cell)))
        nodes = [reached[-1][0], second] + [False] * frame.nodes
        for edge, (source, target) in enumerate(frame.edges):
            if nodes[source] and not nodes[target]:
                nodes[target] = any(flags[flag] for flag in frame.operations(cell, edge))
        reached.append((nodes[-1], nodes))
    return reached


def _mark_needed(
    frame: Frame, cell: int, flags: Sequence[bool], reached: Sequence[tuple[bool, list[bool]]], marked: list[bool]
) -> set[int]:
    """Mark the flags that a cell needs for its output, and return the outputs that it takes.

    Args:
        frame: The frame of the architecture.
        cell: The position of the cell.
        flags: What the architecture keeps.
        reached: What :func:`_reached` says of these flags.
        marked: The flags marked so far; those of this cell are added.
    """
    nodes = reached[cell + 1][1]
    needed = {frame.targets[-1]}
    for edge, (source, target) in reversed(list(enumerate(frame.edges))):
        if target in needed and nodes[source]:
            operations = [flag for flag in frame.operations(cell, edge) if flags[flag]]
            for flag in operations:
                marked[flag] = True
            needed |= {source} if operations else set()
    outputs = {cell} if 0 in needed else set()
    if 1 in needed:
        for number, flag in enumerate(frame.inputs(cell)):
            if flags[flag] and reached[number][0]:
                marked[flag] = True
                outputs.add(number)
    return outputs
