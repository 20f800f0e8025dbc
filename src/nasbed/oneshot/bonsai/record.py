"""A search by Bonsai-Net as a file: what was searched, how, and everything that it told. Torch is not needed to read
one."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nasbed.core.errors import BadFile, shorten
from nasbed.oneshot.bonsai.outcome import BonsaiEpoch, BonsaiSearched
from nasbed.oneshot.bonsai.settings import METHOD, BonsaiSettings
from nasbed.oneshot.bonsai.space import BonsaiArchitecture
from nasbed.oneshot.record_file import read_sealed, text, write_sealed

FORMAT = "nasbed bonsai record 1"
_STATUSES = ("ok", "diverged")


@dataclass(frozen=True, slots=True, eq=False)
class BonsaiRecord:
    """A search that ended. ``device`` is where it ran, in words; ``versions`` are those of the packages that had a part
    in it. The weights of the search are not recorded."""

    dataset: str
    dataset_hash: str
    seed: int
    settings: BonsaiSettings
    device: str
    versions: Mapping[str, str]
    searched: BonsaiSearched


def write_bonsai_record(record: BonsaiRecord, path: Path) -> None:
    """Write a record as JSON with its own checksum. The file is there whole or not at all."""
    searched = record.searched
    data = {
        "format": FORMAT,
        "method": METHOD,
        "dataset": record.dataset,
        "dataset_hash": record.dataset_hash,
        "seed": record.seed,
        "settings": record.settings.plain(),
        "device": record.device,
        "versions": dict(record.versions),
        "status": searched.status,
        "reason": searched.reason,
        "architecture": None if searched.architecture is None else searched.architecture.plain(),
        "search_time_s": searched.search_time_s,
        "epochs": [{**each.packed(), "architecture": each.architecture.plain()} for each in searched.epochs],
    }
    write_sealed(data, path)


def read_bonsai_record(path: Path) -> BonsaiRecord:
    """The record in a file; raises unless it is whole and unchanged since it was written."""
    return read_sealed(
        path, FORMAT, _record, what=f"a search by {METHOD}; nasbed oneshot {METHOD} writes one, search.json"
    )


def _record(data: Mapping[str, Any]) -> BonsaiRecord:
    epochs = tuple(_epoch(each) for each in data["epochs"])
    if [each.epoch for each in epochs] != list(range(1, len(epochs) + 1)):
        raise BadFile("its epochs are not counted from 1")
    status, architecture = data["status"], _architecture(data["architecture"])
    last = epochs[-1].architecture if epochs and status == "ok" else None
    if status not in _STATUSES or architecture != last or (last is None) != (status == "diverged"):
        raise BadFile(f"a search of status {shorten(status)} does not end like this")
    split = data["settings"]["split"]
    settings = {**data["settings"], "split": None if split is None else tuple(split)}
    return BonsaiRecord(
        dataset=text(data, "dataset"),
        dataset_hash=text(data, "dataset_hash"),
        seed=int(data["seed"]),
        settings=BonsaiSettings(**settings),
        device=text(data, "device"),
        versions={str(name): str(value) for name, value in data["versions"].items()},
        searched=BonsaiSearched(status, architecture, None, epochs, float(data["search_time_s"]), text(data, "reason")),
    )


def _epoch(stored: Mapping[str, Any]) -> BonsaiEpoch:
    architecture, accuracy = _architecture(stored["architecture"]), stored["validation_accuracy"]
    if architecture is None or architecture.kept != stored["operations"]:
        raise BadFile(f"epoch {shorten(stored['epoch'])} does not have the operations that it counts")
    return BonsaiEpoch(
        epoch=int(stored["epoch"]),
        architecture=architecture,
        operations=architecture.kept,
        parameters=int(stored["parameters"]),
        present=int(stored["present"]),
        size=float(stored["size"]),
        train_loss=float(stored["train_loss"]),
        compression_loss=float(stored["compression_loss"]),
        validation_accuracy=None if accuracy is None else float(accuracy),
        search_time_s=float(stored["search_time_s"]),
    )


def _architecture(plain: Any) -> BonsaiArchitecture | None:
    return None if plain is None else BonsaiArchitecture.from_json(json.dumps(plain))
