"""A cell of table 1 of the paper on unseen datasets, measured: needs torch."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import torch

from nasbed.core.versions import package_versions
from nasbed.datasets.dataset import Dataset
from nasbed.experiments.unseen.published import published
from nasbed.experiments.unseen.results import UnseenResult
from nasbed.training.baselines import train_baseline
from nasbed.training.devices import chosen_device
from nasbed.training.images import recipe_split
from nasbed.training.outcome import EpochEnd
from nasbed.training.recipe import Recipe


def measured_baseline(
    model: str,
    dataset: Dataset,
    recipe: Recipe,
    *,
    paper: str | None = None,
    seed: int = 0,
    epochs: int | None = None,
    device: str | torch.device = "cpu",
    checkpoint: Path | None = None,
    progress: Callable[[EpochEnd, float | None], None] | None = None,
) -> UnseenResult:
    """Train a baseline and return its result.

    Args:
        model: The id of the network.
        dataset: What it is trained on.
        recipe: How it is trained.
        paper: Which of the paper's datasets this one is; by default the one of its name.
        seed: The seed of the weights and of the order of the images.
        epochs: One of the recipe's budgets; by default the largest.
        device: Where to train.
        checkpoint: The file that keeps the training after every epoch.
        progress: Called after each epoch, with the validation accuracy where it was measured.
    """
    called = dataset.name if paper is None else published().dataset_called(paper)
    where = chosen_device(device)
    run = train_baseline(
        model,
        dataset,
        recipe,
        seed=seed,
        epochs=epochs,
        device=where,
        checkpoint=checkpoint,
        progress=progress,
    )
    split, outcome = recipe_split(dataset, recipe), run.outcome
    return UnseenResult(
        dataset=called,
        model=model,
        epochs=recipe.budget(epochs),
        seed=seed,
        status=outcome.status,
        test_accuracy=outcome.test_accuracy,
        validation_accuracy=outcome.validation_accuracy,
        validated={str(epoch): value for epoch, value in run.validated.items()},
        train_loss=outcome.train_loss,
        train_time_s=outcome.train_time_s,
        dataset_hash=dataset.hash,
        images=(len(split.train), len(split.valid), len(dataset.test)),
        parameters=run.parameters,
        recipe=recipe.settings(),
        device=device_name(where),
        versions=versions(),
        reason=outcome.reason,
    )


def device_name(device: torch.device) -> str:
    """A device in words."""
    return torch.cuda.get_device_name(device) if device.type == "cuda" else str(device)


def versions() -> dict[str, str]:
    """The versions of what a training on this machine depends on."""
    return {**package_versions("torch", "torchvision", "numpy"), "torch": torch.__version__}
