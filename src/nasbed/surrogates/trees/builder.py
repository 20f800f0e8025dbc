"""How a library's trees become a :class:`~nasbed.surrogates.trees.forest.Forest`."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from nasbed.core.errors import InvalidOption
from nasbed.surrogates.trees.forest import LIMIT, Forest
from nasbed.surrogates.trees.keys import CATEGORY, TOP, Floats


class Builder:
    """Collects the trees of one member."""

    def __init__(self) -> None:
        self._splits: list[NDArray[np.int64]] = []
        self._columns: dict[tuple[int, int], int] = {}
        self._sets: list[int] = []
        self._leaves: list[Floats] = []
        self._roots: list[int] = []
        self._split_count = self._leaf_count = 0

    def tree(
        self,
        feature: NDArray[Any],
        rule: NDArray[Any],
        threshold: NDArray[Any],
        children: NDArray[Any],
        leaves: Floats,
    ) -> None:
        """Add a tree, its splits in an order with parents first.

        Args:
            feature: The feature of each split.
            rule: The rule of each, see :mod:`~nasbed.surrogates.trees.keys`.
            threshold: The key that each compares with, or the place of its set of categories.
            children: The two children of each, ``[n, 2]``: the number of a split, or ``~`` the number of a leaf.
            leaves: The value of each leaf.
        """
        table = np.empty((len(feature), 4), dtype=np.int64)
        table[:, 0] = threshold
        pairs = zip(feature.tolist(), rule.tolist(), strict=True)
        table[:, 1] = [self._columns.setdefault(pair, len(self._columns)) for pair in pairs]
        table[:, 1] += np.where(rule >= CATEGORY, TOP, 0)
        children = np.asarray(children, dtype=np.int64).reshape(-1, 2)
        table[:, 2:] = np.where(children >= 0, 4 * (children + self._split_count), TOP + self._leaf_count + ~children)
        self._roots.append(4 * self._split_count if len(feature) else TOP + self._leaf_count)
        self._splits.append(table)
        self._leaves.append(np.asarray(leaves, dtype=np.float64))
        self._split_count += len(feature)
        self._leaf_count += len(leaves)

    def categories(
        self, goes_left: NDArray[np.bool_], *, beyond_left: bool, missing_left: bool, unknown_left: bool
    ) -> int:
        """Add a set of categories, those of ``goes_left`` that are true, and return its place."""
        place = len(self._sets)
        bits = np.concatenate([[missing_left, unknown_left], goes_left, [beyond_left]])
        padded = np.zeros(-(-len(bits) // 32) * 32, dtype=bool)
        padded[: len(bits)] = bits
        self._sets += [len(bits) - 1, *np.packbits(padded, bitorder="little").view("<u4").tolist()]
        return place

    def forest(self, *, start: float = 0.0, divisor: float = 1.0, narrow: bool = False) -> Forest:
        """The member, whose answer is ``start`` plus its leaves in the order of the trees, divided by ``divisor``."""
        if max(self._split_count, self._leaf_count) >= LIMIT:
            raise InvalidOption(f"a forest has at most {LIMIT:,} splits, got {self._split_count:,}; use fewer trees")
        columns = np.array(list(self._columns), dtype=np.int32).reshape(-1, 2)
        return Forest(
            np.concatenate(self._splits).astype(np.uint32).reshape(-1),
            columns,
            np.array(self._sets, dtype=np.uint32),
            np.concatenate(self._leaves),
            np.array(self._roots, dtype=np.uint32),
            np.array([0, len(self._roots)], dtype=np.int64),
            np.array([start], dtype=np.float64),
            np.array([divisor], dtype=np.float64),
            np.array([narrow]),
        )
