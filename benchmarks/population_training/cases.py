"""What benchmarks/population.py measures: spaces, populations and shapes of images."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from nasbed import datasets
from nasbed.core.errors import InvalidOption
from nasbed.datasets import Dataset, LabelledImages
from nasbed.spaces import space
from nasbed.training.outcome import Job
from nasbed.training.recipe import Recipe
from nasbed.training.recipe_files import load_recipe

RANDOM = re.compile(r"random:(\d+)x(\d+)x(\d+)")
CLASSES = 10

NB201 = load_recipe("collect-nb201")


@dataclass(frozen=True, slots=True)
class Case:
    """A population of random architectures, a recipe, and the images: a dataset's name, or ``random:CxHxW``."""

    name: str
    space: str
    population: int
    dataset: str
    recipe: Recipe
    images: tuple[int, int, int] = (40_000, 10_000, 10_000)
    """How many random images train, validate and test."""

    def jobs(self, seed: int) -> list[Job]:
        """As many trainings of random architectures as the population has."""
        rng, search_space = np.random.default_rng(seed), space(self.space)
        epochs = self.recipe.epochs[-1]
        return [Job(search_space.sample(rng), epochs, number) for number in range(self.population)]

    def load(self) -> Dataset:
        """The dataset, or random images made in memory."""
        shape = RANDOM.fullmatch(self.dataset)
        if shape is None:
            return datasets.load(self.dataset)
        channels, height, width = map(int, shape.groups())
        return random_dataset(self.dataset, (channels, height, width), self.images)


CASES = (
    Case("nb201-16x16", "nb201", 384, "random:3x16x16", NB201),
    Case("nb201-8x8", "nb201", 384, "random:12x8x8", NB201),  # Chesseract
    Case("nb201-24x24", "nb201", 192, "random:1x24x24", NB201),  # Language
    Case("nb201-27x18", "nb201", 192, "random:1x27x18", NB201),  # Gutenberg
    Case("nb201-28x28", "nb201", 192, "random:3x28x28", NB201),  # AddNIST
    Case("nb201-32x32", "nb201", 192, "random:3x32x32", NB201),  # CIFAR-10
    Case("darts-16x16", "darts", 192, "random:3x16x16", load_recipe("collect-darts")),
    Case("darts-24x24", "darts", 96, "random:1x24x24", load_recipe("collect-darts")),
    Case("nb101-16x16", "nb101", 192, "random:3x16x16", load_recipe("collect-nb101")),
    Case("transnas-16x16", "transnas-micro", 96, "random:3x16x16", replace(NB201, skeleton={"channels": 16})),
    Case("fbnet-16x16", "fbnet", 96, "random:3x16x16", load_recipe("collect-fbnet")),
)

SMALL_SKELETONS: Mapping[str, Mapping[str, Any]] = {
    "nb101": {"channels": 4, "stacks": 2, "cells_per_stack": 1},
    "nb201": {"channels": 4, "cells_per_stage": 1},
    "darts": {"channels": 4, "cells": 3},
    "transnas-micro": {"channels": 4, "modules": "4", "cells_per_module": 1},
    "fbnet": {"stage_channels": (4, 4, 8, 8, 8, 16, 16), "stem_channels": 4, "header_channels": 16},
}


def smaller(case: Case) -> Case:
    """The case with few small networks, small batches and few small images, for a rehearsal on a CPU."""
    recipe = replace(
        case.recipe,
        batch=8,
        epochs=(2,),
        epoch_images=24,
        split=(48, 12),
        skeleton=SMALL_SKELETONS.get(case.space, {}),
    )
    dataset = case.dataset
    if shape := RANDOM.fullmatch(dataset):
        channels, height, width = map(int, shape.groups())
        dataset = f"random:{channels}x{min(height, 9)}x{min(width, 8)}"
    return replace(case, population=3, dataset=dataset, recipe=recipe, images=(48, 12, 12))


def random_dataset(name: str, shape: tuple[int, int, int], images: tuple[int, int, int]) -> Dataset:
    """Random bytes and labels: how long a training step takes does not depend on what it learns."""
    rng = np.random.default_rng(0)

    def part(count: int) -> LabelledImages:
        pixels = rng.integers(0, 256, (count, *shape), dtype=np.uint8)
        return LabelledImages(pixels, rng.integers(0, CLASSES, count, dtype=np.int64))

    train, valid, test = images
    return Dataset(
        name=name,
        train=part(train + valid),
        test=part(test),
        classes=tuple(map(str, range(CLASSES))),
        mean=(0.5,) * shape[0],
        std=(0.29,) * shape[0],
        hash="random",
        published=(train, valid),
    )


def custom_case(space_name: str, dataset: str, *, recipe: str | None, population: int) -> Case:
    """A case of one's own; without a recipe, that of the space's first case here."""
    usual = next((case.recipe for case in CASES if case.space == space_name), None)
    chosen = load_recipe(recipe) if recipe is not None else usual
    if chosen is None:
        raise InvalidOption(f"there is no usual recipe for networks of {space_name}; name one with --recipe")
    if RANDOM.fullmatch(dataset) is None:
        images = len(datasets.load(dataset).train)
        chosen = replace(chosen, split=None) if chosen.split is not None and sum(chosen.split) > images else chosen
    return Case(f"{space_name}-{dataset}", space_name, population, dataset, chosen)
