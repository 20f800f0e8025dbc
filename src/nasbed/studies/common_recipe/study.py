"""The choice of common hyperparameters H† by a grid search over sampled architectures (NAS-Bench-101, sections 2.4 and
5.1): the setting with the best mean validation accuracy over the sample."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nasbed.core.architecture import Architecture
from nasbed.core.errors import InvalidOption
from nasbed.core.execution import Engine
from nasbed.evaluation.significance import Interval, bootstrap_interval
from nasbed.evaluation.transfer import Transfer, hyperparameter_transfer
from nasbed.experiments.recipe_grid import (
    GridOutcome,
    RecipeSetting,
    grid_trainings,
    recipe_settings,
    sampled_architectures,
)
from nasbed.spaces.base import SearchSpace
from nasbed.training.recipe import Recipe

SAMPLE = 50
"""How many architectures the paper sampled."""


@dataclass(frozen=True, slots=True)
class SettingAccuracy:
    """One setting: the mean validation accuracy over architectures with its 95 % bootstrap interval, in per cent.

    A setting with which a training diverged has no mean: it is not one for all architectures.
    """

    name: str
    values: Mapping[str, Any]
    mean: Interval  # NaN where a training diverged
    best_for: int  # how many architectures have their own best here, a tie counting for the first
    diverged: int  # trainings


@dataclass(frozen=True, slots=True)
class CommonRecipeStudy:
    """``accuracies [architectures, settings]`` are validation accuracies, means over seeds, NaN where a training
    diverged; ``transfer`` compares H† with each architecture's own best, over the settings without such."""

    space: str
    dataset: str
    base: Recipe
    varied: Mapping[str, Sequence[Any]]
    architectures: Sequence[str]
    epochs: int
    seeds: int
    settings: Sequence[SettingAccuracy]
    accuracies: NDArray[np.float64]
    transfer: Transfer
    chosen: SettingAccuracy
    recipe: Recipe  # the base recipe with H†
    test_accuracy: float  # mean over architectures with H†

    @property
    def gaps(self) -> NDArray[np.float64]:
        """How far below its own best each architecture is with H†, in points of per cent."""
        return self.transfer.tuned - self.transfer.fixed

    def standings(self) -> list[SettingAccuracy]:
        """The best mean first; those with a diverged training last."""
        return sorted(self.settings, key=lambda setting: (setting.diverged > 0, -setting.mean.estimate))


def common_recipe_study(
    space: SearchSpace,
    dataset: str,
    recipe: Recipe,
    varied: Mapping[str, Sequence[Any]],
    *,
    architectures: int = SAMPLE,
    sample_seed: int = 0,
    seeds: int = 1,
    epochs: int | None = None,
    device: str = "cpu",
    out: Path,
    engine: Engine | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> CommonRecipeStudy:
    """Train a sample under every setting of a grid, and choose the setting with the best mean validation accuracy.

    Args:
        space: the architectures are sampled from.
        dataset: the name of the images.
        recipe: what all settings are changes of.
        varied: the values of each field.
        architectures: how many to sample; the paper took 50.
        sample_seed: of the sample.
        seeds: trainings of each pair.
        epochs: one of the recipe's budgets, the largest by default.
        device: where to train.
        out: the folder of the journal; a training that it has is not repeated.
        engine: carries out the trainings.
        progress: called with how many of how many trainings are done.
    """
    settings = recipe_settings(recipe, varied)
    sample = sampled_architectures(space, architectures, sample_seed)
    outcomes = grid_trainings(
        sample,
        settings,
        dataset=dataset,
        recipe=recipe,
        seeds=seeds,
        epochs=epochs,
        device=device,
        out=out,
        engine=engine,
        progress=progress,
    )
    validation, test = (_means(outcomes, sample, settings, seeds, part) for part in ("validation", "test"))
    complete = np.flatnonzero(~np.isnan(validation).any(axis=0))
    if not len(complete):
        raise InvalidOption("with every setting some training diverged, so none is for all; try lower learning rates")
    transfer = hyperparameter_transfer(validation[:, complete], direction="maximize")
    results = _setting_accuracies(settings, validation, np.bincount(complete[validation[:, complete].argmax(axis=1)]))
    column = int(complete[transfer.chosen])
    chosen = settings[column]
    grid = ", ".join(f"{field} in {', '.join(map(str, values))}" for field, values in varied.items())
    return CommonRecipeStudy(
        space=space.name,
        dataset=dataset,
        base=recipe,
        varied=varied,
        architectures=[space.format(arch) for arch in sample],
        epochs=recipe.budget(epochs),
        seeds=seeds,
        settings=results,
        accuracies=validation,
        transfer=transfer,
        chosen=results[column],
        recipe=replace(
            chosen.recipe,
            name=f"{recipe.name}-common",
            source=f"{recipe.name} with {chosen.name}: the best mean validation accuracy of {architectures} random "
            f"architectures of {space.name} on {dataset}, {recipe.budget(epochs)} epochs, over {grid}",
        ),
        test_accuracy=float(test[:, column].mean()),
    )


def _means(
    outcomes: Mapping[tuple[Architecture, str, int], GridOutcome],
    sample: Sequence[Architecture],
    settings: Sequence[RecipeSetting],
    seeds: int,
    part: str,
) -> NDArray[np.float64]:
    """Accuracies ``[architectures, settings]``, means over seeds; NaN where one of them diverged."""
    values = [
        [[getattr(outcomes[arch, setting.key, seed], part) for seed in range(seeds)] for setting in settings]
        for arch in sample
    ]
    means: NDArray[np.float64] = np.array(values, dtype=np.float64).mean(axis=2)
    return means


def _setting_accuracies(
    settings: Sequence[RecipeSetting], validation: NDArray[np.float64], best_for: NDArray[np.int64]
) -> list[SettingAccuracy]:
    rng = np.random.default_rng(0)
    counts = np.pad(best_for, (0, len(settings) - len(best_for)))
    results = []
    for place, setting in enumerate(settings):
        column = validation[:, place]
        diverged = int(np.isnan(column).sum())
        mean = Interval(*[float("nan")] * 3) if diverged else bootstrap_interval(column, rng)
        results.append(SettingAccuracy(setting.name, setting.values, mean, int(counts[place]), diverged))
    return results
