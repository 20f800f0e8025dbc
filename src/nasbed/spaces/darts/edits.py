"""The single edits of a DARTS architecture, each with the edge that it changes."""

from __future__ import annotations

from collections.abc import Iterator

from nasbed.core.architecture import Architecture
from nasbed.spaces.darts.cell import CELL_LENGTH, INPUTS, NODES, OPERATIONS
from nasbed.spaces.darts.genotype import CELL_KINDS
from nasbed.spaces.facts import Edit

INPUT_LABELS = ("c_{k-2}", "c_{k-1}")
"""The outputs of the two cells before, as diagrams write them."""


def operation_choice(kind: str, source: int, node: int) -> str:
    """The name of the choice of the operation on an edge."""
    return f"{kind}:{source}-{node}:operation"


def input_choice(kind: str, source: int, node: int) -> str:
    """The name of the choice where an edge comes from."""
    return f"{kind}:{source}-{node}:input"


def node_label(node: int) -> str:
    """A node as diagrams call it: the intermediate ones count from 0."""
    return INPUT_LABELS[node] if node < INPUTS else str(node - INPUTS)


def edits(arch: Architecture) -> Iterator[Edit]:
    """Every operation changed, then every edge moved to another input with its operation."""
    code = arch.code
    for position in range(0, len(code), 2):
        kind, node = _place(position)
        source, before = code[position], code[position + 1]
        choice, title = operation_choice(kind, source, node), f"{_edge_title(kind, source, node)}, operation"
        for after, name in enumerate(OPERATIONS):
            if after != before:
                edited = Architecture(arch.space, (*code[: position + 1], after, *code[position + 2 :]))
                yield Edit(choice, title, OPERATIONS[before], name, edited)
    for position in range(0, len(code), 2):
        kind, node = _place(position)
        start = position - position % 4
        (kept,) = {start, start + 2} - {position}
        source, operation = code[position : position + 2]
        choice, title = input_choice(kind, source, node), f"{_edge_title(kind, source, node)}, input"
        for other in range(node):
            if other not in (source, code[kept]):
                first, second = sorted([(other, operation), (code[kept], code[kept + 1])])
                edited = Architecture(arch.space, (*code[:start], *first, *second, *code[start + 4 :]))
                yield Edit(choice, title, _plain_label(source), _plain_label(other), edited)


def _place(position: int) -> tuple[str, int]:
    """The kind of the cell and the node of an edge, by the edge's place in the code."""
    return CELL_KINDS[position // CELL_LENGTH], NODES[position % CELL_LENGTH // 4]


def _edge_title(kind: str, source: int, node: int) -> str:
    return f"{'reduction' if kind == CELL_KINDS[1] else kind} cell, edge {_plain_label(source)} → {node_label(node)}"


def _plain_label(node: int) -> str:
    """The label of a node in a sentence."""
    return f"cell k-{INPUTS - node}" if node < INPUTS else node_label(node)
