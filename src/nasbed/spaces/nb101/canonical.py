"""The published representative of each class of isomorphic cells, for one cell or a batch.

NAS-Bench-101 keeps, of every class, the first cell when counting the edge bits upward and then the labels in product
order. This is the smallest ``(edges, ops)`` over all orders of the interior vertices in which every edge still points
forward. Parameter counts depend on that choice, since the vertex order decides which vertex gets a remainder channel.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from itertools import permutations

import numpy as np
from numpy.typing import NDArray

from nasbed.spaces.nb101.cell import FIRST_BIT, LAST, MAX_VERTICES, Compact, predecessors

NO_ORDER = np.int64(1) << 40
"""What :func:`relabelled` gives for a cell in which the order would turn an edge around: larger than any edge set."""


@lru_cache(maxsize=1 << 16)
def canonical(cell: Compact) -> Compact:
    """The representative of a pruned cell's class."""
    return Compact(*min(forward_orders(cell)))


def forward_orders(cell: Compact) -> Iterator[tuple[int, tuple[int, ...]]]:
    """The cell under every order of its interior vertices that keeps all edges pointing forward."""
    last = cell.vertices - 1
    sources = [predecessors(cell.edges, vertex) if vertex else 0 for vertex in range(last + 1)]

    def place(
        position: int, places: dict[int, int], edges: int, ops: tuple[int, ...]
    ) -> Iterator[tuple[int, tuple[int, ...]]]:
        for vertex in (last,) if position == last else range(1, last):
            if vertex in places:
                continue
            incoming, moved = sources[vertex], 0
            for earlier, place_of_other in places.items():
                if incoming >> earlier & 1:
                    moved |= 1 << place_of_other
            if moved.bit_count() < incoming.bit_count():
                continue
            now = edges | moved << FIRST_BIT[position]
            if position == last:
                yield now, ops
            else:
                yield from place(position + 1, {**places, vertex: position}, now, (*ops, cell.ops[vertex - 1]))

    return place(1, {0: 0}, 0, ())


def interior_orders(vertices: int) -> list[tuple[int, ...]]:
    """Every order of the interior: entry ``v`` is the new number of vertex ``v``; input and output stay."""
    return [(0, *order, vertices - 1) for order in permutations(range(1, vertices - 1))]


def relabelled(edges: NDArray[np.int64], order: tuple[int, ...]) -> NDArray[np.int64]:
    """A batch of edge sets after renumbering, or :data:`NO_ORDER` where an edge would point backward."""
    moved = np.zeros_like(edges)
    backward = np.int64(0)
    for target in range(1, len(order)):
        for source in range(target):
            bit = FIRST_BIT[target] + source
            new_source, new_target = order[source], order[target]
            if new_source < new_target:
                moved |= (edges >> bit & 1) << (FIRST_BIT[new_target] + new_source)
            else:
                backward |= np.int64(1) << bit
    moved[(edges & backward) != 0] = NO_ORDER
    return moved


def compact_batch(codes: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Prune a batch: the number of vertices, the edges and the operations ``[n, 5]`` (0 beyond the cell) of each."""
    edges = codes[:, 0]
    remaining = kept_batch(edges)
    sources = [np.zeros_like(edges)] + [edges >> FIRST_BIT[v] & ((1 << v) - 1) for v in range(1, MAX_VERTICES)]
    number = np.zeros((MAX_VERTICES, len(codes)), dtype=np.int64)
    number[1:] = np.cumsum([remaining >> v & 1 for v in range(MAX_VERTICES)], axis=0)[:-1]
    packed = np.zeros_like(edges)
    ops = np.zeros((len(codes), LAST - 1), dtype=np.int64)
    rows = np.arange(len(codes))
    first_bit = np.array(FIRST_BIT)
    for target in range(1, MAX_VERTICES):
        present = remaining >> target & 1
        for source in range(target):
            connected = sources[target] >> source & remaining >> source & present & 1
            packed |= connected << (first_bit[number[target]] + number[source])
        if target < LAST:
            is_interior = present == 1
            ops[rows[is_interior], number[target][is_interior] - 1] = codes[is_interior, target]
    return number[LAST] + 1, packed, ops


def kept_batch(edges: NDArray[np.int64]) -> NDArray[np.int64]:
    """:func:`~nasbed.spaces.nb101.cell.kept_vertices` of a batch of seven-vertex edge sets."""
    reached = np.ones_like(edges)
    for vertex in range(1, MAX_VERTICES):
        sources = edges >> FIRST_BIT[vertex] & ((1 << vertex) - 1)
        reached |= ((sources & reached) != 0).astype(np.int64) << vertex
    leading = np.full_like(edges, 1 << LAST)
    for vertex in range(LAST, 0, -1):
        leading |= (edges >> FIRST_BIT[vertex] & ((1 << vertex) - 1)) * (leading >> vertex & 1)
    return np.where(reached >> LAST & 1, reached & leading, 0)


def canonical_codes(codes: NDArray[np.int64]) -> NDArray[np.int64]:
    """The canonical seven-vertex codes of a batch, compiled."""
    from nasbed.spaces.nb101.canonical_kernel import canonical_into

    vertices, edges, ops = compact_batch(codes)
    result = np.zeros_like(codes)
    canonical_into(vertices, edges, ops, ORDERS, ORDER_STARTS, result)
    return result


ORDERS = np.array(
    [
        [*order, *[0] * (MAX_VERTICES - count)]
        for count in range(2, MAX_VERTICES + 1)
        for order in interior_orders(count)
    ]
)
"""Every order of the interior for 2, 3 … 7 vertices, one after the other; those for ``n`` start at
``ORDER_STARTS[n]``."""

ORDER_STARTS = np.array([0, 0, 0, 1, 2, 4, 10, 34, 154])
