"""How far two populations agree on the training times of the same architectures: by shares of the measured time, and by
a calibration. Networks that are trained alone stand beside.

    python benchmarks/network_costs.py --space nb201 --recipe small-nb201 --dataset digits --population 12 --device cpu
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import torch
from scipy.stats import spearmanr

from nasbed import datasets
from nasbed.core.architecture import Architecture
from nasbed.datasets import Dataset
from nasbed.spaces import space
from nasbed.training.devices import chosen_device
from nasbed.training.loop import train
from nasbed.training.outcome import Job
from nasbed.training.population import CostCalibration, calibrate, train_population
from nasbed.training.population.preparing import PreparationTarget, target_program
from nasbed.training.population.program import NetworkProgram
from nasbed.training.recipe import Recipe
from nasbed.training.recipe_files import load_recipe

STEPS = 8
REPEATS = 5
"""Trainings of each network alone, of which the fastest counts."""


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--space", default="nb201")
    parser.add_argument("--recipe", default="small-nb201")
    parser.add_argument("--dataset", default="digits")
    parser.add_argument("--population", type=int, default=12, help="half of it is common to both populations")
    parser.add_argument("--device", default="auto")
    return parser.parse_args()


def samples(name: str, count: int, seed: int) -> list[Architecture]:
    rng = np.random.default_rng(seed)
    return [space(name).sample(rng) for _ in range(count)]


def times_together(
    jobs: Sequence[Job], dataset: Dataset, recipe: Recipe, device: torch.device, calibration: CostCalibration
) -> np.ndarray:
    """The share of the measured time and the calibrated cost of each network, in seconds."""
    outcomes = train_population(jobs, dataset, recipe, device=device, calibration=calibration)
    return np.array([(outcome.measured_time_s, outcome.train_time_s) for outcome in outcomes])


def r2(truth: np.ndarray, other: np.ndarray) -> float:
    return float(1 - ((truth - other) ** 2).sum() / ((truth - truth.mean()) ** 2).sum())


def main() -> None:
    given = options()
    device, dataset = chosen_device(given.device), datasets.load(given.dataset)
    recipe = load_recipe(given.recipe)
    recipe = replace(recipe, epochs=(1,), epoch_images=STEPS * recipe.batch)
    measured = partial(calibrate, recipe=recipe, classes=len(dataset.classes), shape=dataset.shape, device=device)
    together = measured(samples(given.space, 2 * given.population, 0), population=given.population)
    single = measured(samples(given.space, given.population, 0), population=1)
    common, half = samples(given.space, given.population // 2, 1), given.population // 2
    populations = [
        times_together(
            [Job(cell, 1, 0) for cell in [*common, *samples(given.space, half, seed)]],
            dataset,
            recipe,
            device,
            together,
        )[: len(common)]
        for seed in (2, 3)
    ]
    alone = np.array(
        [
            min(train(cell, dataset, recipe, seed=0, epochs=1, device=device).train_time_s for _ in range(REPEATS))
            for cell in common
        ]
    )
    costs = np.array([single.cost(work) for work in single.works(_programs(common, dataset, recipe, device))])
    print(f"{len(common)} architectures in two populations of {given.population} on {together.device}")
    print(f"{'':34}{'R²':>8}{'r²':>8}{'alone: Spearman':>18}{'alone: r²':>12}")
    rows = {
        "share of the measured time": tuple(times[:, 0] for times in populations),
        "calibrated": tuple(times[:, 1] for times in populations),
        "calibrated, networks alone": (STEPS * costs, STEPS * costs),
    }
    for name, (first, second) in rows.items():
        by_rank, line = spearmanr(first, alone).statistic, np.corrcoef(first, alone)[0, 1] ** 2
        agreement = np.corrcoef(first, second)[0, 1] ** 2
        print(f"{name:34}{r2(first, second):8.3f}{agreement:8.3f}{by_rank:18.3f}{line:12.3f}")
    print(f"alone {alone.sum():.3g} s, by the calibration of networks alone {STEPS * costs.sum():.3g} s")


def _programs(
    cells: Sequence[Architecture], dataset: Dataset, recipe: Recipe, device: torch.device
) -> list[NetworkProgram]:
    return [target_program(cell, PreparationTarget.of(dataset, recipe, device)) for cell in cells]


if __name__ == "__main__":
    main()
