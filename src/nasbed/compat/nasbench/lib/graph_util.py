"""Labelled graphs as adjacency matrices: NAS-Bench-101's ``graph_util``.

Unlike the published functions these take nested lists too, and a hash does not depend on whether a matrix or its labels
are numbers of Python or of numpy. Two graphs are compared by a search that stops early, not over all permutations.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nasbed.core.errors import InvalidOption
from nasbed.spaces.nb101.cell import first_bit
from nasbed.spaces.nb101.hashing import graph_hash

LabelledGraph = tuple[ArrayLike, Sequence[Any]]


def gen_is_edge_fn(bits: int) -> Callable[..., NDArray[np.int64]]:
    """A function of two vertices x and y, or of arrays of them: 1 where ``bits`` has the edge x→y, else 0.

    The edge x→y with x < y is bit ``x + y(y-1)/2``, whatever the size of the matrix.
    """

    def has_edge(source: int, target: int) -> int:
        return bits >> (first_bit(target) + source) & 1 if source < target else 0

    return np.vectorize(has_edge, otypes=[np.int64])


def is_full_dag(matrix: ArrayLike) -> bool:
    """Whether each vertex but the last has an edge out and each but the first an edge in. In an upper-triangular matrix
    every vertex then lies on a path from the first to the last."""
    edges = np.asarray(matrix) != 0
    return bool(edges[:-1].any(axis=1).all() and edges[:, 1:].any(axis=0).all())


def num_edges(matrix: ArrayLike) -> Any:
    """The sum of a matrix."""
    return np.sum(np.asarray(matrix))


def hash_module(matrix: ArrayLike, labeling: Sequence[Any] | NDArray[Any]) -> str:
    """The module hash of any directed graph with a label for each vertex: equal for isomorphic graphs."""
    edges = _edges(matrix, labeling)
    sources = [np.flatnonzero(column).tolist() for column in edges.T]
    return graph_hash(sources, [_plain(label) for label in labeling])


def permute_graph(
    graph: ArrayLike, label: Sequence[Any], permutation: Sequence[int]
) -> tuple[NDArray[np.bool_], list[Any]]:
    """The graph in which the vertex ``permutation[v]`` is the vertex v of this one, and its labels."""
    edges = np.asarray(graph) == 1
    places = [int(place) for place in permutation]
    if sorted(places) != list(range(len(label))) or edges.shape != (len(label), len(label)):
        raise InvalidOption(
            f"a permutation has each vertex of the graph once, got {places} for {len(label)} labels and a matrix of "
            f"shape {edges.shape}"
        )
    originals = np.argsort(places)
    return edges[np.ix_(originals, originals)], [label[vertex] for vertex in originals.tolist()]


def is_isomorphic(graph1: LabelledGraph, graph2: LabelledGraph) -> bool:
    """Whether some renumbering of the vertices of one graph (a matrix and labels) gives the other, labels included."""
    (matrix1, labels1), (matrix2, labels2) = graph1, graph2
    edges1, edges2 = _edges(matrix1, labels1), _edges(matrix2, labels2)
    if len(labels1) != len(labels2):
        raise InvalidOption(f"two graphs to compare have one size, got {len(labels1)} and {len(labels2)} vertices")
    kinds1, kinds2 = _kinds(edges1, labels1), _kinds(edges2, labels2)
    if sorted(map(repr, kinds1)) != sorted(map(repr, kinds2)):
        return False
    chosen: list[int] = []

    def fits(candidate: int) -> bool:
        """Whether the next vertex of the first graph may be this one of the second."""
        vertex = len(chosen)
        if candidate in chosen or kinds1[vertex] != kinds2[candidate]:
            return False
        return all(
            edges1[vertex, other] == edges2[candidate, place] and edges1[other, vertex] == edges2[place, candidate]
            for other, place in enumerate(chosen)
        )

    def matches() -> bool:
        if len(chosen) == len(labels1):
            return True
        for candidate in range(len(labels2)):
            if fits(candidate):
                chosen.append(candidate)
                if matches():
                    return True
                chosen.pop()
        return False

    return matches()


def _edges(matrix: ArrayLike, labels: Sequence[Any] | NDArray[Any]) -> NDArray[np.bool_]:
    edges: NDArray[np.bool_] = np.asarray(matrix) != 0
    if edges.shape != (len(labels), len(labels)):
        raise InvalidOption(f"a graph has a square matrix and a label a vertex, got {edges.shape} and {len(labels)}")
    return edges


def _kinds(edges: NDArray[np.bool_], labels: Sequence[Any]) -> list[tuple[Any, ...]]:
    """What a renumbering keeps of each vertex: its label, its degrees and whether it has a loop."""
    degrees = zip(edges.sum(axis=0).tolist(), edges.sum(axis=1).tolist(), edges.diagonal().tolist(), strict=True)
    return [(_plain(label), *degree) for label, degree in zip(labels, degrees, strict=True)]


def _plain(label: Any) -> Any:
    return label.item() if isinstance(label, np.generic) else label
