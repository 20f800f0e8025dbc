"""The module hash of NAS-Bench-101: equal exactly for isomorphic cells, and the key of the published table.

Each vertex starts from the digest of its degrees and label, then absorbs the sorted digests of its neighbours once for
every vertex in the cell. All texts are hexadecimal, as published.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from hashlib import md5

import numpy as np
from numpy.typing import NDArray

from nasbed.spaces.nb101.cell import Compact, predecessors

INPUT_LABEL, OUTPUT_LABEL = -1, -2
CHUNK = 4096


def module_hash(cell: Compact) -> str:
    """The hash of one cell.

    >>> module_hash(Compact(edges=1, ops=()))
    '043721b9c7fe8c5fad811d47d83132ec'
    """
    vertices = range(cell.vertices)
    sources = [[x for x in range(y) if predecessors(cell.edges, y) >> x & 1] for y in vertices]
    return graph_hash(sources, (INPUT_LABEL, *cell.ops, OUTPUT_LABEL))


def graph_hash(sources: Sequence[Sequence[int]], labels: Sequence[object]) -> str:
    """The same of any directed graph: ``sources`` has the vertices with an edge into each vertex, ``labels`` has its
    label. Only the text of a label counts.

    >>> graph_hash([[], [0]], [-1, -2])
    '043721b9c7fe8c5fad811d47d83132ec'
    """
    vertices = range(len(labels))
    targets = [[target for target in vertices if vertex in sources[target]] for vertex in vertices]
    digests = [_digest(str((len(targets[vertex]), len(sources[vertex]), labels[vertex]))) for vertex in vertices]
    for _ in vertices:
        digests = [
            _digest(
                "".join(sorted(digests[neighbor] for neighbor in sources[vertex]))
                + "|"
                + "".join(sorted(digests[neighbor] for neighbor in targets[vertex]))
                + "|"
                + digests[vertex]
            )
            for vertex in vertices
        ]
    return _digest(str(sorted(digests)))


def _digest(text: str) -> str:
    return md5(text.encode(), usedforsecurity=False).hexdigest()


def module_hashes(codes: NDArray[np.int64]) -> NDArray[np.str_]:
    """The hashes of a batch of seven-vertex codes, on all cores."""
    from nasbed.spaces.nb101.hashing_kernel import hash_cells

    codes = np.require(codes, requirements=["C", "W"])  # the kernel is compiled once more for read-only codes
    text = np.empty((len(codes), 32), dtype=np.uint8)
    starts = range(0, len(codes), CHUNK)

    def hash_chunk(start: int) -> None:
        hash_cells(codes[start : start + CHUNK], START_DIGESTS, text[start : start + CHUNK])

    if len(codes) <= CHUNK:
        hash_cells(codes, START_DIGESTS, text)
    else:
        hash_chunk(0)
        with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
            list(pool.map(hash_chunk, starts[1:]))
    return text.view("S32").reshape(len(codes)).astype("U32")


def _start_digests() -> NDArray[np.uint8]:
    """The first digest of a vertex, as hexadecimal bytes, by [out-degree, in-degree, label + 2]."""
    table = np.empty((7, 7, 5, 32), dtype=np.uint8)
    for out_degree in range(7):
        for in_degree in range(7):
            for label in range(-2, 3):
                text = _digest(str((out_degree, in_degree, label)))
                table[out_degree, in_degree, label + 2] = np.frombuffer(text.encode(), dtype=np.uint8)
    return table


START_DIGESTS = _start_digests()
