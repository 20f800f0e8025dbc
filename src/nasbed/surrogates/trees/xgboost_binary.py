"""XGBoost's binary format, which versions before 3.1 wrote and read, as its JSON would have it.

A record of 136 bytes about the learner (the mean to start from, the number of features, what follows), the names of the
objective and of the booster, a record of 160 bytes about the trees, then each tree: a record of 148 bytes, 20 bytes for
each node (parent, left child, right child, feature with the default direction in the top bit, threshold or leaf) and 16
bytes of statistics for each node. Versions before 1.0 may begin with four more bytes. All is little-endian.
"""

from __future__ import annotations

import struct
from typing import Any

import numpy as np

from nasbed.core.errors import BadFile

FORMER_HEADER = b"binf"
LEARNER_BYTES = 136
MODEL_BYTES = 160
TREE_BYTES = 148
STATISTICS_BYTES = 16
DEFAULT_LEFT = 1 << 31
LONGEST_NAME = 256
FORMER_OBJECTIVES = {"reg:linear": "reg:squarederror"}
"""Names of before version 0.90."""

_NODE = np.dtype(
    [("parent", "<i4"), ("left", "<i4"), ("right", "<i4"), ("feature", "<u4"), ("value", "<f4")],
)


def learner_from_binary(data: bytes) -> dict[str, Any]:
    """What the JSON of the same model has under ``learner``, as far as predictions need it."""
    try:
        return _learner(data, len(FORMER_HEADER) if data.startswith(FORMER_HEADER) else 0)
    except (struct.error, ValueError, UnicodeDecodeError) as error:
        raise BadFile(f"this is not an XGBoost model in its binary format: {error}; get the file again") from None


def _learner(data: bytes, position: int) -> dict[str, Any]:
    base, _, classes = struct.unpack_from("<fIi", data, position)
    position += LEARNER_BYTES
    objective, position = _name(data, position)
    booster, position = _name(data, position)
    (trees,) = struct.unpack_from("<i", data, position)
    (leaf_width,) = struct.unpack_from("<i", data, position + 28)
    position += MODEL_BYTES
    if booster != "gbtree" or classes > 1 or leaf_width:
        raise BadFile(f"an XGBoost gbtree regression of one output is needed, got {booster} of {max(classes, 1)}")
    read = []
    for _ in range(trees):
        tree, position = _tree(data, position)
        read.append(tree)
    return {
        "gradient_booster": {"name": booster, "model": {"trees": read}},
        "objective": {"name": FORMER_OBJECTIVES.get(objective, objective)},
        "learner_model_param": {"base_score": repr(base)},
    }


def _name(data: bytes, position: int) -> tuple[str, int]:
    (length,) = struct.unpack_from("<Q", data, position)
    if length > LONGEST_NAME:
        raise ValueError(f"a name of {length} characters")
    position += 8
    return data[position : position + length].decode("ascii"), position + length


def _tree(data: bytes, position: int) -> tuple[dict[str, Any], int]:
    roots, count, _, _, _, leaf_width = struct.unpack_from("<6i", data, position)
    if roots != 1 or count < 1 or leaf_width:
        raise ValueError(f"a tree of {roots} roots, {count} nodes and leaves of width {leaf_width}")
    position += TREE_BYTES
    nodes = np.frombuffer(data, dtype=_NODE, count=count, offset=position)
    position += count * (_NODE.itemsize + STATISTICS_BYTES)
    if position > len(data):
        raise ValueError("it is cut off")
    tree = {
        "left_children": nodes["left"],
        "right_children": nodes["right"],
        "split_conditions": nodes["value"],
        "split_indices": nodes["feature"] & np.uint32(DEFAULT_LEFT - 1),
        "default_left": nodes["feature"] >= DEFAULT_LEFT,
    }
    return tree, position
