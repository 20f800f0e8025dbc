"""NAS-Bench-301's ``load_ensemble``."""

from __future__ import annotations

import re
import sys
from pathlib import Path

from nasbed.benchmarks.catalog import load
from nasbed.benchmarks.surrogate import SurrogateBenchmark
from nasbed.compat.nasbench301._configspace_json import read_unbounded_normals
from nasbed.compat.nasbench301._fixed_settings import FIXED_SETTINGS
from nasbed.compat.nasbench301._interface import SurrogateAPI
from nasbed.compat.nasbench301._published import PublishedEnsemble, member_files
from nasbed.compat.nasbench301._stand_in import HOW_TO_STAND_IN, stand_in
from nasbed.compat.nasbench301._surrogates import PerformanceEnsemble, RuntimeEnsemble
from nasbed.core.errors import InvalidOption, UnknownName
from nasbed.surrogates.artefact import RUNTIME

fixed_hyperparameters = dict(FIXED_SETTINGS)

_PUBLISHED_NAME = re.compile(r"\w+_v\d+\.\d+")
"""What the folders of the published ensembles are called: ``xgb_v1.0``, ``lgb_runtime_v0.9``, ``gnn_gin_v1.0``."""
_RUNTIME_NAME = re.compile(rf"(?:.*[_-])?{RUNTIME}(?:[_-].*)?")


def load_ensemble(ensemble_parent_directory: str | Path, *, seed: int | None = None) -> SurrogateAPI:
    """Open a published ensemble by its folder, or a surrogate of nasbed by its folder, its file or its id.

    A folder whose name has ``runtime`` in it, such as ``lgb_runtime_v1.0``, is asked for training times and never
    answers with anything else. ``/runtime`` after a surrogate of nasbed is the model of the training time that it comes
    with. ``seed`` is that of the noise: by default 0, and for a published ensemble what the published package uses.
    """
    read_unbounded_normals()
    path = Path(ensemble_parent_directory)
    is_runtime = _RUNTIME_NAME.fullmatch(path.name) is not None
    if member_files(path):
        ensemble = PublishedEnsemble.open(path, seed=seed)
        if is_runtime and not ensemble.is_runtime:
            raise InvalidOption(
                f"{path} is named as a model of training times, but holds {ensemble.kind}, which predicts accuracies; "
                "rename it"
            )
        return ensemble
    benchmark = _open_surrogate(path.parent if path.name == RUNTIME else path)
    return (RuntimeEnsemble if is_runtime else PerformanceEnsemble)(benchmark, seed=seed or 0)


def _open_surrogate(path: Path) -> SurrogateBenchmark:
    if not path.exists() and _PUBLISHED_NAME.fullmatch(path.name):
        name = stand_in()
        if name is None:
            raise UnknownName(
                f"there are no published models at {path}; get them with nasbench301.download_models, or "
                f"{HOW_TO_STAND_IN}"
            )
        print(f"nasbed: {name} answers in place of {path.name}", file=sys.stderr)
        path = Path(name)
    benchmark = load(path if path.exists() else str(path))
    if not isinstance(benchmark, SurrogateBenchmark):
        raise InvalidOption(f"an ensemble is a surrogate, {benchmark.name} is a table; open it with nasbed.load")
    return benchmark


__all__ = ["SurrogateAPI", "fixed_hyperparameters", "load_ensemble"]
