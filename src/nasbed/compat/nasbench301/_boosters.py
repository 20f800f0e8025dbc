"""Published boosters: pickles of XGBoost's and LightGBM's own class, read without either package.

The restricted reader takes the pickle apart and runs nothing of it. What remains is the library's serialised model,
which becomes a :class:`~nasbed.surrogates.trees.forest.Forest`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nasbed.compat.nasbench301._encoding import COLUMNS, published_rows
from nasbed.core.architecture import Architecture
from nasbed.core.errors import BadFile
from nasbed.core.restricted_pickle import Call, PickledObject, loads
from nasbed.core.unpack import read_limited
from nasbed.surrogates.trees.booster_buffer import forest_from_buffer
from nasbed.surrogates.trees.forest import Forest
from nasbed.surrogates.trees.lightgbm_text import forest_from_lightgbm

LARGEST_MODEL = 1 << 30
XGBOOST = "xgboost.core.Booster"
LIGHTGBM = "lightgbm.basic.Booster"


def _bytes_of(content: object = b"", encoding: object = "latin-1") -> bytes:
    if type(content) is str and encoding == "latin-1":
        return content.encode("latin-1")
    if type(content) is not bytes:
        raise TypeError("a bytearray is made of bytes")
    return content


_CALLS: dict[str, Call | None] = {"builtins.bytearray": _bytes_of, "collections.defaultdict": lambda *_: {}}


class XGBoostMembers:
    """Members that are boosters of XGBoost: their sums are of single precision."""

    precision: type[np.floating[Any]] = np.float32

    def __init__(self, forest: Forest) -> None:
        self.forest = forest

    @classmethod
    def read(cls, files: Sequence[Path], config: Mapping[str, Any]) -> XGBoostMembers:
        """The members in these files."""
        return cls(Forest.merge([_checked(cls._forest(path), path) for path in files]))

    @staticmethod
    def _forest(path: Path) -> Forest:
        buffer = _booster_state(path, XGBOOST).get("handle")
        if type(buffer) is not bytes:
            raise BadFile(f"{path}: the booster has no trees; get the published models again")
        return forest_from_buffer(buffer)

    def predict(self, arch: Architecture) -> NDArray[Any]:
        rows = published_rows(np.array([arch.code], dtype=np.int64))
        predictions: NDArray[Any] = self.forest.predict(rows)[0].astype(self.precision)
        return predictions


class LightGBMMembers(XGBoostMembers):
    """Members that are boosters of LightGBM, which answer with the trees up to their best iteration."""

    precision = np.float64

    @staticmethod
    def _forest(path: Path) -> Forest:
        state = _booster_state(path, LIGHTGBM)
        text, best = state.get("handle", state.get("_handle")), state.get("best_iteration")
        if type(text) is not str:
            raise BadFile(f"{path}: the booster has no trees; get the published models again")
        return forest_from_lightgbm(text, trees=best if type(best) is int and best > 0 else None)


def _booster_state(path: Path, name: str) -> dict[str, Any]:
    """What a pickle says of its booster."""
    value = loads(read_limited(path, LARGEST_MODEL), str(path), calls=_CALLS, records=(name,))
    if type(value) is not PickledObject or type(value.state) is not dict:
        raise BadFile(f"{path} does not hold a {name}; get the published models again")
    return value.state


def _checked(forest: Forest, path: Path) -> Forest:
    forest.check()
    if forest.width > len(COLUMNS):
        raise BadFile(
            f"{path}: a published model looks at the {len(COLUMNS)} parameters of the published ConfigSpace, this one "
            f"at {forest.width}; get the published models again"
        )
    return forest
