"""DARTS architectures as a Genotype and as text."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from nasbed.core.errors import InvalidArchitecture, ParseError, nearest, shorten
from nasbed.spaces.darts.cell import NODES, OPERATIONS, CellCode, node_edges, with_edges

CELL_KINDS = ("normal", "reduce")
EXAMPLE = "normal:sep_conv_3x3~0,skip_connect~1/…/…/…+reduce:…"


class Genotype(NamedTuple):
    """The form in which DARTS and its successors publish architectures: eight (operation, input) pairs a cell, two a
    node in order."""

    normal: list[tuple[str, int]]
    normal_concat: list[int]
    reduce: list[tuple[str, int]]
    reduce_concat: list[int]


def to_genotype(normal: CellCode, reduction: CellCode) -> Genotype:
    """The genotype of two cells."""
    pairs = [[(OPERATIONS[op], source) for _, source, op in node_edges(cell)] for cell in (normal, reduction)]
    return Genotype(pairs[0], list(NODES), pairs[1], list(NODES))


def from_genotype(obj: Any) -> tuple[int, ...]:
    """The code of anything with the four fields of a :class:`Genotype`; the two edges of a node may come in either
    order."""
    code: tuple[int, ...] = ()
    for kind in CELL_KINDS:
        for field in (kind, f"{kind}_concat"):
            if not hasattr(obj, field):
                raise ParseError(
                    f"a Genotype has normal, normal_concat, reduce and reduce_concat, got {shorten(obj)} without "
                    f"{field}"
                )
        concat = _sequence(getattr(obj, f"{kind}_concat"), f"{kind}_concat")
        if [_integer(node) for node in concat] != list(NODES):
            raise InvalidArchitecture(f"a darts {kind} cell concatenates nodes 2, 3, 4, 5, got {shorten(list(concat))}")
        code += _cell(_sequence(getattr(obj, kind), kind), kind)
    return code


def _sequence(value: Any, name: str) -> Sequence[Any]:
    if isinstance(value, list | tuple | range | np.ndarray):
        return list(value)
    raise ParseError(f"a Genotype's {name} is a list, got {type(value).__name__} {shorten(value)}")


def _integer(value: Any) -> int | None:
    if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating) or value != value // 1:
        return None
    return int(value)


def _cell(pairs: Sequence[Any], kind: str) -> CellCode:
    if len(pairs) != 2 * len(NODES):
        raise InvalidArchitecture(f"a darts {kind} cell has 8 (operation, input) pairs, two a node, got {len(pairs)}")
    edges = []
    for index, pair in enumerate(pairs):
        node = NODES[index // 2]
        if not isinstance(pair, tuple | list | np.ndarray) or len(pair) != 2:
            raise ParseError(
                f"a darts edge is the pair (operation, input), got {shorten(pair)} at node {node} of the {kind} cell"
            )
        op, source = str(pair[0]), _integer(pair[1])
        if op not in OPERATIONS:
            raise InvalidArchitecture(
                f"{shorten(op)} is not a darts operation, at node {node} of the {kind} cell; {nearest(op, OPERATIONS)}"
            )
        if source is None or not 0 <= source < node:
            raise InvalidArchitecture(
                f"node {node} of a darts cell takes inputs 0 to {node - 1}, got {shorten(pair[1])} in the {kind} cell"
            )
        edges.append((source, OPERATIONS.index(op)))
    for place, node in enumerate(NODES):
        if edges[2 * place][0] == edges[2 * place + 1][0]:
            raise InvalidArchitecture(
                f"the two inputs of a darts node differ, got {edges[2 * place][0]} twice at node {node} of the "
                f"{kind} cell; change one"
            )
    return with_edges(edges)


def format_cells(normal: CellCode, reduction: CellCode) -> str:
    """``normal:`` and ``reduce:``, nodes separated by slashes, edges as ``operation~input``."""
    texts = []
    for kind, cell in zip(CELL_KINDS, (normal, reduction), strict=True):
        edges = [f"{OPERATIONS[op]}~{source}" for _, source, op in node_edges(cell)]
        texts.append(f"{kind}:" + "/".join(f"{a},{b}" for a, b in zip(edges[::2], edges[1::2], strict=True)))
    return "+".join(texts)


def parse_cells(text: str) -> tuple[int, ...]:
    """Read what :func:`format_cells` writes, or the Python text of a Genotype as papers and logs print it."""
    if not isinstance(text, str):
        raise ParseError(
            f"a darts architecture is read from text, got {type(text).__name__} {shorten(text)}; use from_native for "
            "objects"
        )
    text = text.strip()
    if text.startswith("Genotype("):
        return from_genotype(_parse_call(text))
    cells = text.split("+")
    if len(cells) != 2:
        raise ParseError(f"a darts architecture reads {EXAMPLE} or Genotype(normal=[…], …), got {shorten(text)}")
    code: tuple[int, ...] = ()
    for kind, cell in zip(CELL_KINDS, cells, strict=True):
        label, colon, nodes = cell.partition(":")
        pairs = [tuple(edge.split("~")) for node in nodes.split("/") for edge in node.split(",")]
        by_node = [node.count(",") + 1 for node in nodes.split("/")]
        if label != kind or not colon or by_node != [2] * len(NODES) or any(len(pair) != 2 for pair in pairs):
            raise ParseError(
                f"a darts {kind} cell reads {kind}:op~0,op~1/op~0,op~2/…/… with four nodes, got {shorten(cell)}"
            )
        code += _cell([(op, _decimal(source)) for op, source in pairs], kind)
    return code


def _decimal(text: str) -> int | str:
    return int(text) if len(text) == 1 and text.isascii() and text.isdecimal() else text


def _parse_call(text: str) -> Genotype:
    """The Genotype that a Python expression writes, read without running it."""
    try:
        call = ast.parse(text, mode="eval").body
        if not isinstance(call, ast.Call) or call.args:
            raise ValueError("the fields are given by keyword")
        fields = {str(keyword.arg): _literal(keyword.value) for keyword in call.keywords}
        return Genotype(**fields)
    except (SyntaxError, ValueError, TypeError, MemoryError, RecursionError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise ParseError(
            f"a Genotype reads Genotype(normal=[('op', 0), …], normal_concat=…, …), got {shorten(text)}: {reason}"
        ) from None


def _literal(node: ast.expr) -> Any:
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "range":
        bounds = [ast.literal_eval(argument) for argument in node.args]
        if len(bounds) != 2 or any(type(bound) is not int for bound in bounds):
            raise ValueError("a range is written range(2, 6)")
        return range(*bounds)
    return ast.literal_eval(node)
