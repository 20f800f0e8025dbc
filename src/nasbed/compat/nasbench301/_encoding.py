"""Architectures as the published models see them: the rows of the published ConfigSpace."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nasbed.compat.nasbench301._fixed_settings import SETTING_FEATURES
from nasbed.spaces.base import Codes
from nasbed.spaces.darts.cell import CELL_LENGTH, EDGE_COUNT, NODES, PAIRS
from nasbed.spaces.darts.features import edge_operations
from nasbed.spaces.darts.genotype import CELL_KINDS
from nasbed.spaces.darts.space import CONFIG_PREFIX


def _columns() -> tuple[str, ...]:
    """The names of the features in order: parameters without a condition by their names, then the others by theirs.
    Edges 0 and 1 of a cell lead to its first node, which has no choice of inputs, and so have no condition."""
    inputs = [f"{CONFIG_PREFIX}inputs_node_{kind}_{node}" for kind in CELL_KINDS for node in NODES[1:]]
    edges = [[f"{CONFIG_PREFIX}edge_{kind}_{edge}" for edge in range(EDGE_COUNT)] for kind in CELL_KINDS]
    free = [*SETTING_FEATURES, *inputs, *edges[0][:2], *edges[1][:2]]
    return (*sorted(free), *sorted(edges[0][2:] + edges[1][2:]))


COLUMNS = _columns()
_PLACE = {name: place for place, name in enumerate(COLUMNS)}


def published_rows(codes: Codes) -> NDArray[np.float32]:
    """The features of architectures of darts, ``[n, 56]``: the number of each chosen option, -1 where an edge is not
    chosen, and the fixed training settings."""
    rows = np.empty((len(codes), len(COLUMNS)), dtype=np.float32)
    for name, feature in SETTING_FEATURES.items():
        rows[:, _PLACE[name]] = feature
    edges = edge_operations(codes)
    for cell, kind in enumerate(CELL_KINDS):
        for edge in range(EDGE_COUNT):
            rows[:, _PLACE[f"{CONFIG_PREFIX}edge_{kind}_{edge}"]] = edges[:, cell * EDGE_COUNT + edge]
        for place, node in enumerate(NODES[1:], start=1):
            start = cell * CELL_LENGTH + 4 * place
            number = np.zeros((node, node), dtype=np.float32)
            for index, pair in enumerate(PAIRS[node]):
                number[pair] = index
            rows[:, _PLACE[f"{CONFIG_PREFIX}inputs_node_{kind}_{node}"]] = number[codes[:, start], codes[:, start + 2]]
    return rows
