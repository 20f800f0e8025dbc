"""Every labelled encoding of a NAS-Bench-101 cell: the points of the paper's 2²¹ · 3⁵ that decode to it (section 2.2).

An encoding is a seven-vertex matrix with five labels, unpruned. So a cell has one encoding for each order of its
vertices and, if it has fewer than seven vertices, for each way to attach the others without a path through them.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from nasbed.spaces.nb101.canonical import forward_orders, kept_batch
from nasbed.spaces.nb101.cell import ALL_EDGES, FIRST_BIT, LAST, MAX_VERTICES, OPERATIONS, Compact, edge_pairs


def labelled_numbers(cell: Compact) -> NDArray[np.int64]:
    """The numbers of all labelled encodings that pruning and isomorphism turn into a pruned cell, each once.

    The number of an encoding is its labels, read as a number of base 3, times 2²¹ plus its edges.

    >>> path = Compact(edges=1 | 1 << 2 | 1 << 5 | 1 << 9 | 1 << 14 | 1 << 20, ops=(0, 0, 0, 0, 2))
    >>> [number - path.edges >> 21 for number in labelled_numbers(path).tolist()]
    [2]
    """
    forms = [Compact(*form) for form in sorted(set(forward_orders(cell)))]
    interior = range(1, LAST)
    worth = [len(OPERATIONS) ** (LAST - 1 - vertex) for vertex in interior]
    blocks = []
    for places in combinations(interior, cell.vertices - 2):
        spare = [vertex for vertex in interior if vertex not in places]
        numbers = (0, *places, LAST)
        kept = sum(1 << number for number in numbers)
        attached = _edge_subsets(spare)
        free_labels = _labellings([worth[vertex - 1] for vertex in spare])
        for form in forms:
            own = sum(1 << (FIRST_BIT[numbers[target]] + numbers[source]) for source, target in edge_pairs(form))
            edges = own | attached
            edges = edges[kept_batch(edges) == kept]
            labels = free_labels + sum(op * worth[place - 1] for op, place in zip(form.ops, places, strict=True))
            blocks.append((labels[:, None] << ALL_EDGES | edges).ravel())
    return np.concatenate(blocks)


def _edge_subsets(spare: list[int]) -> NDArray[np.int64]:
    """Every set of edges that start or end at one of these vertices."""
    subsets = np.zeros(1, dtype=np.int64)
    for target in range(1, MAX_VERTICES):
        for source in range(target):
            if source in spare or target in spare:
                subsets = np.concatenate([subsets, subsets | 1 << (FIRST_BIT[target] + source)])
    return subsets


def _labellings(worth: list[int]) -> NDArray[np.int64]:
    """The number of every choice of operations for vertices whose labels are worth so much."""
    numbers = np.zeros(1, dtype=np.int64)
    for factor in worth:
        numbers = (numbers[:, None] + factor * np.arange(len(OPERATIONS))).ravel()
    return numbers
