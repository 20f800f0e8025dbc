"""A DARTS cell as integers, its isomorphism classes, and how many there are.

A cell's code is sixteen integers: for each of its intermediate nodes 2, 3, 4, 5 the pair ``(input, operation)`` of its
two incoming edges, the smaller input first. Nodes 0 and 1 are the outputs of the two cells before; all four
intermediate nodes are concatenated.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, lru_cache
from itertools import combinations, permutations, product

import numpy as np
from numpy.typing import NDArray

OPERATIONS = (
    "max_pool_3x3",
    "avg_pool_3x3",
    "skip_connect",
    "sep_conv_3x3",
    "sep_conv_5x5",
    "dil_conv_3x3",
    "dil_conv_5x5",
)
PARAMETER_FREE = OPERATIONS[:3]
INPUTS = 2
NODES = (2, 3, 4, 5)
CELL_LENGTH = 4 * len(NODES)
EDGE_OFFSET = {2: 0, 3: 2, 4: 5, 5: 9}
"""The id of edge source→node, among the fourteen possible ones, is this offset plus the source."""

EDGES = tuple((source, node) for node in NODES for source in range(node))
"""(source, node) of the fourteen, by their ids."""

EDGE_COUNT = len(EDGES)
PAIRS = {node: tuple(combinations(range(node), 2)) for node in NODES}
"""The two distinct inputs that a node can have."""

CellCode = tuple[int, ...]


def node_edges(cell: CellCode) -> Iterator[tuple[int, int, int]]:
    """(node, input, operation) of the eight edges."""
    for place, node in enumerate(NODES):
        first, op_first, second, op_second = cell[4 * place : 4 * place + 4]
        yield node, first, op_first
        yield node, second, op_second


def with_edges(edges: list[tuple[int, int]]) -> CellCode:
    """The code of eight (input, operation) pairs, two a node, each node's sorted by input."""
    code: list[int] = []
    for place in range(len(NODES)):
        for source, op in sorted(edges[2 * place : 2 * place + 2]):
            code += (source, op)
    return tuple(code)


@lru_cache(maxsize=1 << 16)
def canonical_cell(cell: CellCode) -> CellCode:
    """The smallest code among the orders of the intermediate nodes in which every edge still points forward.

    Renumbering intermediate nodes only permutes the channels of the cell's output, which the next cell's 1x1
    convolutions absorb.
    """
    return min(renumbered(cell))


def canonical_cells(cells: NDArray[np.int64]) -> NDArray[np.int64]:
    """:func:`canonical_cell` of a batch ``[n, 16]``. Read as a number in base 8, the smallest code is smallest."""
    patterns, pattern_of = np.unique(cells[:, ::2], axis=0, return_inverse=True)
    smallest = np.full(len(cells), np.iinfo(np.int64).max)
    for number, pattern in enumerate(map(tuple, patterns.tolist())):
        rows = np.flatnonzero(pattern_of.ravel() == number)
        operations = cells[rows, 1::2]
        for order in _orders(pattern):
            place = {0: 0, 1: 1, **{node: at for at, node in enumerate(order, start=INPUTS)}}
            key = np.zeros(len(rows), dtype=np.int64)
            for node in order:
                edge = 2 * (node - INPUTS)
                one = 8 * place[pattern[edge]] + operations[:, edge]
                other = 8 * place[pattern[edge + 1]] + operations[:, edge + 1]
                key = 64 * (64 * key + np.minimum(one, other)) + np.maximum(one, other)
            smallest[rows] = np.minimum(smallest[rows], key)
    digits: NDArray[np.int64] = smallest[:, None] >> 3 * np.arange(CELL_LENGTH)[::-1] & 7
    return digits


def renumbered(cell: CellCode) -> Iterator[CellCode]:
    """The cell in every order of its intermediate nodes in which all edges point forward; equal codes may repeat."""
    for order in _orders(cell[::2]):
        number = {0: 0, 1: 1, **{node: place for place, node in enumerate(order, start=2)}}
        code: CellCode = ()
        for node in order:
            first, op_first, second, op_second = cell[4 * (node - 2) : 4 * (node - 2) + 4]
            one, other = (number[first], op_first), (number[second], op_second)
            code += (*one, *other) if one <= other else (*other, *one)
        yield code


@cache
def _orders(sources: tuple[int, ...]) -> tuple[tuple[int, ...], ...]:
    """The orders of the intermediate nodes in which each follows its two sources; there are 180 choices of sources."""
    return tuple(
        order
        for order in permutations(NODES)
        if all(
            source in (0, 1, *order[: order.index(node)])
            for node in NODES
            for source in sources[2 * (node - 2) : 2 * (node - 2) + 2]
        )
    )


def cell_count(operations: int = len(OPERATIONS)) -> int:
    """How many cells there are: 3·6·10 choices of inputs, eight operations."""
    topologies = 1
    for pairs in PAIRS.values():
        topologies *= len(pairs)
    return topologies * int(operations ** (2 * len(NODES)))


@lru_cache
def unique_cell_count(operations: int = len(OPERATIONS)) -> int:
    """How many cells there are up to isomorphism, by Burnside's lemma on the automorphisms of each topology."""
    total = 0
    for topology in _topologies():
        images = [_image(topology, order) for order in permutations(NODES)]
        forward = [image for image in images if all(source < target for source, target in image)]
        if topology != min(tuple(sorted(image)) for image in forward):
            continue
        automorphisms = [image for image in images if tuple(sorted(image)) == topology]
        fixed = sum(operations ** _cycles(topology, image) for image in automorphisms)
        total += fixed // len(automorphisms)
    return total


Topology = tuple[tuple[int, int], ...]


def _topologies() -> Iterator[Topology]:
    for pairs in product(*PAIRS.values()):
        yield tuple(sorted((source, node) for node, pair in zip(NODES, pairs, strict=True) for source in pair))


def _image(topology: Topology, order: tuple[int, ...]) -> list[tuple[int, int]]:
    """Where a renumbering of the intermediate nodes takes each edge."""
    number = {0: 0, 1: 1, **dict(zip(NODES, order, strict=True))}
    return [(number[source], number[target]) for source, target in topology]


def _cycles(topology: Topology, image: list[tuple[int, int]]) -> int:
    """The number of cycles of a permutation of the edges."""
    moves = dict(zip(topology, image, strict=True))
    cycles = 0
    while moves:
        cycles += 1
        edge = next(iter(moves))
        while edge in moves:
            edge = moves.pop(edge)
    return cycles
