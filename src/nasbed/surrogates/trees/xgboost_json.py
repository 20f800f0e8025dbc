"""XGBoost's JSON format as a :class:`~nasbed.surrogates.trees.forest.Forest`, read without XGBoost."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nasbed.core.errors import BadFile
from nasbed.surrogates.trees.builder import Builder
from nasbed.surrogates.trees.forest import Forest
from nasbed.surrogates.trees.keys import CATEGORY, NAN_LEFT, NAN_RIGHT, keys

OBJECTIVES = ("reg:squarederror", "reg:absoluteerror", "reg:pseudohubererror")
"""Those whose answer is the sum itself."""


def forest_from_xgboost(text: bytes) -> Forest:
    """The model of ``Booster.save_raw("json")``: a regression of one output whose answer is the sum of its trees,
    rounded to float32 at each step."""
    try:
        learner = json.loads(text)["learner"]
    except (ValueError, KeyError, TypeError) as error:
        raise BadFile(f"this is not an XGBoost model in JSON: {error!r}") from None
    return forest_from_learner(learner)


def forest_from_learner(learner: Mapping[str, Any]) -> Forest:
    """The model of what stands under ``learner`` in that JSON."""
    try:
        booster, objective = learner["gradient_booster"], learner["objective"]["name"]
        parameters = learner["learner_model_param"]
        base = np.array(parameters["base_score"].strip("[]").split(","), dtype=np.float32)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise BadFile(f"this is not an XGBoost model in JSON: {error!r}") from None
    if booster.get("name") != "gbtree" or objective not in OBJECTIVES or len(base) != 1:
        raise BadFile(f"an XGBoost gbtree regression of one output is needed, got {booster.get('name')} {objective}")
    builder = Builder()
    try:
        for tree in booster["model"]["trees"]:
            _add(builder, tree)
        return builder.forest(start=float(base[0]), narrow=True)
    except (IndexError, KeyError, ValueError, TypeError) as error:
        if isinstance(error, BadFile):
            raise
        raise BadFile(f"a tree of this XGBoost model cannot be read: {error!r}; get the file again") from None


def _add(builder: Builder, tree: Mapping[str, Any]) -> None:
    children = np.array([tree["left_children"], tree["right_children"]], dtype=np.int64).T
    conditions = np.array(tree["split_conditions"], dtype=np.float64).astype(np.float32)
    order = _order(children)
    is_split = children[order, 0] >= 0
    split, leaf = order[is_split], order[~is_split]
    number = np.zeros(len(children), dtype=np.int64)
    number[split], number[leaf] = np.arange(len(split)), ~np.arange(len(leaf))
    feature = np.array(tree["split_indices"], dtype=np.int64)
    default_left = np.array(tree["default_left"], dtype=bool)
    categorical = np.array(tree.get("split_type", np.zeros(len(children))), dtype=np.int64) == 1
    rule = np.where(categorical, CATEGORY, np.where(default_left, NAN_LEFT, NAN_RIGHT))
    # x < t is x <= the float before t; nothing is below -inf, and the key 0 is below every number's
    threshold = keys(np.nextafter(conditions, np.float32(-np.inf))).astype(np.int64)
    threshold[conditions == -np.inf] = 0
    segments = zip(
        tree.get("categories_nodes", []),
        tree.get("categories_segments", []),
        tree.get("categories_sizes", []),
        strict=True,
    )
    for node, begin, size in segments:
        right = np.array(tree["categories"][begin : begin + size], dtype=np.int64)
        goes_left = np.ones(int(right.max(initial=-1)) + 1, dtype=bool)
        goes_left[right] = False
        threshold[node] = builder.categories(
            goes_left, beyond_left=True, missing_left=bool(default_left[node]), unknown_left=True
        )
    builder.tree(feature[split], rule[split], threshold[split], number[children[split]], conditions[leaf])


def _order(children: NDArray[np.int64]) -> NDArray[np.int64]:
    """The nodes of the tree, parents first: pruning leaves others behind in the arrays, and reuses their places."""
    levels = [np.zeros(1, dtype=np.int64)]
    visited = 1
    while len(levels[-1]):
        below = children[levels[-1]].reshape(-1)
        levels.append(below[below >= 0])
        visited += len(levels[-1])
        if visited > len(children):
            raise BadFile("the nodes of an XGBoost tree lead in a circle; get the file again")
    return np.concatenate(levels)
