"""Checkpoints of trainings and other work, which resume where they were interrupted. A checkpoint holds numbers and
texts, no code."""

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


@dataclass(frozen=True, slots=True)
class CheckpointKind:
    """What a checkpoint is of, for the first bytes of its file and in messages: a training begins with ``train``."""

    head: bytes
    name: str
    begin: str

    def write(self, path: Path, identity: Mapping[str, Any], content: Mapping[str, Any]) -> None:
        """Write a checkpoint; it replaces the previous one in one step. ``identity`` says which work it belongs to.
        The content is tensors, numbers and texts in any nesting."""
        file = io.BytesIO()
        torch.save({"identity": json.dumps(identity), **content}, file)
        body = file.getvalue()
        path.parent.mkdir(parents=True, exist_ok=True)
        with complete_file(path) as draft:
            draft.write_bytes(self.head + hashlib.sha256(body).hexdigest().encode() + b"\n" + body)

    def read(self, path: Path, identity: Mapping[str, Any]) -> dict[str, Any]:
        """What was written. Raises for the checkpoint of other work."""
        content = self.content(path)
        try:
            stored, expected = json.loads(content["identity"]), json.loads(json.dumps(identity))
            differing = [name for name in {**expected, **stored} if expected.get(name) != stored.get(name)]
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise self.damaged(path, shorten(str(error), 100)) from None
        if differing:
            raise InvalidOption(
                f"{path} is the checkpoint of a {self.name} with {differing[0]} {shorten(stored.get(differing[0]))}, "
                f"not {shorten(expected.get(differing[0]))}; name another file, or remove this one"
            )
        return content

    def damaged(self, path: Path, reason: str) -> BadFile:
        """The error to raise."""
        return BadFile(f"the checkpoint {path} is damaged: {reason}; remove it and {self.begin} from the beginning")

    def content(self, path: Path) -> dict[str, Any]:
        """What was written, whatever its identity."""
        try:
            head, _, body = path.read_bytes().partition(b"\n")
        except OSError as error:
            raise BadFile(f"the checkpoint {path} cannot be read: {error.strerror}; check the path") from None
        if not head.startswith(self.head):
            raise BadFile(f"{path} is not a checkpoint of a {self.name}; name another file")
        if hashlib.sha256(body).hexdigest().encode() != head.removeprefix(self.head):
            raise self.damaged(path, "its content does not have the recorded SHA-256")
        try:
            content: dict[str, Any] = torch.load(io.BytesIO(body), map_location="cpu", weights_only=True)
        except Exception as error:  # whatever torch makes of bytes that it cannot read
            raise self.damaged(path, shorten(str(error), 100)) from None
        return content


TRAINING = CheckpointKind(b"nasbed checkpoint 1 ", "training", "train")


@dataclass(slots=True)
class TrainingState:
    """The progress of a training: completed epochs, their seconds, the mean loss and the training accuracy of the last,
    and the validation accuracies of the learning curve, if any. Checkpoints of earlier versions lack the last two."""

    epochs: int = 0
    train_time_s: float = 0.0
    loss: float = float("nan")
    train_accuracy: float | None = None
    curve: tuple[float | None, ...] = ()


def identity(network: str, dataset: Dataset, recipe: Recipe, *, seed: int, epochs: int) -> dict[str, Any]:
    """Everything that decides the outcome of a training. The recipe's name and source do not.

    Args:
        network: The name of the network.
        dataset: The images.
        recipe: How to train.
        seed: The seed of the training.
        epochs: Its length.
    """
    settings = {name: value for name, value in recipe.settings().items() if name not in ("name", "source", "epochs")}
    facts = {"network": network, "dataset": f"{dataset.name} {dataset.hash}", "seed": seed, "epochs": epochs}
    return facts | {f"the recipe's {name}": value for name, value in settings.items()}


def save(
    path: Path,
    training: Mapping[str, Any],
    network: nn.Module,
    optimizer: torch.optim.Optimizer,
    progress: TrainingState,
) -> None:
    """Write the checkpoint of a training.

    Args:
        path: The file.
        training: Its :func:`identity`.
        network: The network.
        optimizer: Its optimizer.
        progress: How far the training is.
    """
    content = {
        "epochs": progress.epochs,
        "train_time_s": progress.train_time_s,
        "loss": progress.loss,
        "train_accuracy": progress.train_accuracy,
        "curve": list(progress.curve),
        "network": network.state_dict(),
        "optimizer": optimizer.state_dict(),
    }
    TRAINING.write(path, training, content)


def resume(
    path: Path, training: Mapping[str, Any], network: nn.Module, optimizer: torch.optim.Optimizer
) -> TrainingState:
    """Restore a network and its optimizer from a checkpoint. Raises for the checkpoint of another training."""
    content = TRAINING.read(path, training)
    try:
        network.load_state_dict(content["network"])
        optimizer.load_state_dict(content["optimizer"])
        return TrainingState(
            content["epochs"],
            content["train_time_s"],
            content["loss"],
            content.get("train_accuracy"),
            tuple(content.get("curve", ())),
        )
    except (KeyError, TypeError, ValueError, AttributeError, RuntimeError) as error:
        raise TRAINING.damaged(path, f"it does not fit this network, {shorten(str(error), 100)}") from None
