"""The search of a NAS method on an unseen dataset, stored as ``nasbed oneshot`` stores its own. Needs torch."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import torch

from nasbed.core.architecture import Architecture
from nasbed.core.errors import InvalidOption
from nasbed.experiments.unseen.baseline import device_name
from nasbed.experiments.unseen.budget import is_random
from nasbed.experiments.unseen.results import UnseenResult
from nasbed.experiments.unseen.run import NasRun
from nasbed.oneshot import SearchEpoch, search
from nasbed.oneshot.pruning.legacy_files import read_earlier_architecture
from nasbed.oneshot.record import SearchRecord, read_record, versions_used, write_record
from nasbed.training.devices import chosen_device

OnEpoch = Callable[[int, str], None]
"""Called after each epoch with how many are done, and with their numbers in words."""


@dataclass(frozen=True, slots=True)
class SearchOutcome:
    """The outcome of a search; it has no architecture only if it diverged, with the ``reason``."""

    architecture: Architecture | None
    search_time_s: float
    reason: str = ""


def searched(
    run: NasRun,
    *,
    device: str | torch.device = "cpu",
    checkpoint: Path | None = None,
    record: Path | None = None,
    progress: OnEpoch | None = None,
) -> SearchOutcome:
    """The outcome of a method's search with a seed. A random search takes one random architecture.

    Args:
        run: The method, the dataset and the seed.
        device: Where to search.
        checkpoint: The file that keeps the search after every epoch.
        record: The file of the finished search. If it exists, it is read and nothing is searched.
        progress: Called after each epoch.
    """
    if is_random(run.method):
        return SearchOutcome(run.random_architecture(), 0.0)
    if record is not None and record.exists():
        stored = read_record(record)
        _check_same(record, run, stored)
        outcome = stored.searched
    else:
        torch_device = chosen_device(device)
        outcome = search(
            run.method,
            run.dataset,
            run.budget.settings(run.method),
            options=run.budget.options.get(run.method),
            seed=run.search_seed,
            device=torch_device,
            checkpoint=checkpoint,
            progress=progress and (lambda epoch: progress(epoch.epoch, _numbers(epoch))),
        )
        if record is not None:
            new_record = SearchRecord(
                method=run.method,
                space=run.budget.space(run.method),
                dataset=run.dataset.name,
                dataset_hash=run.dataset.hash,
                seed=run.search_seed,
                settings=run.budget.settings(run.method),
                options=dict(run.budget.options.get(run.method, {})),
                device=device_name(torch_device),
                versions=versions_used(),
                searched=outcome,
            )
            record.parent.mkdir(parents=True, exist_ok=True)
            write_record(new_record, record)
    return SearchOutcome(outcome.architecture, outcome.search_time_s, outcome.reason)


def _numbers(epoch: SearchEpoch) -> str:
    accuracy = epoch.validation_accuracy
    return f"loss {epoch.train_loss:.3f}" + ("" if accuracy is None else f"  accuracy {accuracy:.1f} %")


def _check_same(path: Path, run: NasRun, record: SearchRecord) -> None:
    """Raise unless a record is of the search that is asked for."""
    is_same = (record.method, record.seed, record.dataset_hash) == (run.method, run.search_seed, run.dataset.hash)
    if not is_same or record.settings != run.budget.settings(run.method):
        raise InvalidOption(
            f"{path} is the record of another search than {run.method} with seed {run.search_seed} on "
            f"{run.dataset.name} as it is set; name another folder, or remove it"
        )


def recorded_outcome(result: UnseenResult) -> SearchOutcome:
    """The outcome of the search of a result; older files have another form for Bonsai-Net."""
    content = json.loads(result.architecture)
    earlier = isinstance(content, dict) and "kept" in content
    architecture = read_earlier_architecture(content) if earlier else Architecture.from_json(result.architecture)
    return SearchOutcome(architecture, result.search_time_s or 0.0)
