"""scikit-learn's regression trees as a :class:`~nasbed.surrogates.trees.forest.Forest`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from nasbed.surrogates.trees.builder import Builder
from nasbed.surrogates.trees.forest import Forest
from nasbed.surrogates.trees.keys import NAN_LEFT, NAN_RIGHT, Floats, highest_at_most, keys


def forest_from_sklearn(
    trees: Sequence[Any],
    *,
    start: float = 0.0,
    divisor: float = 1.0,
    value: Callable[[int, Floats], Floats] = lambda _, leaves: leaves,
) -> Forest:
    """``start`` plus the sum of fitted ``DecisionTreeRegressor``, divided by ``divisor``; ``value`` makes of a tree's
    number and leaves what is summed."""
    builder = Builder()
    for at, tree in enumerate(trees):
        inner = tree.tree_
        nodes = inner.__getstate__()["nodes"]
        split = nodes["left_child"] >= 0
        number = np.where(split, np.cumsum(split) - 1, ~(np.cumsum(~split) - 1))
        children = np.stack([nodes["left_child"], nodes["right_child"]], axis=1)[split]
        rule = np.where(nodes["missing_go_to_left"][split], NAN_LEFT, NAN_RIGHT)
        threshold = keys(highest_at_most(nodes["threshold"][split]))
        leaves = value(at, inner.value[~split, 0, 0])
        builder.tree(nodes["feature"][split], rule, threshold, number[children], leaves)
    return builder.forest(start=start, divisor=divisor)
