"""NAS-Bench-101 cells as text and as (adjacency matrix, operations)."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nasbed.core.errors import InvalidArchitecture, ParseError, first_line, nearest, shorten
from nasbed.spaces.nb101.cell import (
    INPUT,
    MAX_VERTICES,
    OPERATIONS,
    OUTPUT,
    Compact,
    edge_pairs,
    edges_from_pairs,
    predecessors,
)
from nasbed.spaces.nb101.named import NAMED_CELLS

SHORT_NAMES = tuple(name.removesuffix("-bn-relu") for name in OPERATIONS)
EXAMPLE = "conv3x3:0/maxpool3x3:0,1/output:1,2"


def format_cell(cell: Compact) -> str:
    """Each vertex after the input as ``operation:predecessors``, by number, separated by slashes.

    >>> format_cell(Compact(edges_from_pairs([(0, 1), (0, 2), (1, 2), (1, 3), (2, 3)]), (0, 2)))
    'conv3x3:0/maxpool3x3:0,1/output:1,2'
    """
    names = (*(SHORT_NAMES[op] for op in cell.ops), OUTPUT)
    parts = []
    for vertex, name in enumerate(names, start=1):
        incoming = predecessors(cell.edges, vertex)
        parts.append(f"{name}:{','.join(str(source) for source in range(vertex) if incoming >> source & 1)}")
    return "/".join(parts)


def parse_cell(text: str) -> Compact:
    """Read what :func:`format_cell` writes, or a JSON pair ``[matrix, operations]``."""
    if not isinstance(text, str):
        raise ParseError(
            f"an nb101 cell is read from text, got {type(text).__name__} {shorten(text)}; use from_native for objects"
        )
    text = text.strip()
    if text.startswith("["):
        try:
            pair = json.loads(text)
        except (ValueError, RecursionError) as error:  # numbers of thousands of digits are a ValueError
            raise ParseError(
                f"an nb101 cell in JSON is [matrix, operations], got {shorten(text)}: {first_line(error)}"
            ) from None
        return from_matrix(pair)
    parts = text.split("/")
    if len(parts) > MAX_VERTICES - 1:
        raise InvalidArchitecture(
            f"an nb101 cell has at most {MAX_VERTICES} vertices, got {len(parts) + 1} in {shorten(text)}"
        )
    ops, pairs = [], []
    for vertex, part in enumerate(parts, start=1):
        name, colon, incoming = part.partition(":")
        if not colon:
            raise ParseError(
                f"an nb101 cell reads like {EXAMPLE}, got {shorten(part)} in {shorten(text)}; named cells are "
                f"{', '.join(NAMED_CELLS)}"
            )
        if (name == OUTPUT) != (vertex == len(parts)):
            raise ParseError(f"an nb101 cell ends with its one output vertex, as in {EXAMPLE}, got {shorten(text)}")
        if name != OUTPUT:
            ops.append(_operation(name))
        for number in incoming.split(",") if incoming else []:
            if not (number.isascii() and number.isdecimal()) or str(int(number[:9])) != number or int(number) >= vertex:
                raise ParseError(
                    f"vertex {vertex} takes inputs from 0 to {vertex - 1}, got {shorten(number)} in {shorten(text)}"
                )
            if (int(number), vertex) in pairs:
                raise ParseError(f"an nb101 vertex lists each input once, got {number} twice in {shorten(part)}")
            pairs.append((int(number), vertex))
    return Compact(edges_from_pairs(pairs), tuple(ops))


def _operation(name: object) -> int:
    for names in (OPERATIONS, SHORT_NAMES):
        if isinstance(name, str) and name in names:
            return names.index(name)
    raise InvalidArchitecture(f"{shorten(name)} is not an nb101 operation; {nearest(str(name), OPERATIONS)}")


def to_matrix(cell: Compact) -> tuple[NDArray[np.int64], list[str]]:
    """(upper-triangular 0/1 matrix, operations with input first and output last)."""
    matrix = np.zeros((cell.vertices, cell.vertices), dtype=np.int64)
    for source, target in edge_pairs(cell):
        matrix[source, target] = 1
    return matrix, [INPUT, *(OPERATIONS[op] for op in cell.ops), OUTPUT]


def from_matrix(obj: Any) -> Compact:
    """Read (matrix, operations); integers may come as bool, float or numpy scalars as long as they are 0 or 1."""
    if not isinstance(obj, tuple | list) or len(obj) != 2:
        raise ParseError(f"an nb101 cell is the pair (matrix, operations), got {shorten(obj)}")
    rows, ops = obj
    if isinstance(ops, str) or not hasattr(ops, "__len__"):
        raise ParseError(f"an nb101 cell's operations are a list of names, got {shorten(ops)}")
    try:
        matrix = np.array(rows, dtype=np.float64)
    except (TypeError, ValueError):
        raise ParseError(f"an nb101 matrix is square and holds 0 and 1, got {shorten(rows)}") from None
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise InvalidArchitecture(
            f"an nb101 matrix is square, got shape {matrix.shape}; give one row and one column a vertex"
        )
    if len(matrix) != len(ops):
        raise InvalidArchitecture(
            f"an nb101 cell has one operation a vertex, got {len(ops)} operations for {len(matrix)} vertices"
        )
    if not 2 <= len(matrix) <= MAX_VERTICES:
        raise InvalidArchitecture(f"an nb101 cell has 2 to {MAX_VERTICES} vertices, got {len(matrix)}; remove some")
    if not np.isin(matrix, (0, 1)).all():
        odd = matrix[~np.isin(matrix, (0, 1))][0]
        raise InvalidArchitecture(f"an nb101 matrix holds 0 and 1 only, got {odd:g}")
    backward = np.argwhere(np.tril(matrix))
    if len(backward):
        source, target = backward[0].tolist()
        kind = "a self-loop or cycle" if source == target or matrix[target, source] else "a backward edge or cycle"
        raise InvalidArchitecture(
            f"an nb101 matrix is upper triangular, got {kind} {source}→{target}; number the vertices so that edges "
            "go upward"
        )
    if ops[0] != INPUT or ops[-1] != OUTPUT:
        raise InvalidArchitecture(
            f"an nb101 cell's operations start with input and end with output, got {shorten(list(ops))}"
        )
    pairs = [(int(source), int(target)) for source, target in np.argwhere(matrix)]
    return Compact(edges_from_pairs(pairs), tuple(_operation(str(op)) for op in list(ops)[1:-1]))
