"""LightGBM's text format as a :class:`~nasbed.surrogates.trees.forest.Forest`, read without LightGBM."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from nasbed.core.errors import BadFile
from nasbed.surrogates.trees.builder import Builder
from nasbed.surrogates.trees.forest import Forest
from nasbed.surrogates.trees.keys import (
    CATEGORY_CUT,
    NAN_LEFT,
    NAN_RIGHT,
    NAN_ZERO,
    ZERO_LEFT,
    ZERO_RIGHT,
    highest_at_most,
    keys,
)

CATEGORICAL = 1  # bits of decision_type
DEFAULT_LEFT = 2
MISSING_SHIFT = 2
RULES = np.array([[NAN_ZERO, NAN_ZERO], [ZERO_RIGHT, ZERO_LEFT], [NAN_RIGHT, NAN_LEFT]])
"""By what counts as missing (nothing, zero, NaN) and whether it goes left."""


def forest_from_lightgbm(text: str, *, trees: int | None = None) -> Forest:
    """The model of ``Booster.model_to_string``: a regression whose answer is the sum of its trees, or of the first
    ``trees`` of them."""
    head, _, body = text.partition("\nTree=0\n")
    header = dict(_pairs(head))
    if header.get("num_class") != "1" or header.get("num_tree_per_iteration") != "1":
        raise BadFile("a LightGBM model of one output is needed, got several outputs or another kind of file")
    objective = header.get("objective", "")
    if objective != "regression" or "average_output" in head.splitlines():
        raise BadFile(f"a LightGBM model with the objective regression is needed, got {objective!r}")
    builder = Builder()
    for tree in body.partition("\nend of trees")[0].split("\nTree=")[:trees]:
        try:
            _add(builder, dict(_pairs(tree)))
        except (KeyError, ValueError, IndexError) as error:
            if isinstance(error, BadFile):
                raise
            raise BadFile(f"a tree of this LightGBM model cannot be read: {error!r}; get the file again") from None
    return builder.forest()


def _pairs(text: str) -> Iterator[tuple[str, str]]:
    for line in text.splitlines():
        name, equals, value = line.partition("=")
        if equals:
            yield name, value


def _add(builder: Builder, tree: dict[str, str]) -> None:
    if tree.get("is_linear", "0") != "0":
        raise BadFile("a LightGBM model with constant leaves is needed, got linear trees")
    leaves = _floats(tree["leaf_value"])
    if int(tree["num_leaves"]) == 1:
        none = np.empty(0, dtype=np.int64)
        builder.tree(none, none, none, none, leaves)
        return
    decision = _integers(tree["decision_type"])
    feature = _integers(tree["split_feature"])
    values = _floats(tree["threshold"])
    categorical = (decision & CATEGORICAL) != 0
    default_left = (decision & DEFAULT_LEFT) // DEFAULT_LEFT
    rule = np.where(categorical, CATEGORY_CUT, RULES[decision >> MISSING_SHIFT & 3, default_left])
    threshold = keys(highest_at_most(values)).astype(np.int64)
    if categorical.any():
        bounds, words = _integers(tree["cat_boundaries"]), _integers(tree["cat_threshold"])
        for at in np.flatnonzero(categorical):
            mask_words = words[bounds[int(values[at])] : bounds[int(values[at]) + 1]]
            bits = np.unpackbits(mask_words.astype("<u4").view(np.uint8), bitorder="little").astype(bool)
            threshold[at] = builder.categories(bits, beyond_left=False, missing_left=False, unknown_left=False)
    children = np.stack([_integers(tree["left_child"]), _integers(tree["right_child"])], axis=1)
    builder.tree(feature, rule, threshold, children, leaves)


def _integers(text: str) -> NDArray[np.int64]:
    return np.array(text.split(), dtype=np.int64)


def _floats(text: str) -> NDArray[np.float64]:
    return np.array(text.split(), dtype=np.float64)
