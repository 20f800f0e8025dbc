"""A training step of a baseline on several datasets, side by side against one after another; in one run, on one device.

    python benchmarks/side_by_side.py [--network resnet18] [--datasets random:1x8x8,random:12x8x8] [--steps 10]
    python benchmarks/side_by_side.py --network mnasnet --datasets language,random:3x24x24 --steps 100

Networks see images of one size. A step cuts the batch and moves the weights; on a GPU its gradient comes from a
recording, alone and side by side. The first epoch warms up, and the fastest of the others counts. Images are random and
made in memory unless a prepared dataset is named.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise

import torch
from torch import nn

from nasbed import datasets
from nasbed.core.errors import NasbedError
from nasbed.datasets import Dataset
from nasbed.training import EpochEnd, Recipe, load_recipe, train_network
from nasbed.training.baselines import check_train_baselines, seeded_baseline
from nasbed.training.devices import chosen_device, coarse_products
from nasbed.training.images import TrainingImages
from nasbed.training.side_by_side import train_side_by_side
from nasbed.training.stepwise import StepwiseTraining
from population_training.cases import RANDOM, random_dataset

REPEATS = 3
"""Epochs that are timed, of which the fastest counts."""
WIDTH = 40


def load(name: str, images: int) -> Dataset:
    """A prepared dataset, or so many random images to train on."""
    shape = RANDOM.fullmatch(name)
    if shape is None:
        return datasets.load(name)
    channels, height, width = map(int, shape.groups())
    return random_dataset(name, (channels, height, width), (images, 0, 1))


class Compared:
    """A baseline on several datasets, whose epochs all have as many steps."""

    def __init__(self, network: str, parts: Sequence[Dataset], recipe: Recipe, device: torch.device) -> None:
        check_train_baselines(network, parts, recipe)
        self.network, self.datasets, self.device = network, parts, device
        self.images = [TrainingImages(dataset, recipe, device) for dataset in parts]
        self.steps = min(recipe.steps_per_epoch(len(images)) for images in self.images)
        self.recipe = replace(recipe, epochs=(1 + REPEATS,), epoch_images=self.steps * recipe.batch)

    def alone_s(self, place: int) -> float:
        """Seconds of a step on one dataset."""
        dataset = self.datasets[place]

        def train(progress: Callable[[EpochEnd], None]) -> None:
            train_network(
                self._fresh(dataset),
                dataset,
                self.recipe,
                device=self.device,
                images=self.images[place],
                progress=progress,
            )

        return self._step_s(train)

    def together_s(self) -> float:
        """Seconds of a step on all."""

        def train(progress: Callable[[EpochEnd], None]) -> None:
            trainings = [
                StepwiseTraining(
                    self._fresh(dataset), dataset, self.recipe, images, progress=None if place else progress
                )
                for place, (dataset, images) in enumerate(zip(self.datasets, self.images, strict=True))
            ]
            for _ in train_side_by_side(trainings):
                pass

        return self._step_s(train)

    def _step_s(self, train: Callable[[Callable[[EpochEnd], None]], None]) -> float:
        ends: list[float] = []
        with coarse_products():
            train(lambda end: ends.append(end.train_time_s))
        return min(later - earlier for earlier, later in pairwise(ends)) / self.steps

    def _fresh(self, dataset: Dataset) -> nn.Module:
        network = seeded_baseline(self.network, dataset, seed=0)
        return network.to(self.device, memory_format=torch.channels_last)  # type: ignore[call-overload,no-any-return]


def report(label: str, seconds: float, baseline: float | None = None) -> None:
    """One line; with a baseline, how many times faster than it."""
    ratio = f"  {baseline / seconds:6.2f}x" if baseline is not None else ""
    print(f"{label:<{WIDTH}} {1e3 * seconds:10.2f} ms{ratio}", flush=True)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--network", default="resnet18", help="a baseline")
    parser.add_argument(
        "--datasets", default="random:1x8x8,random:12x8x8", help="random:CxHxW or prepared ones, with commas between"
    )
    parser.add_argument("--steps", type=int, default=10, help="steps in each of the epochs that are timed")
    parser.add_argument("--batch", type=int, default=64, help="images of each dataset in a step")
    parser.add_argument("--device", default="auto")
    options = parser.parse_args(arguments)
    names = options.datasets.split(",")
    try:
        images = options.steps * options.batch
        recipe = replace(load_recipe("unseen"), batch=options.batch, epoch_images=images)
        device = chosen_device(options.device)
        compared = Compared(options.network, [load(name, images) for name in names], recipe, device)
    except NasbedError as error:
        parser.error(str(error))
    where = torch.cuda.get_device_name(device) if device.type == "cuda" else "CPU"
    print(f"{options.network}, batches of {options.batch}, the best of {REPEATS} × {compared.steps} steps, {where}")
    alone = [compared.alone_s(place) for place in range(len(names))]
    for name, seconds in zip(names, alone, strict=True):
        report(name, seconds)
    report(f"{len(names)} datasets one after another", sum(alone))
    report(f"{len(names)} datasets side by side", compared.together_s(), sum(alone))


if __name__ == "__main__":
    main()
