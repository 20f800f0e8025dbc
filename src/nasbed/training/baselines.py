"""The training of a network that nobody searched for, and its accuracy on the validation images epoch by epoch."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import torch

from nasbed.datasets.dataset import Dataset
from nasbed.networks.baselines import baseline
from nasbed.training.devices import chance_kept, chosen_device
from nasbed.training.evaluating import accuracy
from nasbed.training.images import TrainingImages
from nasbed.training.loop import train_network
from nasbed.training.outcome import EpochEnd, Trained
from nasbed.training.recipe import Recipe


@dataclass(frozen=True, slots=True)
class BaselineRun:
    """What came of a training. ``validated`` has the accuracy in per cent after each epoch, counted from 1, that was
    trained in this call: after a checkpoint those before it are missing."""

    outcome: Trained
    validated: dict[int, float | None]
    parameters: int


def seeded_baseline(name: str, dataset: Dataset, seed: int) -> torch.nn.Module:
    """The untrained network for a dataset, with the initial weights of a seed, drawn as its authors draw them."""
    channels, height, width = dataset.shape
    with chance_kept(torch.device("cpu")):
        torch.default_generator.manual_seed(seed)
        return baseline(name, classes=len(dataset.classes), channels_in=channels, image=(height, width))


def train_baseline(
    name: str,
    dataset: Dataset,
    recipe: Recipe,
    *,
    seed: int = 0,
    epochs: int | None = None,
    device: str | torch.device = "cpu",
    checkpoint: Path | None = None,
    progress: Callable[[EpochEnd, float | None], None] | None = None,
) -> BaselineRun:
    """Train a baseline as a recipe says, and measure its last weights; no epoch is chosen by its validation accuracy.

    On a GPU channels are kept last in memory, which changes speed alone.
    """
    where = chosen_device(device)
    network = seeded_baseline(name, dataset, seed)
    if where.type == "cuda":
        network = network.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
    images = TrainingImages(dataset, recipe, where)
    validated: dict[int, float | None] = {}

    def report_epoch(end: EpochEnd) -> None:
        validated[end.done] = accuracy(network, images, "valid", recipe)
        if progress is not None:
            progress(end, validated[end.done])

    outcome = train_network(
        network,
        dataset,
        recipe,
        seed=seed,
        epochs=epochs,
        device=where,
        checkpoint=checkpoint,
        progress=report_epoch,
        images=images,
        called=f"the baseline {name}",
    )
    return BaselineRun(outcome, validated, sum(weight.numel() for weight in network.parameters()))
