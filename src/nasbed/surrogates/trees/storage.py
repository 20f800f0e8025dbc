"""A forest as few small arrays, and back. Only the numbering of splits and leaves is lost.

The nodes of a tree are listed level by level: the children of its split ``i`` are the nodes ``2 i + 1`` and ``2 i +
2``. So its shape takes one bit per node, set for a split. Splits share few conditions: each split is stored as the
number of its condition. Leaves take four bytes where these hold them exactly.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from nasbed.core.errors import BadFile
from nasbed.surrogates.trees.keys import TOP, Words

if TYPE_CHECKING:
    from nasbed.surrogates.trees.forest import Forest

AS_THEY_ARE = ("columns", "sets", "bounds", "start", "divisor", "narrow")
ARRAYS = ("conditions", "condition", "inner", "sizes", "leaves", *AS_THEY_ARE)


def packed_arrays(forest: Forest) -> dict[str, NDArray[Any]]:
    """The arrays that are stored."""
    words, owner = _level_by_level(forest)
    inner = words < TOP
    pairs = forest.splits.reshape(-1, 4)[words[inner] // 4, :2]
    conditions, condition = np.unique(pairs, axis=0, return_inverse=True)
    leaves = forest.leaves[words[~inner] - TOP]
    single = leaves.astype(np.float32)
    return {
        "conditions": conditions,
        "condition": condition.reshape(-1).astype(np.min_scalar_type(max(len(conditions) - 1, 0))),
        "inner": np.packbits(inner, bitorder="little"),
        "sizes": np.bincount(owner[inner], minlength=forest.trees).astype(np.uint32),
        "leaves": single if (single == leaves).all() else leaves,
        **{name: getattr(forest, name) for name in AS_THEY_ARE},
    }


def unpacked_arrays(stored: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """The fields of the forest. Raises for arrays that cannot be those of a forest. The forest checks its trees
    itself."""
    conditions, condition, inner, sizes, leaves = (stored[name] for name in ARRAYS[:5])
    _check(conditions, condition, inner, sizes, leaves)
    size = sizes.astype(np.int64)
    split_start, node_start = np.cumsum(size) - size, np.cumsum(2 * size + 1) - (2 * size + 1)
    nodes = int(2 * size.sum() + len(size))
    is_split = np.unpackbits(inner, count=nodes, bitorder="little").astype(np.bool_)
    splits_before: NDArray[np.int64] = np.cumsum(is_split) - is_split
    words = np.where(is_split, 4 * splits_before, TOP + np.arange(nodes) - splits_before).astype(np.uint32)
    table = np.empty((len(condition), 4), dtype=np.uint32)
    table[:, :2] = conditions[condition]
    left = np.repeat(node_start - 2 * split_start, size) + 2 * np.arange(len(condition)) + 1
    table[:, 2], table[:, 3] = words[left], words[left + 1]
    return {
        "splits": table.reshape(-1),
        "leaves": leaves.astype(np.float64),
        "roots": words[node_start],
        **{name: stored[name] for name in AS_THEY_ARE},
    }


def _check(
    conditions: NDArray[Any],
    condition: NDArray[Any],
    inner: NDArray[Any],
    sizes: NDArray[Any],
    leaves: NDArray[Any],
) -> None:
    kinds = (
        conditions.dtype == np.uint32 and conditions.ndim == 2 and conditions.shape[1] == 2,
        condition.dtype.kind == "u" and condition.ndim == 1 and (condition < len(conditions)).all(),
        inner.dtype == np.uint8 and inner.ndim == 1,
        sizes.dtype == np.uint32 and sizes.ndim == 1 and int(sizes.sum(dtype=np.uint64)) == len(condition),
        leaves.dtype in (np.float32, np.float64) and leaves.ndim == 1,
    )
    if not all(kinds) or len(inner) != -(-(2 * len(condition) + len(sizes)) // 8):
        raise BadFile("the arrays of a forest do not belong together; get the file again")


def _level_by_level(forest: Forest) -> tuple[Words, NDArray[np.int64]]:
    """The nodes of all trees as :class:`Forest` names children, tree by tree and level by level, with their trees."""
    splits = forest.splits.reshape(-1, 4)
    word, tree = forest.roots, np.arange(forest.trees)
    words, trees = [word], [tree]
    while len(word):
        inner = word < TOP
        word, tree = splits[word[inner] // 4][:, 2:].reshape(-1), np.repeat(tree[inner], 2)
        words.append(word)
        trees.append(tree)
    all_words, all_trees = np.concatenate(words), np.concatenate(trees)
    order = np.argsort(all_trees, kind="stable")
    return all_words[order], all_trees[order]
