"""A pickled XGBoost booster's buffer as a :class:`~nasbed.surrogates.trees.forest.Forest`, read without XGBoost.

Versions before 1.0 wrote the binary format alone. Versions 1.0 to 1.5 wrote a header, the offset of the training
configuration, the binary model and that configuration. Later ones write one value of JSON or Universal Binary JSON with
the members ``Model`` and ``Config``.
"""

from __future__ import annotations

import json
import struct

from nasbed.core.errors import BadFile
from nasbed.surrogates.trees.forest import Forest
from nasbed.surrogates.trees.ubjson import parse_ubjson
from nasbed.surrogates.trees.xgboost_binary import learner_from_binary
from nasbed.surrogates.trees.xgboost_json import forest_from_learner

OFFSET_HEADER = b"CONFIG-offset:"


def forest_from_buffer(data: bytes) -> Forest:
    """The model of a booster's serialised buffer, of any version of XGBoost."""
    if data.startswith(OFFSET_HEADER):
        start = len(OFFSET_HEADER) + struct.calcsize("<q")
        return forest_from_learner(learner_from_binary(data[start:]))
    if not data.startswith(b"{"):
        return forest_from_learner(learner_from_binary(data))
    if data[1:2] == b'"':
        try:
            snapshot = json.loads(data)
        except ValueError as error:
            raise BadFile(f"this is not an XGBoost model in JSON: {error}; get the file again") from None
    else:
        snapshot = parse_ubjson(data)
    try:
        learner = snapshot["Model"]["learner"]
    except (KeyError, TypeError, IndexError):
        raise BadFile("a booster's buffer has Model and learner in it, this one has not; get the file again") from None
    return forest_from_learner(learner)
