"""Architectures as rows of numbers for the models that are not graph networks: blocks of columns, joined by name."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from nasbed.core.errors import InvalidOption, nearest
from nasbed.spaces.base import SearchSpace
from nasbed.surrogates.structure import structure

Codes = NDArray[np.int64]
Block = NDArray[np.float32]


def costs(space: SearchSpace, codes: Codes) -> Block:
    """The logarithms of the parameters and multiply-adds, exact, where the space knows them."""
    columns: Block = np.log1p(space.costs(codes)).astype(np.float32)
    return columns


def counts(space: SearchSpace, codes: Codes) -> Block:
    """How often each operation occurs."""
    graphs = space.graphs(codes)
    nodes = [(graphs.node_labels == label).sum(axis=1) for label in range(len(graphs.node_names))]
    edges = [(graphs.edge_labels == label).sum(axis=(1, 2)) for label in range(len(graphs.edge_names))]
    return np.stack([*nodes, *edges], axis=1).astype(np.float32)


BLOCKS: dict[str, Callable[[SearchSpace, Codes], Block]] = {
    "onehot": lambda space, codes: space.encode(codes, "onehot"),
    "config": lambda space, codes: space.encode(codes, "config"),
    "path": lambda space, codes: space.encode(codes, "path"),
    "costs": costs,
    "counts": counts,
    "structure": structure,
}


class Features:
    """Blocks named with ``+`` between them, such as ``onehot+costs``; a column that does not apply is NaN."""

    def __init__(self, space: SearchSpace, blocks: str) -> None:
        self.space = space
        self.blocks = blocks
        self._parts = []
        for name in blocks.split("+"):
            if name not in BLOCKS:
                raise InvalidOption(f"no block of features is called {name!r}; {nearest(name, BLOCKS)}")
            self._parts.append(BLOCKS[name])

    def __reduce__(self) -> tuple[type[Features], tuple[SearchSpace, str]]:
        return type(self), (self.space, self.blocks)

    def __call__(self, codes: Codes) -> Block:
        """One row an architecture, ``[n, columns]``."""
        parts = [part(self.space, codes) for part in self._parts]
        return parts[0] if len(parts) == 1 else np.concatenate(parts, axis=1)
