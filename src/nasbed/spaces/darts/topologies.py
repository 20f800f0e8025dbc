"""All topologies of a DARTS cell with a few sets of operations (Surrogate NAS Benchmarks, appendix E.7).

Such a list separates what the wiring of a cell does from what its operations do: every topology meets every set.
"""

from __future__ import annotations

from itertools import product

import numpy as np

from nasbed.core.errors import InvalidOption
from nasbed.spaces.base import Codes
from nasbed.spaces.darts.cell import NODES, OPERATIONS, PAIRS

OPERATION_SETS = 10
EDGES_OF_CELL = 2 * len(NODES)


def cell_topologies() -> Codes:
    """The inputs of the eight edges of each topology: 1·3·6·10 = 180, isomorphic ones counted apart.

    >>> cell_topologies().shape
    (180, 8)
    """
    pairs = product(*(PAIRS[node] for node in NODES))
    return np.array([[source for pair in topology for source in pair] for topology in pairs], dtype=np.int64)


def topology_codes(rng: np.random.Generator, *, operation_sets: int = OPERATION_SETS) -> Codes:
    """The codes of every topology with each of several random sets of operations, set by set.

    A set gives each of the eight edges an operation, uniformly at random; no set comes twice. The normal and the
    reduction cell are the same, so that only the topology differs within a set.
    """
    most = len(OPERATIONS) ** EDGES_OF_CELL
    if not 1 <= operation_sets <= most:
        raise InvalidOption(f"a list of topologies has 1 to {most} sets of operations, got {operation_sets}")
    drawn: dict[tuple[int, ...], None] = {}
    while len(drawn) < operation_sets:
        drawn.setdefault(tuple(rng.integers(len(OPERATIONS), size=EDGES_OF_CELL).tolist()))
    sources, operations = cell_topologies(), np.array(list(drawn), dtype=np.int64)
    cells = np.empty((operation_sets, len(sources), 2 * EDGES_OF_CELL), dtype=np.int64)
    cells[:, :, 0::2] = sources
    cells[:, :, 1::2] = operations[:, None]
    return np.tile(cells, 2).reshape(-1, 4 * EDGES_OF_CELL)


def same_cells(codes: Codes) -> tuple[Codes, Codes, Codes]:
    """The architectures whose two cells are the same: their rows, the topologies and the sets of operations."""
    normal, reduction = np.split(codes, 2, axis=1)
    rows = np.flatnonzero((normal == reduction).all(axis=1))
    return rows, normal[rows, 0::2], normal[rows, 1::2]
