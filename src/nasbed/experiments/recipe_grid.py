"""Sampled architectures trained under every setting of a grid over a recipe, each training kept in a journal."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from nasbed.core.architecture import Architecture
from nasbed.core.errors import InvalidOption, NasbedError
from nasbed.core.execution import Engine, LocalEngine
from nasbed.core.execution.journal import TaskJournal
from nasbed.datasets import load as load_dataset
from nasbed.datasets.dataset import Dataset
from nasbed.spaces.base import SearchSpace
from nasbed.training.recipe import FIELDS, Recipe

JOURNAL = "trainings.journal"
FIXED = ("name", "source", "epochs", "split", "skeleton")
"""Fields of a recipe that do not vary: those that change what is trained, on what and for how long."""


@dataclass(frozen=True, slots=True)
class RecipeSetting:
    """One point of a grid: the fields that it sets, and the recipe with them."""

    values: Mapping[str, Any]
    recipe: Recipe

    @property
    def name(self) -> str:
        return ", ".join(f"{field}={value}" for field, value in self.values.items())

    @property
    def key(self) -> str:
        """Its values in an order of their own, for a journal."""
        return json.dumps(dict(sorted(self.values.items())))


@dataclass(frozen=True, slots=True)
class GridTraining:
    """One training of a grid."""

    architecture: Architecture
    setting: RecipeSetting
    seed: int
    dataset: str
    epochs: int | None
    device: str


@dataclass(frozen=True, slots=True)
class GridOutcome:
    """The accuracies of a training in per cent; None where it diverged."""

    validation: float | None
    test: float | None


def recipe_settings(recipe: Recipe, varied: Mapping[str, Sequence[Any]]) -> list[RecipeSetting]:
    """Every combination of values of a recipe's fields; raises for one that is not a recipe."""
    if not varied:
        raise InvalidOption("a grid varies at least one field of a recipe, such as learning_rate, got none")
    known = [field for field in FIELDS if field not in FIXED]
    for field in varied:
        if field not in known:
            raise InvalidOption(f"a recipe's {field} cannot vary; choose from {', '.join(known)}")
    settings = []
    for values in product(*varied.values()):
        chosen = dict(zip(varied, values, strict=True))
        settings.append(RecipeSetting(chosen, replace(recipe, **chosen)))
    return settings


def sampled_architectures(space: SearchSpace, count: int, seed: int) -> list[Architecture]:
    """Different random architectures, in canonical form."""
    rng = np.random.default_rng(seed)
    if count > space.size:
        raise InvalidOption(f"{space.name} has {space.size} architectures, got {count} to sample; ask for fewer")
    sample: dict[Architecture, None] = {}
    while len(sample) < count:
        sample[space.canonical(space.sample(rng))] = None
    return list(sample)


def grid_trainings(
    architectures: Sequence[Architecture],
    settings: Sequence[RecipeSetting],
    *,
    dataset: str,
    recipe: Recipe,
    seeds: int,
    epochs: int | None,
    device: str,
    out: Path,
    engine: Engine | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> dict[tuple[Architecture, str, int], GridOutcome]:
    """Train every architecture under every setting with every seed; a training in the journal is not repeated.

    Args:
        architectures: of one space.
        settings: of :func:`recipe_settings`.
        dataset: the name of the images.
        recipe: the one that all settings are changes of.
        seeds: trainings of each pair, with seeds 0, 1, 2 …
        epochs: one of the recipe's budgets, the largest by default.
        device: where to train.
        out: the folder of the journal.
        engine: carries out the trainings.
        progress: called with how many of how many trainings are done.

    Returns:
        The outcomes by architecture, :attr:`RecipeSetting.key` and seed.
    """
    inputs = {
        "space": architectures[0].space,
        "dataset": f"{dataset} {load_dataset(dataset).hash}",
        "recipe": recipe.settings(),
        "epochs": recipe.budget(epochs),
    }
    wanted = [
        GridTraining(architecture, setting, seed, dataset, epochs, device)
        for seed in range(seeds)
        for architecture in architectures
        for setting in settings
    ]
    errors: list[str] = []
    with TaskJournal[Any, Any](out / JOURNAL, inputs) as journal:
        missing = [task for task in wanted if _key(task) not in journal]
        completed = len(wanted) - len(missing)
        for outcome in (engine or LocalEngine()).map_unordered(train_task, missing):
            if outcome.error:
                errors.append(outcome.error)
                continue
            journal.record(_key(missing[outcome.task]), outcome.result)
            completed += 1
            if progress is not None:
                progress(completed, len(wanted))
        if errors:
            raise NasbedError(f"{len(errors)} of {len(missing)} trainings broke: {errors[0]}; run again to repeat them")
        return {(task.architecture, task.setting.key, task.seed): GridOutcome(*journal[_key(task)]) for task in wanted}


def _key(task: GridTraining) -> tuple[tuple[int, ...], str, int]:
    return task.architecture.code, task.setting.key, task.seed


@lru_cache(maxsize=1)
def _images(name: str) -> Dataset:
    return load_dataset(name)


def train_task(task: GridTraining) -> tuple[float | None, float | None]:
    """Carry out one training: its validation and test accuracy."""
    from nasbed.training.devices import threads_used
    from nasbed.training.loop import train

    with threads_used(1):
        outcome = train(
            task.architecture,
            _images(task.dataset),
            task.setting.recipe,
            seed=task.seed,
            epochs=task.epochs,
            device=task.device,
        )
    return outcome.validation_accuracy, outcome.test_accuracy
