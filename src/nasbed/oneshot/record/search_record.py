"""A search as a file: what was searched, how, and everything that it reported. Torch is not needed to read one."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nasbed.core.architecture import Architecture
from nasbed.core.errors import BadFile, shorten
from nasbed.core.packages import package_versions
from nasbed.oneshot import settings_type
from nasbed.oneshot.pruning.legacy_files import EARLIER_FORMAT, read_earlier_architecture, read_earlier_epoch
from nasbed.oneshot.pruning.settings import METHOD, BonsaiSettings
from nasbed.oneshot.record.sealed_file import format_of, read_sealed, text, write_sealed
from nasbed.oneshot.settings import OneShotSettings
from nasbed.oneshot.trajectory import SearchEpoch, SearchResult

FORMAT = "nasbed search record 1"
_STATUSES = ("ok", "stopped", "diverged")
_DTYPES = ("float16", "float32", "float64", "int64")


@dataclass(frozen=True, slots=True, eq=False)
class SearchRecord:
    """A search that ended. ``options`` are the hyperparameters of the method that were set, as JSON values. ``device``
    describes where it ran; ``versions`` are those of the packages involved."""

    method: str
    space: str
    dataset: str
    dataset_hash: str
    seed: int
    settings: OneShotSettings
    options: Mapping[str, Any]
    device: str
    versions: Mapping[str, str]
    searched: SearchResult


def versions_used() -> dict[str, str]:
    """The versions of what a search on this machine depends on."""
    return package_versions("torch", "numpy")


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
        "epochs": [_packed(epoch) for epoch in searched.epochs],
    }
    write_sealed(data, Path(path))


def read_record(path: str | Path) -> SearchRecord:
    """The record in a file; raises unless it is whole and unchanged since it was written."""
    path = Path(path)
    earlier = str(format_of(path)).startswith(EARLIER_FORMAT[:-1])
    format_, read = (EARLIER_FORMAT, _earlier_record) if earlier else (FORMAT, _record)
    return read_sealed(path, format_, read, subject="a search; nasbed oneshot writes one, search.json")


def _record(data: Mapping[str, Any]) -> SearchRecord:
    space = text(data, "space")
    code = data["code"]
    return _read(
        data,
        space=space,
        options=dict(data["options"]),
        architecture=None if code is None else _architecture(space, code),
        epochs=tuple(_unpacked(stored, space) for stored in data["epochs"]),
    )


def _earlier_record(data: Mapping[str, Any]) -> SearchRecord:
    """Bonsai-Net's, before its space had a name."""
    record = _read(
        {**data, "method": METHOD},
        space=BonsaiSettings.from_plain(data["settings"]).frame().space_name,
        options={},
        architecture=read_earlier_architecture(data["architecture"]),
        epochs=tuple(read_earlier_epoch(stored) for stored in data["epochs"]),
    )
    searched = record.searched
    last = searched.epochs[-1].architecture if searched.epochs and searched.status == "ok" else None
    if searched.architecture != last or searched.status == "stopped":
        raise BadFile(f"a search of status {shorten(searched.status)} cannot have this result")
    return record


def _read(
    data: Mapping[str, Any],
    *,
    space: str,
    options: Mapping[str, Any],
    architecture: Architecture | None,
    epochs: tuple[SearchEpoch, ...],
) -> SearchRecord:
    """The record of what is stored alike in every format, and of what is not.

    Args:
        data: The object in the file.
        space: The name of the space.
        options: The options of the method.
        architecture: What the search ended with.
        epochs: The epochs in their order.
    """
    if [epoch.epoch for epoch in epochs] != list(range(1, len(epochs) + 1)):
        raise BadFile("its epochs are not counted from 1")
    if data["status"] not in _STATUSES or (architecture is None) != (data["status"] == "diverged"):
        raise BadFile(f"a search of status {shorten(data['status'])} cannot have this result")
    method = text(data, "method")
    return SearchRecord(
        method=method,
        space=space,
        dataset=text(data, "dataset"),
        dataset_hash=text(data, "dataset_hash"),
        seed=int(data["seed"]),
        settings=settings_type(method).from_plain(data["settings"]),
        options=options,
        device=text(data, "device"),
        versions={str(name): str(value) for name, value in data["versions"].items()},
        searched=SearchResult(data["status"], architecture, epochs, float(data["search_time_s"]), text(data, "reason")),
    )


def _architecture(space: str, code: Any) -> Architecture:
    if not isinstance(code, list) or not all(type(number) is int for number in code):
        raise BadFile(f"the code of an architecture is whole numbers, got {shorten(code)}")
    return Architecture(space, tuple(code))


# --- epochs ----------------------------------------------------------------------------------------------------------


def _packed(epoch: SearchEpoch) -> dict[str, Any]:
    accuracy, eigenvalue = epoch.validation_accuracy, epoch.eigenvalue
    packed = {
        "epoch": epoch.epoch,
        "code": list(epoch.architecture.code),
        "validation_accuracy": None if accuracy is None else _number(accuracy),
        "train_loss": _number(epoch.train_loss),
        "skips": dict(epoch.skips),
        "eigenvalue": None if eigenvalue is None else _number(eigenvalue),
        "search_time_s": epoch.search_time_s,
        "parameters": {name: _packed_array(values) for name, values in epoch.parameters.items()},
    }
    return packed | ({"figures": dict(epoch.figures)} if epoch.figures else {})


def _unpacked(stored: Mapping[str, Any], space: str) -> SearchEpoch:
    accuracy, eigenvalue = stored["validation_accuracy"], stored["eigenvalue"]
    figures = stored.get("figures", {})
    return SearchEpoch(
        epoch=int(stored["epoch"]),
        architecture=_architecture(space, stored["code"]),
        validation_accuracy=None if accuracy is None else float(accuracy),
        train_loss=float(stored["train_loss"]),
        skips={str(kind): int(count) for kind, count in stored["skips"].items()},
        parameters={str(name): _array(packed) for name, packed in stored["parameters"].items()},
        search_time_s=float(stored["search_time_s"]),
        eigenvalue=None if eigenvalue is None else float(eigenvalue),
        figures={str(name): _figure(value) for name, value in figures.items()},
    )


def _figure(value: Any) -> float:
    """A number as it was, whole or not."""
    if type(value) not in (int, float):
        raise BadFile(f"a figure of an epoch is a number, got {shorten(value)}")
    return float(value) if isinstance(value, float) else int(value)


def _number(value: float) -> float | str:
    """JSON has no infinity; numbers that are not finite are written as texts."""
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
