"""The names that scripts take from ``nats_bench.api_utils``. Files are read by a reader that executes nothing."""

from __future__ import annotations

import bz2
import pickle
import time
from pathlib import Path
from typing import Any

from nasbed.compat.nats_bench import archives
from nasbed.compat.nats_bench.arch_results import ArchResults
from nasbed.compat.nats_bench.meta_api import NASBenchMetaAPI
from nasbed.compat.nats_bench.results_count import ResultsCount
from nasbed.core.errors import UnknownName
from nasbed.core.restricted_pickle import loads
from nasbed.results.importers.bounded_files import read_bz2

PICKLE_EXT = "pickle.pbz2"
LARGEST_FILE = 1 << 30


def pickle_load(file_path: str | Path, ext: str = ".pbz2") -> Any:
    """The value in a bzip2-compressed pickle, of plain values and arrays only; nothing in it is executed."""
    path = Path(file_path)
    path = path if path.is_file() else Path(f"{file_path}{ext}")
    if not path.is_file():
        raise UnknownName(f"no file is called {str(path)!r}; check the path")
    return loads(read_bz2(path, LARGEST_FILE), str(path))


def pickle_save(obj: Any, file_path: str | Path, ext: str = ".pbz2", protocol: int = 4) -> None:
    """Write a value as a bzip2-compressed pickle."""
    with bz2.BZ2File(f"{file_path}{ext}", "wb") as file:
        pickle.dump(obj, file, protocol=protocol)


def get_torch_home() -> str:
    """Where NATS-Bench looks for its data: ``$TORCH_HOME``, or ``.torch`` in the home folder."""
    return str(archives.torch_home())


def nats_is_dir(file_path: str | Path) -> bool:
    return Path(file_path).is_dir()


def nats_is_file(file_path: str | Path) -> bool:
    return Path(file_path).is_file()


def time_string() -> str:
    return f"[{time.strftime('%Y-%m-%d %X', time.gmtime())}]"


def remap_dataset_set_names(dataset: str, metric_on_set: str, verbose: bool = False) -> tuple[str, str]:
    """The dataset and evaluation set that ``find_best`` means by ``valid`` and ``test``; other names stay."""
    if dataset == "cifar10":
        names = {"valid": ("cifar10-valid", "x-valid"), "test": ("cifar10", "ori-test")}
        return names.get(metric_on_set, (dataset, metric_on_set))
    if dataset in ("cifar100", "ImageNet16-120"):
        return dataset, {"valid": "x-valid", "test": "x-test"}.get(metric_on_set, metric_on_set)
    return dataset, metric_on_set


__all__ = [
    "PICKLE_EXT",
    "ArchResults",
    "NASBenchMetaAPI",
    "ResultsCount",
    "get_torch_home",
    "nats_is_dir",
    "nats_is_file",
    "pickle_load",
    "pickle_save",
    "remap_dataset_set_names",
    "time_string",
]
