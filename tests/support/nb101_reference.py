"""NAS-Bench-101 in plain Python, written from the paper and apart from the package: what the fast paths are held to."""

from __future__ import annotations

from hashlib import md5
from itertools import permutations, product

import networkx as nx

OPS = ("conv3x3-bn-relu", "conv1x1-bn-relu", "maxpool3x3")
Cell = tuple[list[list[int]], list[str]]


def prune(matrix: list[list[int]], ops: list[str]) -> Cell | None:
    """Keep the vertices between input and output; nothing if there is no way through."""
    graph = nx.DiGraph()
    graph.add_nodes_from(range(len(matrix)))
    graph.add_edges_from((x, y) for x, row in enumerate(matrix) for y, bit in enumerate(row) if bit)
    last = len(matrix) - 1
    connected = sorted((nx.descendants(graph, 0) | {0}) & (nx.ancestors(graph, last) | {last}))
    if 0 not in connected or last not in connected:
        return None
    return [[matrix[x][y] for y in connected] for x in connected], [ops[x] for x in connected]


def module_hash(matrix: list[list[int]], ops: list[str]) -> str:
    """The published hash of a pruned cell."""
    count = len(matrix)
    labels = [-1, *(OPS.index(op) for op in ops[1:-1]), -2]
    into = [[x for x in range(count) if matrix[x][y]] for y in range(count)]
    out = [[y for y in range(count) if matrix[x][y]] for x in range(count)]
    digests = [md5(str((len(out[v]), len(into[v]), labels[v])).encode()).hexdigest() for v in range(count)]
    for _ in range(count):
        digests = [
            md5(
                "|".join(
                    [
                        "".join(sorted(digests[w] for w in into[v])),
                        "".join(sorted(digests[w] for w in out[v])),
                        digests[v],
                    ]
                ).encode()
            ).hexdigest()
            for v in range(count)
        ]
    return md5(str(sorted(digests)).encode()).hexdigest()


def as_graph(matrix: list[list[int]], ops: list[str]) -> nx.DiGraph:
    graph = nx.DiGraph()
    graph.add_nodes_from((v, {"op": op}) for v, op in enumerate(ops))
    graph.add_edges_from((x, y) for x, row in enumerate(matrix) for y, bit in enumerate(row) if bit)
    return graph


def isomorphic(first: Cell, second: Cell) -> bool:
    """By networkx: the labelled graphs match."""
    return bool(nx.is_isomorphic(as_graph(*first), as_graph(*second), node_match=lambda a, b: bool(a["op"] == b["op"])))


def depth(matrix: list[list[int]]) -> int:
    """The longest path of the pruned cell, by networkx."""
    graph = as_graph(matrix, [""] * len(matrix))
    return int(nx.dag_longest_path_length(graph))


def width(matrix: list[list[int]]) -> int:
    """The largest set of edges without two on a common path: by duality, the largest directed cut."""
    graph = as_graph(matrix, [""] * len(matrix))
    order = nx.DiGraph()
    order.add_nodes_from(graph.edges)
    reach = {v: nx.descendants(graph, v) | {v} for v in graph}
    order.add_edges_from((a, b) for a in graph.edges for b in graph.edges if a != b and b[0] in reach[a[1]])
    return max(len(chain) for chain in nx.antichains(order))


def first_of_each_class(vertices: int) -> list[tuple[int, tuple[int, ...]]]:
    """All unique cells of a number of vertices, as the authors found them: count upward and keep new hashes."""
    pairs = [(x, y) for y in range(vertices) for x in range(y)]
    hashes, cells = set(), []
    for bits in range(1 << len(pairs)):
        matrix = [[0] * vertices for _ in range(vertices)]
        for bit, (x, y) in enumerate(pairs):
            matrix[x][y] = bits >> bit & 1
        if bits.bit_count() > 9:
            continue
        pruned = prune(matrix, ["input", *[OPS[0]] * (vertices - 2), "output"])
        if pruned is None or len(pruned[0]) != vertices:
            continue
        for labels in product(range(3), repeat=vertices - 2):
            digest = module_hash(matrix, ["input", *(OPS[label] for label in labels), "output"])
            if digest not in hashes:
                hashes.add(digest)
                cells.append((bits, labels))
    return cells


def renumbered(matrix: list[list[int]], ops: list[str]) -> list[Cell]:
    """The cell under every order of its interior vertices that leaves the matrix upper triangular."""
    count = len(matrix)
    cells = []
    for interior in permutations(range(1, count - 1)):
        order = [0, *interior, count - 1]
        moved = [[matrix[x][y] for y in order] for x in order]
        if all(not moved[x][y] for x in range(count) for y in range(x + 1)):
            cells.append((moved, [ops[x] for x in order]))
    return cells
