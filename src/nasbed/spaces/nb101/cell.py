"""A NAS-Bench-101 cell as integers: the code, pruning, depth and width.

A code is ``(edges, op_1, …, op_5)`` over seven vertices, vertex 0 the input and vertex 6 the output. ``edges`` is a
bit set: edge x→y (x < y) is bit ``x + y(y-1)/2``, so the predecessors of y stand together. ``op_i`` indexes
:data:`OPERATIONS`.

A cell of fewer vertices is padded: its interior vertices keep their numbers, the output becomes vertex 6, and the
vertices between are isolated with operation 0. A :data:`Compact` cell is the other form, after pruning: the same bit
layout over just the vertices used.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from nasbed.core.errors import InvalidArchitecture

OPERATIONS = ("conv3x3-bn-relu", "conv1x1-bn-relu", "maxpool3x3")
INPUT, OUTPUT = "input", "output"
MAX_VERTICES = 7
MAX_EDGES = 9
ALL_EDGES = MAX_VERTICES * (MAX_VERTICES - 1) // 2
LAST = MAX_VERTICES - 1

Code = tuple[int, ...]


class Compact(NamedTuple):
    """A cell of ``len(ops) + 2`` vertices, none of them superfluous."""

    edges: int
    ops: tuple[int, ...]

    @property
    def vertices(self) -> int:
        return len(self.ops) + 2


def first_bit(vertex: int) -> int:
    """The bit of the edge 0→vertex."""
    return vertex * (vertex - 1) // 2


FIRST_BIT = tuple(first_bit(vertex) for vertex in range(MAX_VERTICES + 1))


def predecessors(edges: int, vertex: int) -> int:
    """The vertices with an edge into ``vertex``, as a bit set."""
    return (edges >> FIRST_BIT[vertex]) & ((1 << vertex) - 1)


def kept_vertices(edges: int, vertices: int = MAX_VERTICES) -> int:
    """The bit set of vertices on some path from the input to the output; 0 if there is no such path."""
    last = vertices - 1
    reached = 1
    for vertex in range(1, vertices):
        if (edges >> FIRST_BIT[vertex]) & ((1 << vertex) - 1) & reached:
            reached |= 1 << vertex
    if not reached >> last & 1:
        return 0
    leading = 1 << last
    for vertex in range(last, 0, -1):
        if leading >> vertex & 1:
            leading |= (edges >> FIRST_BIT[vertex]) & ((1 << vertex) - 1)
    return reached & leading


def edges_among(edges: int, vertices: int) -> int:
    """How many edges run between vertices of a bit set."""
    return sum(
        (predecessors(edges, vertex) & vertices).bit_count()
        for vertex in range(1, MAX_VERTICES)
        if vertices >> vertex & 1
    )


def is_valid(edges: int) -> bool:
    """Whether the output is reached from the input, by at most nine edges after pruning."""
    remaining = kept_vertices(edges)
    return remaining != 0 and (edges.bit_count() <= MAX_EDGES or edges_among(edges, remaining) <= MAX_EDGES)


def check(edges: int) -> None:
    """Raise unless :func:`is_valid`, saying which rule broke."""
    remaining = kept_vertices(edges)
    if not remaining:
        raise InvalidArchitecture("this nb101 cell has no path from input to output; add edges")
    count = edges_among(edges, remaining)
    if count > MAX_EDGES:
        raise InvalidArchitecture(
            f"this nb101 cell has {count} edges after pruning, at most {MAX_EDGES} are allowed; remove "
            f"{count - MAX_EDGES}"
        )


def compact(code: Code) -> Compact:
    """The pruned cell, in the same vertex order."""
    remaining = kept_vertices(code[0])
    places = [vertex for vertex in range(MAX_VERTICES) if remaining >> vertex & 1]
    edges = 0
    for target, vertex in enumerate(places):
        sources = predecessors(code[0], vertex)
        for source, earlier in enumerate(places[:target]):
            if sources >> earlier & 1:
                edges |= 1 << (FIRST_BIT[target] + source)
    return Compact(edges, tuple(code[vertex] for vertex in places[1:-1]))


def padded(cell: Compact) -> Code:
    """The seven-vertex code of a compact cell."""
    last = cell.vertices - 1
    interior = cell.edges & ((1 << FIRST_BIT[last]) - 1)
    return (
        interior | predecessors(cell.edges, last) << FIRST_BIT[LAST],
        *cell.ops,
        *(0,) * (MAX_VERTICES - cell.vertices),
    )


def trimmed(code: Code) -> Compact:
    """Undo :func:`padded` alone: drop the isolated operation-0 vertices just before the output, prune nothing else."""
    edges, ops = code[0], code[1:]
    into_output = predecessors(edges, LAST)
    vertices = MAX_VERTICES
    while vertices > 2:
        vertex = vertices - 2
        if ops[vertex - 1] or predecessors(edges, vertex) or into_output >> vertex & 1:
            break
        vertices -= 1
    last = vertices - 1
    interior = edges & ((1 << FIRST_BIT[last]) - 1)
    return Compact(interior | into_output << FIRST_BIT[last], ops[: vertices - 2])


def edge_pairs(cell: Compact) -> list[tuple[int, int]]:
    """The edges as (source, target), by target then source."""
    return [
        (source, target)
        for target in range(1, cell.vertices)
        for source in range(target)
        if cell.edges >> (FIRST_BIT[target] + source) & 1
    ]


def edges_from_pairs(pairs: Sequence[tuple[int, int]]) -> int:
    """The bit set of edges given as (source, target)."""
    edges = 0
    for source, target in pairs:
        edges |= 1 << (FIRST_BIT[target] + source)
    return edges
