"""A training on disk, so that it goes on where it was interrupted. A checkpoint holds numbers and texts, no code."""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import nn

from nasbed.core.errors import BadFile, InvalidOption, shorten
from nasbed.core.files import complete_file
from nasbed.datasets.dataset import Dataset
from nasbed.training.recipe import Recipe

HEAD = b"nasbed checkpoint 1 "


@dataclass(slots=True)
class Progress:
    """How far a training is: epochs done, the seconds they took, the mean loss of the last."""

    epochs: int = 0
    train_time_s: float = 0.0
    loss: float = float("nan")


def identity(network: str, dataset: Dataset, recipe: Recipe, *, seed: int, epochs: int) -> dict[str, Any]:
    """What makes a training the one it is; the recipe's name and source say nothing about that."""
    settings = {name: value for name, value in recipe.settings().items() if name not in ("name", "source", "epochs")}
    named = {"network": network, "dataset": f"{dataset.name} {dataset.hash}", "seed": seed, "epochs": epochs}
    return named | {f"the recipe's {name}": value for name, value in settings.items()}


def save(
    path: Path, of: Mapping[str, Any], network: nn.Module, optimizer: torch.optim.Optimizer, done: Progress
) -> None:
    """Write a checkpoint; the one before is replaced in one step."""
    file = io.BytesIO()
    content = {
        "identity": json.dumps(of),
        "epochs": done.epochs,
        "train_time_s": done.train_time_s,
        "loss": done.loss,
        "network": network.state_dict(),
        "optimizer": optimizer.state_dict(),
    }
    torch.save(content, file)
    body = file.getvalue()
    path.parent.mkdir(parents=True, exist_ok=True)
    with complete_file(path) as draft:
        draft.write_bytes(HEAD + hashlib.sha256(body).hexdigest().encode() + b"\n" + body)


def resume(path: Path, of: Mapping[str, Any], network: nn.Module, optimizer: torch.optim.Optimizer) -> Progress:
    """Put a network and its optimizer where a checkpoint left them. One of another training is refused."""
    content = _read(path)
    try:
        stored = json.loads(content["identity"])
        expected = json.loads(json.dumps(of))
        other = [name for name in {**expected, **stored} if expected.get(name) != stored.get(name)]
        if other:
            raise InvalidOption(
                f"{path} is the checkpoint of a training with {other[0]} {shorten(stored.get(other[0]))}, not "
                f"{shorten(expected.get(other[0]))}; name another file, or remove this one"
            )
        network.load_state_dict(content["network"])
        optimizer.load_state_dict(content["optimizer"])
        return Progress(content["epochs"], content["train_time_s"], content["loss"])
    except (KeyError, TypeError, ValueError, AttributeError, RuntimeError) as error:
        if isinstance(error, InvalidOption):
            raise
        raise _damaged(path, f"it does not fit this network, {shorten(str(error), 100)}") from None


def _read(path: Path) -> dict[str, Any]:
    try:
        head, _, body = path.read_bytes().partition(b"\n")
    except OSError as error:
        raise BadFile(f"the checkpoint {path} cannot be read: {error.strerror}; check the path") from None
    if not head.startswith(HEAD):
        raise BadFile(f"{path} is no checkpoint of a training; name another file")
    if hashlib.sha256(body).hexdigest().encode() != head.removeprefix(HEAD):
        raise _damaged(path, "its bytes do not have the SHA-256 it says")
    try:
        content: dict[str, Any] = torch.load(io.BytesIO(body), map_location="cpu", weights_only=True)
    except Exception as error:  # whatever torch makes of bytes that it cannot read
        raise _damaged(path, shorten(str(error), 100)) from None
    return content


def _damaged(path: Path, reason: str) -> BadFile:
    return BadFile(f"the checkpoint {path} is damaged: {reason}; remove it and train from the beginning")
