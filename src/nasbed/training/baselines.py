"""The training of a baseline network, and its accuracy on the validation images epoch by epoch."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Unpack

import torch

from nasbed.datasets.dataset import Dataset
from nasbed.networks.baselines import baseline
from nasbed.training.accuracy import accuracy
from nasbed.training.devices import chance_kept, chosen_device, coarse_products
from nasbed.training.images import TrainingImages
from nasbed.training.loop import train_network
from nasbed.training.options import RunOptions
from nasbed.training.outcome import EpochEnd, TrainingOutcome
from nasbed.training.recipe import Recipe

BaselineCallback = Callable[[EpochEnd, float | None], None]
"""Called with the end of an epoch and the validation accuracy in per cent, None without validation images."""


@dataclass(frozen=True, slots=True)
class BaselineRun:
    """The outcome of a training. ``validated`` has the accuracy in per cent after each epoch, counted from 1, that this
    call trained. The epochs before a checkpoint are missing."""

    outcome: TrainingOutcome
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
    checkpoint: str | Path | None = None,
    progress: BaselineCallback | None = None,
    **options: Unpack[RunOptions],
) -> BaselineRun:
    """Train a baseline by a recipe, and measure its last weights. No epoch is chosen by its validation accuracy.

    Channels are last in memory, which changes only the speed: on a CPU a step of MNASNet takes a third of the time. On
    a GPU matrix products are rounded as convolutions are.

    Args:
        name: One of ``BASELINES``.
        dataset: The images.
        recipe: How to train.
        checkpoint: The training is saved in this file after every epoch, and resumes from there if the file exists.
        progress: Called after every epoch.
        options: ``seed``, ``epochs`` and ``device``, as of :func:`train_network`.
    """
    network = seeded_baseline(name, dataset, options.get("seed", 0))
    network = network.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
    images = TrainingImages(dataset, recipe, chosen_device(options.get("device", "cpu")))
    validated: dict[int, float | None] = {}

    def report_epoch(end: EpochEnd) -> None:
        validated[end.done] = accuracy(network, images, "valid", recipe)
        if progress is not None:
            progress(end, validated[end.done])

    with coarse_products():
        outcome = train_network(
            network,
            dataset,
            recipe,
            checkpoint=checkpoint,
            progress=report_epoch,
            images=images,
            called=f"the baseline {name}",
            **options,
        )
    return BaselineRun(outcome, validated, sum(weight.numel() for weight in network.parameters()))
