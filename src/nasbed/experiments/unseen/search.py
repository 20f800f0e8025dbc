"""The search of a NAS method on an unseen dataset, kept as ``nasbed oneshot`` keeps its own. Needs torch."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import torch

from nasbed.core.architecture import Architecture
from nasbed.core.errors import InvalidOption
from nasbed.experiments.unseen.baseline import device_name
from nasbed.experiments.unseen.budget import BONSAI, RANDOM, space_of
from nasbed.experiments.unseen.results import UnseenResult
from nasbed.experiments.unseen.run import NasRun
from nasbed.oneshot import search as search_supernet
from nasbed.oneshot.bonsai import BonsaiArchitecture
from nasbed.oneshot.bonsai import search as search_bonsai
from nasbed.oneshot.bonsai.record import BonsaiRecord, read_bonsai_record, write_bonsai_record
from nasbed.oneshot.record import SearchRecord, read_record, versions_used, write_record
from nasbed.training.devices import chosen_device

Told = Callable[[int, str], None]
"""Told after each epoch how many are done, and what there is to say of them."""


@dataclass(frozen=True, slots=True)
class Found:
    """What a search ended with; no architecture only where it diverged, for a ``reason``."""

    architecture: Architecture | BonsaiArchitecture | None
    search_time_s: float
    reason: str = ""


def searched(
    run: NasRun,
    *,
    device: str | torch.device = "cpu",
    checkpoint: Path | None = None,
    record: Path | None = None,
    progress: Told | None = None,
) -> Found:
    """What a method finds with a seed. ``rs-darts`` and ``rs-bonsai`` take one architecture by chance.

    With a ``record`` all that the search told is written there when it has ended, and read from there if the file
    exists: nothing is searched then.
    """
    if run.method in RANDOM.values():
        return Found(run.by_chance(), 0.0)
    search = _pruned if run.method == BONSAI else _mixed
    return search(run, chosen_device(device), checkpoint, record, progress)


def _mixed(
    run: NasRun, device: torch.device, checkpoint: Path | None, record: Path | None, progress: Told | None
) -> Found:
    """By the mixing of a supernet's operations."""
    if record is not None and record.exists():
        there = read_record(record)
        _check_same(record, run, there.method, there.seed, there.dataset_hash, there.settings == run.budget.supernet)
        found = there.searched
    else:
        found = search_supernet(
            run.method,
            run.dataset,
            run.budget.supernet,
            seed=run.search_seed,
            device=device,
            checkpoint=checkpoint,
            progress=progress and (lambda end: progress(end.epoch, _said(end.train_loss, end.validation_accuracy))),
        )
        if record is not None:
            whole = SearchRecord(
                method=run.method,
                space="darts",
                dataset=run.dataset.name,
                dataset_hash=run.dataset.hash,
                seed=run.search_seed,
                settings=run.budget.supernet,
                options={},
                device=device_name(device),
                versions=versions_used(),
                searched=found,
            )
            record.parent.mkdir(parents=True, exist_ok=True)
            write_record(whole, record)
    return Found(found.architecture, found.search_time_s, found.reason)


def _pruned(
    run: NasRun, device: torch.device, checkpoint: Path | None, record: Path | None, progress: Told | None
) -> Found:
    """By Bonsai-Net."""
    if record is not None and record.exists():
        there = read_bonsai_record(record)
        _check_same(record, run, BONSAI, there.seed, there.dataset_hash, there.settings == run.budget.bonsai)
        found = there.searched
    else:
        found = search_bonsai(
            run.dataset,
            run.budget.bonsai,
            seed=run.search_seed,
            device=device,
            checkpoint=checkpoint,
            progress=progress
            and (lambda end: progress(end.epoch, f"loss {end.train_loss:.3f}  {end.operations} operations")),
        )
        if record is not None:
            whole = BonsaiRecord(
                dataset=run.dataset.name,
                dataset_hash=run.dataset.hash,
                seed=run.search_seed,
                settings=run.budget.bonsai,
                device=device_name(device),
                versions=versions_used(),
                searched=found,
            )
            record.parent.mkdir(parents=True, exist_ok=True)
            write_bonsai_record(whole, record)
    return Found(found.architecture, found.search_time_s, found.reason)


def _said(loss: float, accuracy: float) -> str:
    return f"loss {loss:.3f}  accuracy {accuracy:.1f} %"


def _check_same(record: Path, run: NasRun, method: str, seed: int, dataset_hash: str, settings: bool) -> None:
    """Raise unless a record is of the search that is asked for."""
    if not settings or (method, seed, dataset_hash) != (run.method, run.search_seed, run.dataset.hash):
        raise InvalidOption(
            f"{record} is the record of another search than {run.method} with seed {run.search_seed} on "
            f"{run.dataset.name} as it is set; name another folder, or remove it"
        )


def read_found(result: UnseenResult) -> Found:
    """What the search behind a result ended with."""
    kind = BonsaiArchitecture if space_of(result.model) == "bonsai" else Architecture
    return Found(kind.from_json(result.architecture), result.search_time_s or 0.0)
