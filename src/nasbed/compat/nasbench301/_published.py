"""The published ensembles: a folder with a folder for each member.

A member's folder holds ``surrogate_model.model``, ``model_config.json`` with the kind of the model, and
``data_config.json`` with the seed. The member's folders may lie at any depth. The first one's configurations hold for
all.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from nasbed.compat.nasbench301._boosters import LightGBMMembers, XGBoostMembers
from nasbed.compat.nasbench301._gin import GINMembers
from nasbed.compat.nasbench301._interface import SurrogateAPI
from nasbed.core.architecture import Architecture
from nasbed.core.errors import BadFile, shorten
from nasbed.results.importers.strict_json import parse, read_bytes

MODEL_FILE = "surrogate_model.model"
LARGEST_CONFIG = 1 << 20
TIME_SUFFIX = "_time"
"""How the kind of a model ends that predicts a training time."""


class PublishedMembers(Protocol):
    """The members of one published ensemble."""

    def predict(self, arch: Architecture) -> NDArray[Any]:
        """What each member answers for an architecture."""


KINDS: dict[str, type[XGBoostMembers | GINMembers]] = {
    "xgb": XGBoostMembers,
    "xgb_time": XGBoostMembers,
    "lgb": LightGBMMembers,
    "lgb_time": LightGBMMembers,
    "gnn_gin": GINMembers,
}
"""What reads each kind of published model."""


class PublishedEnsemble(SurrogateAPI):
    """A published ensemble: the mean of its members, with noise of their standard deviation.

    Draws come from a generator of its own. Without a seed it starts where the published package leaves numpy's global
    one after loading the same ensemble, so that both give the same draws.
    """

    def __init__(self, members: PublishedMembers, *, kind: str, folder: str, seed: int) -> None:
        self.kind = kind
        self.is_runtime = kind.endswith(TIME_SUFFIX)
        self.folder = folder
        self.members = members
        self._random = np.random.RandomState(seed)

    @classmethod
    def open(cls, folder: Path, *, seed: int | None = None) -> PublishedEnsemble:
        """Read the ensemble in a folder."""
        files = member_files(folder)
        config = _configuration(files[0].parent / "model_config.json")
        kind = config.get("model")
        if kind not in KINDS:
            raise BadFile(
                f"of the published models nasbed reads {', '.join(KINDS)}, {files[0].parent} is {shorten(kind)}; use "
                "one of those"
            )
        first_seed = _configuration(files[0].parent / "data_config.json").get("seed")
        if type(first_seed) is not int or not 0 <= first_seed < 1 << 31:
            raise BadFile(f"{files[0].parent / 'data_config.json'} has no seed; get the published models again")
        own_seed = first_seed + len(files) - 1 if seed is None else seed
        return cls(KINDS[kind].read(files, config), kind=kind, folder=str(folder), seed=own_seed)

    def _mean(self, arch: Architecture) -> float:
        return float(np.mean(self.members.predict(arch)))

    def _draw(self, arch: Architecture) -> float:
        predictions = self.members.predict(arch)
        return float(np.mean(predictions) + self._random.normal(0, np.std(predictions), 1)[0])

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.kind}, {self.folder})"


def member_files(folder: Path) -> list[Path]:
    """The models in a folder, in the order of their paths; none where it is not a published ensemble."""
    return sorted(path for path in folder.rglob(f"*{MODEL_FILE}") if path.is_file()) if folder.is_dir() else []


def _configuration(path: Path) -> dict[str, Any]:
    value = parse(read_bytes(path, str(path), LARGEST_CONFIG), str(path))
    if not isinstance(value, dict):
        raise BadFile(f"{path} is a JSON object, got {shorten(value)}; get the published models again")
    return value
