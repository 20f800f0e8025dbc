"""The checkpoint of a population's training, from which it resumes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import torch
from torch import Tensor

from nasbed.core.errors import InvalidOption, shorten
from nasbed.datasets.dataset import Dataset
from nasbed.training.checkpoint import CheckpointKind, identity
from nasbed.training.outcome import Job
from nasbed.training.recipe import Recipe

POPULATION = CheckpointKind(b"nasbed population 1 ", "population", "train")

Curve = list[list[float | None]]
"""The validation accuracies of all networks, epoch by epoch."""


@dataclass(slots=True)
class PopulationProgress:
    """Completed epochs, their seconds, and the learning curve if it is measured."""

    epochs: int = 0
    seconds: float = 0.0
    curve: Curve = field(default_factory=list)


class PopulationCheckpoint:
    """Where the training of some jobs, all of one length, is saved after every epoch.

    Args:
        path: The file.
        jobs: Architectures, seeds and epochs.
        dataset: The images.
        recipe: How to train.
        learning_curve: Whether the training measures one.
    """

    def __init__(
        self, path: Path, jobs: Sequence[Job], dataset: Dataset, recipe: Recipe, *, learning_curve: bool
    ) -> None:
        self._path = path
        networks = " ".join(job.architecture.to_json() for job in jobs)
        facts = identity(networks, dataset, recipe, seed=0, epochs=jobs[0].epochs)
        self._identity = facts | {"seed": [job.seed for job in jobs], "learning curve": learning_curve}

    def save(self, state: Sequence[Tensor], progress: PopulationProgress) -> None:
        """Write what a training changes, and how far it is."""
        content = {
            "epochs": progress.epochs,
            "seconds": progress.seconds,
            "curve": progress.curve,
            "state": [tensor.cpu() for tensor in state],
        }
        POPULATION.write(self._path, self._identity, content)

    def resume(self, state: Sequence[Tensor]) -> PopulationProgress:
        """Restore the state in place, if there is a checkpoint. Raises for that of another training."""
        if not self._path.exists():
            return PopulationProgress()
        content = POPULATION.read(self._path, self._identity)
        try:
            stored = [tensor.detach() for tensor in content["state"]]
            progress = PopulationProgress(content["epochs"], content["seconds"], content["curve"])
        except (KeyError, TypeError, AttributeError) as error:
            raise POPULATION.damaged(self._path, shorten(str(error), 100)) from None
        if [tensor.shape for tensor in stored] != [tensor.shape for tensor in state]:
            raise InvalidOption(
                f"{self._path} is the checkpoint of a population on another device, which lays out its numbers "
                f"otherwise; resume it there, or remove it and train from the beginning"
            )
        with torch.no_grad():
            for tensor, kept in zip(state, stored, strict=True):
                tensor.copy_(kept)
        return progress
