"""A search as a file: what was searched, how, and everything that it told. Torch is not needed to read one."""

from __future__ import annotations

import math
import platform
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import nasbed
from nasbed.core.architecture import Architecture
from nasbed.core.errors import BadFile, shorten
from nasbed.oneshot.record_file import read_sealed, text, write_sealed
from nasbed.oneshot.settings import SearchSettings
from nasbed.oneshot.trajectory import Searched, SearchEpoch

FORMAT = "nasbed search record 1"
_STATUSES = ("ok", "stopped", "diverged")
_DTYPES = ("float16", "float32", "float64", "int64")


@dataclass(frozen=True, slots=True, eq=False)
class SearchRecord:
    """A search that ended. ``options`` are those hyperparameters of the method that were set, as JSON has them;
    ``device`` is where it ran, in words; ``versions`` are those of the packages that had a part in it."""

    method: str
    space: str
    dataset: str
    dataset_hash: str
    seed: int
    settings: SearchSettings
    options: Mapping[str, Any]
    device: str
    versions: Mapping[str, str]
    searched: Searched


def versions_used() -> dict[str, str]:
    """The versions of what a search on this machine depends on."""
    found = {"nasbed": nasbed.__version__, "python": platform.python_version()}
    for package in ("torch", "numpy"):
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def write_record(record: SearchRecord, path: str | Path) -> None:
    """Write a record as JSON with its own checksum. The file is there whole or not at all."""
    searched = record.searched
    data = {
        "format": FORMAT,
        "method": record.method,
        "space": record.space,
        "dataset": record.dataset,
        "dataset_hash": record.dataset_hash,
        "seed": record.seed,
        "settings": record.settings.plain(),
        "options": dict(record.options),
        "device": record.device,
        "versions": dict(record.versions),
        "status": searched.status,
        "reason": searched.reason,
        "code": None if searched.architecture is None else list(searched.architecture.code),
        "search_time_s": searched.search_time_s,
        "epochs": [_packed(each) for each in searched.epochs],
    }
    write_sealed(data, Path(path))


def read_record(path: str | Path) -> SearchRecord:
    """The record in a file; raises unless it is whole and unchanged since it was written."""
    return read_sealed(Path(path), FORMAT, _record, what="a search; nasbed oneshot writes one, search.json")


def _record(data: Mapping[str, Any]) -> SearchRecord:
    space = text(data, "space")
    epochs = tuple(_unpacked(each, space) for each in data["epochs"])
    if [each.epoch for each in epochs] != list(range(1, len(epochs) + 1)):
        raise BadFile("its epochs are not counted from 1")
    if data["status"] not in _STATUSES or (data["code"] is None) != (data["status"] == "diverged"):
        raise BadFile(f"a search of status {shorten(data['status'])} does not end like this")
    split = data["settings"]["split"]
    settings = {**data["settings"], "split": None if split is None else tuple(split)}
    return SearchRecord(
        method=text(data, "method"),
        space=space,
        dataset=text(data, "dataset"),
        dataset_hash=text(data, "dataset_hash"),
        seed=int(data["seed"]),
        settings=SearchSettings(**settings),
        options=dict(data["options"]),
        device=text(data, "device"),
        versions={str(name): str(value) for name, value in data["versions"].items()},
        searched=Searched(
            data["status"],
            None if data["code"] is None else _architecture(space, data["code"]),
            epochs,
            float(data["search_time_s"]),
            text(data, "reason"),
        ),
    )


def _architecture(space: str, code: Any) -> Architecture:
    if not isinstance(code, list) or not all(type(each) is int for each in code):
        raise BadFile(f"the code of an architecture is whole numbers, got {shorten(code)}")
    return Architecture(space, tuple(code))


# --- epochs ----------------------------------------------------------------------------------------------------------


def _packed(each: SearchEpoch) -> dict[str, Any]:
    return {
        "epoch": each.epoch,
        "code": list(each.architecture.code),
        "validation_accuracy": _number(each.validation_accuracy),
        "train_loss": _number(each.train_loss),
        "skips": dict(each.skips),
        "eigenvalue": None if each.eigenvalue is None else _number(each.eigenvalue),
        "search_time_s": each.search_time_s,
        "parameters": {name: _packed_array(values) for name, values in each.parameters.items()},
    }


def _unpacked(stored: Mapping[str, Any], space: str) -> SearchEpoch:
    eigenvalue = stored["eigenvalue"]
    return SearchEpoch(
        epoch=int(stored["epoch"]),
        architecture=_architecture(space, stored["code"]),
        validation_accuracy=float(stored["validation_accuracy"]),
        train_loss=float(stored["train_loss"]),
        skips={str(kind): int(count) for kind, count in stored["skips"].items()},
        parameters={str(name): _array(packed) for name, packed in stored["parameters"].items()},
        search_time_s=float(stored["search_time_s"]),
        eigenvalue=None if eigenvalue is None else float(eigenvalue),
    )


def _number(value: float) -> float | str:
    """JSON has no infinity; texts stand for what is no finite number."""
    return float(value) if math.isfinite(value) else repr(float(value))


def _packed_array(values: NDArray[Any]) -> dict[str, Any]:
    """A float of any width is exactly one of 64 bits, which Python writes so that it reads back."""
    numbers = [_number(value) if isinstance(value, float) else value for value in values.ravel().tolist()]
    return {"dtype": str(values.dtype), "shape": list(values.shape), "values": numbers}


def _array(packed: Mapping[str, Any]) -> NDArray[Any]:
    if packed["dtype"] not in _DTYPES:
        raise BadFile(f"architecture parameters are {', '.join(_DTYPES)}, got {shorten(packed['dtype'])}")
    kind = int if packed["dtype"] == "int64" else float
    numbers = [kind(value) for value in packed["values"]]
    return np.array(numbers, dtype=packed["dtype"]).reshape([int(size) for size in packed["shape"]])
