"""One row through many trees, without a walk (QuickScorer: Lucchese et al. 2015).

The leaves of a tree are numbered from left to right, the bits of a word. A split that sends the row to the right rules
out the leaves below its left child. A walk would end at the first leaf that no split rules out. Splits are sorted by
column and threshold, so that those that send the row to the right come first. Splits with one threshold are a step,
with one entry per tree: the number of the tree, and the mask of the leaves that remain.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nasbed.surrogates.trees.forest import Forest
from nasbed.surrogates.trees.keys import CATEGORY, TOP, Floats, Words

BITS = 64
"""The most leaves that a tree may have."""
TREES = 1 << 16
"""The most trees."""


@dataclass(frozen=True, slots=True)
class QuickForest:
    """A forest whose trees have at most 64 leaves and no categories, for one row at a time."""

    forest: Forest
    first: NDArray[np.int64]  # [columns + 1]: where the steps of each column start
    thresholds: Words  # [steps], rising within a column
    ends: NDArray[np.int64]  # [steps + 1]: the entries of step i are those from ends[i] on
    trees: NDArray[np.uint16]
    masks: NDArray[np.uint64]  # set for the leaves that are left where the row goes right
    leaves: Floats  # from left to right, tree by tree
    leaf_start: NDArray[np.int64]  # [trees]

    @classmethod
    def of(cls, forest: Forest) -> QuickForest | None:
        """The same answers faster, or ``None`` for a forest that is not of this kind."""
        if (forest.columns[:, 1] >= CATEGORY).any() or forest.trees > TREES:
            return None
        splits = forest.splits.reshape(-1, 4)
        levels = _levels(forest, splits)
        below = np.ones(len(splits) + 1, dtype=np.int64)  # leaves below each split; the last entry is a leaf's
        for at, _ in reversed(levels):
            below[at] = below[_split(splits[at, 2], len(splits))] + below[_split(splits[at, 3], len(splits))]
        roots = _split(forest.roots, len(splits))
        if below[roots].max(initial=0) > BITS:
            return None
        leaf_start = np.cumsum(below[roots]) - below[roots]
        leaves = np.empty(int(below[roots].sum()))
        alone = roots == len(splits)
        leaves[leaf_start[alone]] = forest.leaves[forest.roots[alone] - TOP]
        lowest = np.zeros(len(splits) + 1, dtype=np.int64)  # the first leaf below a split, within its tree
        masks = np.zeros(len(splits), dtype=np.uint64)
        tree = np.zeros(len(splits), dtype=np.uint16)
        for at, owner in levels:
            children = splits[at][:, 2:]
            places = _split(children, len(splits))
            start = np.stack([lowest[at], lowest[at] + below[places[:, 0]]], axis=1)
            inner = places < len(splits)
            lowest[places[inner]] = start[inner]
            masks[at] = ~(_ones(below[places[:, 0]]) << lowest[at].astype(np.uint64))
            tree[at] = owner
            leaves[(leaf_start[owner][:, None] + start)[~inner]] = forest.leaves[children[~inner] - TOP]
        order = np.lexsort((tree, splits[:, 0], splits[:, 1]))
        thresholds, columns, owners = splits[order, 0], splits[order, 1], tree[order]
        step = _changes(thresholds) | _changes(columns)
        entry = np.flatnonzero(step | _changes(owners))  # splits of a tree in one step rule out leaves together
        steps = np.flatnonzero(step)
        return cls(
            forest,
            np.searchsorted(columns[steps], np.arange(len(forest.columns) + 1)).astype(np.int64),
            np.ascontiguousarray(thresholds[steps]),
            np.searchsorted(entry, np.append(steps, len(order))).astype(np.int64),
            owners[entry],
            np.bitwise_and.reduceat(masks[order], entry) if len(entry) else masks,
            leaves,
            leaf_start,
        )

    def predict(self, row: NDArray[np.float32]) -> Floats:
        """What each member answers for one row, ``[1, members]``: bit for bit what the forest answers."""
        from nasbed.surrogates.trees.quick_kernel import score

        forest = self.forest
        predictions = np.empty((1, forest.members))
        score(
            row.view(np.uint32),
            forest.columns,
            self.first,
            self.thresholds,
            self.ends,
            self.trees,
            self.masks,
            self.leaves,
            self.leaf_start,
            forest.bounds,
            forest.start,
            forest.divisor,
            forest.narrow,
            predictions,
        )
        return predictions


def _split(children: Words, leaf: int) -> NDArray[np.int64]:
    """The numbers of the splits that are children, ``leaf`` for a leaf."""
    return np.where(children >= TOP, leaf, children // 4).astype(np.int64)


def _levels(forest: Forest, splits: NDArray[np.uint32]) -> list[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """The splits and their trees, level by level from the roots."""
    inner = forest.roots < TOP
    at, owner = (forest.roots[inner] // 4).astype(np.int64), np.flatnonzero(inner)
    levels = []
    while len(at):
        levels.append((at, owner))
        children = splits[at][:, 2:]
        inner = children < TOP
        at, owner = (children[inner] // 4).astype(np.int64), np.repeat(owner, 2)[inner.reshape(-1)]
    return levels


def _changes(values: NDArray[Any]) -> NDArray[np.bool_]:
    """Where a value differs from the one before it."""
    changes = np.ones(len(values), dtype=np.bool_)
    changes[1:] = values[1:] != values[:-1]
    return changes


def _ones(count: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Words whose lowest ``count`` bits are set; below 64, since the right child has a leaf too."""
    words: NDArray[np.uint64] = (np.uint64(1) << count.astype(np.uint64)) - np.uint64(1)
    return words
