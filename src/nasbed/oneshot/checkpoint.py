"""A search on disk, so that it goes on where it was interrupted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch

from nasbed.core.architecture import Architecture
from nasbed.core.errors import BadFile, shorten
from nasbed.oneshot.trajectory import SearchEpoch
from nasbed.training.checkpoint import CheckpointKind

SEARCH = CheckpointKind(b"nasbed search 1 ", "search", "search")


def save(path: Path, of: Mapping[str, Any], state: Mapping[str, Any], epochs: Sequence[SearchEpoch]) -> None:
    """Write a checkpoint. ``of`` is what makes the search the one it is."""
    SEARCH.write(path, of, {"state": dict(state), "epochs": [_packed(each) for each in epochs]})


def load(path: Path, of: Mapping[str, Any]) -> tuple[dict[str, Any], list[SearchEpoch]]:
    """The state and the epochs that were saved. The checkpoint of another search is refused."""
    content = SEARCH.read(path, of)
    try:
        return content["state"], [_unpacked(each) for each in content["epochs"]]
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise damaged(path, shorten(str(error), 100)) from None


def damaged(path: Path, reason: str) -> BadFile:
    return SEARCH.damaged(path, reason)


def _packed(each: SearchEpoch) -> dict[str, Any]:
    return {
        "epoch": each.epoch,
        "architecture": each.architecture.to_json(),
        "validation_accuracy": each.validation_accuracy,
        "train_loss": each.train_loss,
        "skips": dict(each.skips),
        "parameters": {name: torch.from_numpy(values) for name, values in each.parameters.items()},
        "search_time_s": each.search_time_s,
        "eigenvalue": each.eigenvalue,
    }


def _unpacked(stored: Mapping[str, Any]) -> SearchEpoch:
    return SearchEpoch(
        **{
            **stored,
            "architecture": Architecture.from_json(stored["architecture"]),
            "parameters": {name: values.numpy() for name, values in stored["parameters"].items()},
        }
    )
