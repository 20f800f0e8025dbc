"""NATS-Bench's topology search space: the cells of NAS-Bench-201."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nasbed.compat.nats_bench.genotype_utils import topology_str2structure
from nasbed.compat.nats_bench.meta_api import NASBenchMetaAPI
from nasbed.core.errors import InvalidOption, nearest
from nasbed.spaces.nb201 import OPERATIONS

ALL_BASE_NAMES = ["NATS-tss-v1_0-3ffb9"]


class NATStopology(NASBenchMetaAPI):
    """The cells of NAS-Bench-201."""

    space_name = "nb201"
    search_space_name = "topology"
    full_train_epochs = full_epochs_in_paper = 200

    def get_unique_str(self, arch: Any) -> str:
        """A text that isomorphic cells share."""
        return topology_str2structure(self.arch(self._index(arch))).to_unique_str(consider_zero=True)

    @staticmethod
    def str2lists(arch_str: str) -> list[tuple[tuple[str, int], ...]]:
        """For each node after the input, its (operation, source node) pairs."""
        return topology_str2structure(arch_str).nodes

    @staticmethod
    def str2matrix(arch_str: str, search_space: Sequence[str] = OPERATIONS) -> NDArray[np.float64]:
        """The number of the operation on the edge from node j to node i, at [i, j]."""
        structure = topology_str2structure(arch_str)
        matrix = np.zeros((len(structure), len(structure)))
        for target, node in enumerate(structure.nodes, start=1):
            for operation, source in node:
                if operation not in search_space:
                    raise InvalidOption(f"{operation!r} is not an operation; {nearest(operation, search_space)}")
                matrix[target, source] = list(search_space).index(operation)
        return matrix
