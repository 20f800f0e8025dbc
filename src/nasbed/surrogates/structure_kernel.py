"""The loops of :mod:`nasbed.surrogates.structure`, as plain functions that numba can compile. The first rows of a
process are described without it, so that a first query does not wait for the compiler."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nasbed.core.arrays import numba_compiled

SIGNATURE = "void(int8[:,::1], int8[:,:,::1], int64[::1], int64[::1], int64, int64, int64, boolean, float32[:,::1])"

Labels = NDArray[np.int64]
"""Of each node: 0 for the source, 1 for the sink, from 2 on an operation, -1 for what passes its input on unchanged."""
Ways = NDArray[np.float64]
"""How many edges lead from a node to another, ``[nodes, nodes]``."""
Alive = NDArray[np.bool_]
"""Whether a node lies on a path from the source to the sink."""
Features = NDArray[np.float32]

FAR = 1e9
LENGTHS = 3
"""Walks of 1, 2 and 3 steps are counted."""


def width(labels: int) -> int:
    """The number of columns for graphs with this many labels, those of the source and the sink included."""
    return LENGTHS * labels * labels + 2 * (labels + 1) + 11 * labels + 1


def _contract(label: Labels, ways: Ways, size: int) -> None:
    """Connect past the nodes that pass their input on unchanged."""
    for t in range(1, size - 1):
        if label[t] == -1:
            for a in range(t):
                if ways[a, t] > 0:
                    for b in range(t + 1, size):
                        ways[a, b] += ways[a, t] * ways[t, b]
                    ways[a, t] = 0
            for b in range(t + 1, size):
                ways[t, b] = 0


def _walks(label: Labels, ways: Ways, alive: Alive, size: int, labels: int, features: Features) -> int:
    """How often an operation of one label leads to one of another in 1, 2 and 3 steps."""
    for u in range(size):
        if not alive[u]:
            continue
        reach = np.zeros(size)
        reach[u] = 1
        for length in range(LENGTHS):
            following = np.zeros(size)
            for v in range(size):
                if reach[v] > 0:
                    for w in range(v + 1, size):
                        if alive[w]:
                            following[w] += reach[v] * ways[v, w]
            reach = following
            for w in range(size):
                if reach[w] > 0:
                    features[(length * labels + label[u]) * labels + label[w]] += reach[w]
    return LENGTHS * labels * labels


def _longest_and_shortest(
    label: Labels, ways: Ways, alive: Alive, size: int, labels: int, features: Features, at: int
) -> int:
    """The most and the fewest operations on a path, of all labels together and of each."""
    sink = size - 1
    for operation in range(1, labels + 1):  # the last one is all operations
        most = np.full(size, -FAR)
        least = np.full(size, FAR)
        most[0] = least[0] = 0
        for v in range(1, size):
            if not alive[v]:
                continue
            own = 1.0 if v != sink and (operation == labels or label[v] == operation) else 0.0
            for u in range(v):
                if ways[u, v] > 0 and alive[u]:
                    most[v] = max(most[v], most[u] + own)
                    least[v] = min(least[v], least[u] + own)
        if alive[sink]:
            features[at + 2 * operation] = most[sink]
            features[at + 2 * operation + 1] = least[sink]
    return at + 2 * (labels + 1)


def _describe_one(label: Labels, ways: Ways, size: int, labels: int, features: Features) -> None:
    features[:] = 0
    sink = size - 1
    before = np.zeros(size)  # paths from the source
    after = np.zeros(size)  # paths to the sink
    before[0] = 1
    after[sink] = 1
    for v in range(1, size):
        for u in range(v):
            before[v] += before[u] * ways[u, v]
    for v in range(size - 2, -1, -1):
        for w in range(v + 1, size):
            after[v] += ways[v, w] * after[w]
    alive = np.zeros(size, np.bool_)
    for v in range(size):
        alive[v] = label[v] >= 0 and before[v] > 0 and after[v] > 0
    at = _walks(label, ways, alive, size, labels, features)
    at = _longest_and_shortest(label, ways, alive, size, labels, features, at)
    for v in range(size):
        if not alive[v]:
            continue
        into, out = 0.0, 0.0
        for u in range(size):
            if alive[u]:
                into += ways[u, v]
                out += ways[v, u]
        for quantity in range(5):
            value = into
            if quantity == 1:
                value = out
            elif quantity == 2:
                value = before[v]
            elif quantity == 3:
                value = after[v]
            elif quantity == 4:
                value = before[v] * after[v]
            place = at + 2 * quantity * labels + label[v]
            features[place] += value
            features[place + labels] = max(features[place + labels], value)
        features[at + 10 * labels + label[v]] += 1
    at += 11 * labels
    features[at] = np.log1p(before[sink])


def describe(
    node_labels: NDArray[np.int8],
    edge_labels: NDArray[np.int8],
    node_kinds: NDArray[np.int64],
    edge_kinds: NDArray[np.int64],
    input_label: int,
    output_label: int,
    labels: int,
    on_edges: bool,
    features: Features,
) -> None:
    """Fill one row of ``features`` for each graph. A kind is the label of an operation, from 2 on, or -1 for one that
    passes its input on unchanged. The labels of the source and the sink are 0 and 1.

    Args:
        node_labels: Of each graph and node slot, ``[n, slots]``; -1 where there is no node.
        edge_labels: Of each pair of slots, ``[n, slots, slots]``; -1 where there is no edge.
        node_kinds: The kind of each node label, where operations are on the nodes.
        edge_kinds: The kind of each edge label, where they are on the edges.
        input_label: The node label of the source.
        output_label: The node label of the sink.
        labels: How many kinds there are, those of source and sink included.
        on_edges: Whether operations are on the edges.
        features: What is filled in, ``[n, width(labels)]``.
    """
    count, slots = node_labels.shape
    most = 2 + (slots * (slots - 1) // 2 if on_edges else slots)
    label = np.empty(most, np.int64)
    tail = np.empty(most, np.int64)
    head = np.empty(most, np.int64)
    ways = np.empty((most, most), np.float64)
    for row in range(count):
        size = 1
        label[0] = 0
        if on_edges:
            for i in range(slots):
                for j in range(i + 1, slots):
                    if edge_labels[row, i, j] >= 0:
                        label[size] = edge_kinds[edge_labels[row, i, j]]
                        tail[size], head[size] = i, j
                        size += 1
        else:
            for i in range(slots):
                if (
                    node_labels[row, i] >= 0
                    and node_labels[row, i] != input_label
                    and node_labels[row, i] != output_label
                ):
                    label[size] = node_kinds[node_labels[row, i]]
                    tail[size] = i
                    size += 1
        sink = size
        label[sink] = 1
        size += 1
        ways[:size, :size] = 0
        if on_edges:
            for a in range(1, sink):
                if node_labels[row, tail[a]] == input_label:
                    ways[0, a] = 1
                if node_labels[row, head[a]] == output_label:
                    ways[a, sink] = 1
                for b in range(a + 1, sink):
                    if head[a] == tail[b]:
                        ways[a, b] = 1
        else:
            for i in range(slots):
                for j in range(i + 1, slots):
                    if edge_labels[row, i, j] >= 0:
                        a, b = 0, sink
                        for v in range(1, sink):
                            if tail[v] == i:
                                a = v
                            if tail[v] == j:
                                b = v
                        ways[a, b] += 1
        _contract(label, ways, size)
        _describe_one(label, ways, size, labels, features[row])


PLAIN_ROWS = 100
"""How many graphs a process describes without a compiler, some milliseconds each at the most."""

_described_count = 0


def describe_quickly(*arguments: Any) -> None:
    """:func:`describe`, compiled once there are enough graphs to make that worth it; the numbers are the same."""
    global _described_count  # noqa: PLW0603
    _described_count = min(_described_count + len(arguments[0]), PLAIN_ROWS + 1)
    (describe if _described_count <= PLAIN_ROWS else _compiled())(*arguments)


@lru_cache
def _compiled() -> Callable[..., None]:
    from numba.extending import register_jitable

    for part in (_contract, _walks, _longest_and_shortest, _describe_one):
        register_jitable(part)
    return numba_compiled(SIGNATURE)(describe)
