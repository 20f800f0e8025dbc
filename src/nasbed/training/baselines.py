"""The training of a baseline network, and its accuracy on the validation images epoch by epoch."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Unpack

import torch

from nasbed.datasets.dataset import Dataset
from nasbed.networks.baselines import BASELINES, baseline
from nasbed.networks.baselines.upscaling import seen_size
from nasbed.networks.stacking import check_one_size
from nasbed.training.devices import chance_kept, chosen_device, coarse_products
from nasbed.training.images import TrainingImages
from nasbed.training.loop import train_network
from nasbed.training.options import EpochCallback, RunOptions
from nasbed.training.outcome import EpochEnd, TrainingOutcome
from nasbed.training.placement.network import place_network
from nasbed.training.recipe import Recipe
from nasbed.training.side_by_side import check_side_by_side, train_side_by_side
from nasbed.training.stepwise import StepwiseTraining


@dataclass(frozen=True, slots=True)
class BaselineRun:
    """The outcome of a training, with a learning curve where there are images to validate with, and the number of
    weights."""

    outcome: TrainingOutcome
    parameters: int

    @property
    def validated(self) -> dict[int, float | None]:
        """The validation accuracy in per cent after each epoch, counted from 1."""
        return dict(enumerate(self.outcome.validation_curve or (), start=1))


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
    progress: EpochCallback | None = None,
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
    device = chosen_device(options.get("device", "cpu"))
    member = _BaselineMember(name, dataset, recipe, options.get("seed", 0), device)
    with coarse_products():
        outcome = train_network(
            member.network,
            dataset,
            recipe,
            checkpoint=checkpoint,
            progress=progress,
            images=member.images,
            learning_curve=member.is_validated,
            called=_called(name),
            **options,
        )
    return member.run(outcome)


def check_train_baselines(name: str, datasets: Sequence[Dataset], recipe: Recipe) -> None:
    """Raise where :func:`train_baselines` cannot train a baseline on these datasets, before any network is made."""
    check_side_by_side(recipe)
    builder = BASELINES.get(name)
    check_one_size(seen_size(builder, dataset.shape[1:]) for dataset in datasets)


def train_baselines(
    name: str,
    datasets: Sequence[Dataset],
    recipe: Recipe,
    *,
    checkpoints: Sequence[Path | None] | None = None,
    progress: Callable[[int, EpochEnd], None] | None = None,
    **options: Unpack[RunOptions],
) -> Iterator[tuple[int, BaselineRun]]:
    """Train a baseline on several datasets side by side, in the same kernels: each as :func:`train_baseline` does, up
    to rounding. The network enlarges the images of all to one size, or they have it. Yields the place and the run of
    each when it ends.

    Args:
        name: One of ``BASELINES``.
        datasets: The images, of which each network has its own.
        recipe: How to train.
        checkpoints: A file for each dataset, as in :func:`train_baseline`.
        progress: Called after every epoch of a dataset, with its place among them.
        options: ``seed``, ``epochs`` and ``device``, as of :func:`train_network`.
    """
    check_train_baselines(name, datasets, recipe)
    device, seed = chosen_device(options.get("device", "cpu")), options.get("seed", 0)
    members = [_BaselineMember(name, dataset, recipe, seed, device) for dataset in datasets]

    def training(place: int, member: _BaselineMember) -> StepwiseTraining:
        return StepwiseTraining(
            member.network,
            datasets[place],
            recipe,
            member.images,
            seed=seed,
            epochs=options.get("epochs"),
            checkpoint=None if checkpoints is None else checkpoints[place],
            progress=None if progress is None else partial(progress, place),
            learning_curve=member.is_validated,
            called=_called(name),
        )

    with coarse_products():
        for place, outcome in train_side_by_side([training(place, member) for place, member in enumerate(members)]):
            yield place, members[place].run(outcome)


class _BaselineMember:
    """An untrained baseline on a device, and its images. Channels are last in memory.

    Args:
        name: One of ``BASELINES``.
        dataset: The images.
        recipe: How they are divided and cut.
        seed: Of the initial weights.
        device: Where to compute.
    """

    def __init__(self, name: str, dataset: Dataset, recipe: Recipe, seed: int, device: torch.device) -> None:
        self.network: torch.nn.Module = place_network(seeded_baseline(name, dataset, seed), device)
        self.network.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
        self.images = TrainingImages(dataset, recipe, device)
        self.is_validated = len(self.images.split.valid) > 0

    def run(self, outcome: TrainingOutcome) -> BaselineRun:
        """What is known of it after its training."""
        return BaselineRun(outcome, sum(weight.numel() for weight in self.network.parameters()))


def _called(name: str) -> str:
    return f"the baseline {name}"
