"""A search on disk, so that it resumes where it was interrupted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch

from nasbed.core.architecture import Architecture
from nasbed.core.errors import BadFile, shorten
from nasbed.oneshot.pruning.legacy_files import read_earlier_epoch
from nasbed.oneshot.trajectory import SearchEpoch
from nasbed.training.checkpoint import CheckpointKind

SEARCH = CheckpointKind(b"nasbed search 1 ", "search", "search")


def save(path: Path, identity: Mapping[str, Any], state: Mapping[str, Any], epochs: Sequence[SearchEpoch]) -> None:
    """Write a checkpoint. ``identity`` is what makes the search the one it is."""
    SEARCH.write(path, identity, {"state": dict(state), "epochs": [_packed(epoch) for epoch in epochs]})


def load(path: Path, identity: Mapping[str, Any]) -> tuple[dict[str, Any], list[SearchEpoch]]:
    """The state and the epochs that were saved. The checkpoint of another search is refused."""
    content = SEARCH.read(path, identity)
    try:
        state = content["state"]
        if "epochs" in state:  # as Bonsai-Net had them before it shared the loop
            return state, [read_earlier_epoch(stored) for stored in state["epochs"]]
        return state, [_unpacked(stored) for stored in content["epochs"]]
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise damaged(path, shorten(str(error), 100)) from None


def damaged(path: Path, reason: str) -> BadFile:
    return SEARCH.damaged(path, reason)


def _packed(epoch: SearchEpoch) -> dict[str, Any]:
    return {
        "epoch": epoch.epoch,
        "architecture": epoch.architecture.to_json(),
        "validation_accuracy": epoch.validation_accuracy,
        "train_loss": epoch.train_loss,
        "skips": dict(epoch.skips),
        "parameters": {name: torch.from_numpy(values) for name, values in epoch.parameters.items()},
        "search_time_s": epoch.search_time_s,
        "eigenvalue": epoch.eigenvalue,
        "figures": dict(epoch.figures),
    }


def _unpacked(stored: Mapping[str, Any]) -> SearchEpoch:
    return SearchEpoch(
        **{
            **stored,
            "architecture": Architecture.from_json(stored["architecture"]),
            "parameters": {name: values.numpy() for name, values in stored["parameters"].items()},
        }
    )
