"""DARTS architectures as feature vectors and graphs, over a batch of codes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nasbed.spaces.base import Codes
from nasbed.spaces.darts.cell import CELL_LENGTH, EDGE_COUNT, EDGE_OFFSET, INPUTS, NODES, OPERATIONS, PAIRS
from nasbed.spaces.darts.genotype import CELL_KINDS
from nasbed.spaces.encodings import one_hot, path_offsets
from nasbed.spaces.graph import ABSENT, Graphs

OPS = len(OPERATIONS)
OUTPUT = NODES[-1] + 1
CELL_NODES = OUTPUT + 1


def edge_operations(codes: Codes) -> Codes:
    """The operation on each of the 2·14 possible edges, or -1: ``[n, 28]``."""
    operations = np.full((len(codes), 2 * EDGE_COUNT), -1, dtype=np.int64)
    rows = np.arange(len(codes))
    for position in range(0, 2 * CELL_LENGTH, 2):
        cell, within = divmod(position, CELL_LENGTH)
        node = NODES[within // 4]
        operations[rows, cell * EDGE_COUNT + EDGE_OFFSET[node] + codes[:, position]] = codes[:, position + 1]
    return operations


def onehot(codes: Codes) -> NDArray[np.float32]:
    """Seven indicators for each possible edge: 196."""
    return one_hot(edge_operations(codes), [OPS] * 2 * EDGE_COUNT)


def config_columns(codes: Codes) -> dict[str, NDArray[np.float32]]:
    """The value of each parameter of the configuration space, without its prefix, scaled to [0, 1]; NaN where
    inactive."""
    edges = edge_operations(codes).astype(np.float32) / np.float32(OPS - 1)
    edges[edges < 0] = np.nan
    columns: dict[str, NDArray[np.float32]] = {}
    for cell, kind in enumerate(CELL_KINDS):
        for edge in range(EDGE_COUNT):
            columns[f"edge_{kind}_{edge}"] = edges[:, cell * EDGE_COUNT + edge]
        for place, node in enumerate(NODES[1:], start=1):
            start = cell * CELL_LENGTH + 4 * place
            scaled = np.zeros((node, node), dtype=np.float32)
            for index, pair in enumerate(PAIRS[node]):
                scaled[pair] = index / (len(PAIRS[node]) - 1)
            columns[f"inputs_node_{kind}_{node}"] = scaled[codes[:, start], codes[:, start + 2]]
    return columns


def paths(codes: Codes) -> NDArray[np.float32]:
    """One bit for each cell, input and sequence of up to four operations: 4·Σ7ⁱ = 11 204.

    Walk back from each node, once for every way to choose between the two edges of the nodes on the way.
    """
    offsets = path_offsets(OPS, len(NODES))
    bits = int(offsets[-1])
    features = np.zeros((len(codes), 2 * INPUTS * bits), dtype=np.float32)
    rows = np.arange(len(codes))
    for cell in range(2):
        for end in NODES:
            for choice in range(1 << (end - 1)):
                node = np.full(len(codes), end)
                sequence = np.zeros(len(codes), dtype=np.int64)
                length = np.zeros(len(codes), dtype=np.int64)
                for _ in NODES:
                    walking = node >= INPUTS
                    place = np.maximum(node - INPUTS, 0)
                    column = cell * CELL_LENGTH + 4 * place + 2 * (choice >> place & 1)
                    sequence += np.where(walking, codes[rows, column + 1] * OPS**length, 0)
                    length += walking
                    node = np.where(walking, codes[rows, column], node)
                features[rows, (INPUTS * cell + node) * bits + offsets[length] + sequence] = 1
    return features


def graphs(codes: Codes) -> Graphs:
    """Both cells in one graph of fourteen nodes, as in appendix E.1 of Surrogate NAS Benchmarks. The output of each
    cell leads to the inputs of the other, and the normal cell's output to itself."""
    nodes = np.tile(np.array([0, 0, 1, 1, 1, 1, 2] * 2, dtype=np.int8), (len(codes), 1))
    edges = np.full((len(codes), 2 * CELL_NODES, 2 * CELL_NODES), ABSENT, dtype=np.int8)
    rows = np.arange(len(codes))
    concat, link = OPS, OPS + 1
    for cell in range(2):
        first, second = cell * CELL_NODES, (1 - cell) * CELL_NODES
        for within in range(0, CELL_LENGTH, 2):
            position = cell * CELL_LENGTH + within
            edges[rows, first + codes[:, position], first + NODES[within // 4]] = codes[:, position + 1]
        edges[:, first + NODES[0] : first + OUTPUT, first + OUTPUT] = concat
        edges[:, first + OUTPUT, second : second + INPUTS] = link
    edges[:, OUTPUT, OUTPUT] = link
    return Graphs(nodes, edges, ("input", "intermediate", "output"), (*OPERATIONS, "concat", "link"))
