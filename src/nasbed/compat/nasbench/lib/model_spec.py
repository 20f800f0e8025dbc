"""A cell as NAS-Bench-101 scripts write it: an adjacency matrix and a list of operations, pruned when it is made.

Unlike the published class it takes tuples and arrays of operations, and its hash does not depend on whether the matrix
holds integers, floats or booleans.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nasbed.compat.nasbench.lib.graph_util import hash_module
from nasbed.core.errors import InvalidArchitecture, InvalidOption, nearest, shorten
from nasbed.spaces.nb101.cell import MAX_VERTICES, Compact, edges_from_pairs
from nasbed.spaces.nb101.hashing import INPUT_LABEL, OUTPUT_LABEL


class ModelSpec:
    """``matrix`` and ``ops`` are the pruned cell, ``None`` where no path leads from input to output; then
    ``valid_spec`` is false. Whether a cell is in the space is another question: ``NASBench.is_valid`` answers it."""

    matrix: NDArray[Any] | None
    ops: list[str] | None

    def __init__(self, matrix: ArrayLike, ops: Sequence[str], data_format: str = "channels_last") -> None:
        array = np.array(matrix)
        _check_matrix(array, len(ops))
        self.original_matrix = array
        self.original_ops = list(ops)
        self.data_format = data_format
        self._prune()

    def _prune(self) -> None:
        """Set ``matrix``, ``ops`` and ``valid_spec``: the original cell without the vertices on no path from the first
        to the last."""
        vertices = _on_some_path(self.original_matrix.tolist())
        self.valid_spec = len(vertices) >= 2
        self.matrix = self.original_matrix[np.ix_(vertices, vertices)] if self.valid_spec else None
        self.ops = [self.original_ops[vertex] for vertex in vertices] if self.valid_spec else None

    def hash_spec(self, canonical_ops: Sequence[str]) -> str:
        """The published module hash, of a cell of any size. The label of an operation is its place in
        ``canonical_ops``: only with the order of ``config["available_ops"]`` is the hash that of the published
        table."""
        labels = _labels(self, canonical_ops)
        assert self.matrix is not None
        return hash_module(self.matrix, (INPUT_LABEL, *labels, OUTPUT_LABEL))

    def visualize(self) -> NoReturn:
        """Cells are drawn without graphviz: by ``nasbed space draw`` and in notebooks."""
        raise InvalidOption(
            "this drop-in draws nothing by graphviz; `nasbed space draw nb101 CELL --out FILE` does, and a notebook "
            'shows what nasbed.space("nb101").from_native((matrix, ops)) returns'
        )

    def __repr__(self) -> str:
        return f"ModelSpec({self.original_matrix.tolist()}, {self.original_ops})"


def is_upper_triangular(matrix: ArrayLike) -> bool:
    """Whether a matrix is 0 on and below its diagonal."""
    return not np.tril(np.asarray(matrix)).any()


def compact(spec: Any, operations: Sequence[str]) -> Compact:
    """The pruned cell of a spec, or of anything else with its attributes."""
    if spec.valid_spec and len(spec.ops) > MAX_VERTICES:
        raise InvalidArchitecture(f"a cell has at most {MAX_VERTICES} vertices, got {len(spec.ops)} after pruning")
    labels = _labels(spec, operations)
    rows = spec.matrix.tolist()
    pairs = [(source, target) for source, row in enumerate(rows) for target, edge in enumerate(row) if edge]
    return Compact(edges_from_pairs(pairs), labels)


def _labels(spec: Any, operations: Sequence[str]) -> tuple[int, ...]:
    """The number of the operation of each vertex between input and output."""
    if not spec.valid_spec:
        raise InvalidArchitecture("a cell needs a path from input to output, this one has none; check valid_spec first")
    labels = {name: label for label, name in enumerate(operations)}
    unknown = next((op for op in spec.ops[1:-1] if op not in labels), None)
    if unknown is not None:
        raise InvalidArchitecture(
            f"{shorten(unknown)} is not an operation of this space; {nearest(str(unknown), labels)}"
        )
    return tuple(labels[op] for op in spec.ops[1:-1])


def _check_matrix(matrix: NDArray[Any], operations: int) -> None:
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise InvalidArchitecture(f"a cell's matrix is square, got shape {matrix.shape}; one row and column a vertex")
    if len(matrix) != operations:
        raise InvalidArchitecture(
            f"a cell has one operation a vertex, got {operations} operations for {len(matrix)} vertices"
        )
    if matrix.dtype.kind not in "biuf" or not ((matrix == 0) | (matrix == 1)).all():
        raise InvalidArchitecture(f"a cell's matrix holds 0 and 1, got {shorten(matrix.tolist())}")
    if not is_upper_triangular(matrix):
        source, target = np.argwhere(np.tril(matrix))[0].tolist()
        raise InvalidArchitecture(
            f"a cell's matrix is upper triangular, got the edge {source}→{target}; number vertices so that edges go up"
        )


def _on_some_path(rows: list[list[float]]) -> list[int]:
    """The vertices on a path from the first to the last, in order; for a cell of any size."""
    count = len(rows)
    reached, leading = {0}, {count - 1}
    for vertex in range(1, count):
        if any(rows[source][vertex] for source in reached):
            reached.add(vertex)
    for vertex in range(count - 2, -1, -1):
        if any(rows[vertex][target] for target in leading):
            leading.add(vertex)
    return sorted(reached & leading) if count >= 2 else []
