"""How long a population takes: to prepare, for a step, to evaluate, and from end to end."""

from __future__ import annotations

import gc
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import median
from time import perf_counter

import numpy as np
import torch
from torch import Tensor

from nasbed.datasets import Dataset
from nasbed.training.images import TrainingImages
from nasbed.training.outcome import Job
from nasbed.training.population.floor import step_bytes, step_multiply_adds
from nasbed.training.population.training import Population
from nasbed.training.random_streams import epoch_draws, epoch_words
from nasbed.training.recipe import Recipe
from population_training.cases import Case
from population_training.timing import KernelShare, kernel_shares, recorded, seconds, synchronize

SHORT_EPOCHS, SHORT_STEPS = 3, 8
"""The training that is run, in epochs and steps per epoch. The rest of the recipe's steps are added to its time."""


@dataclass(frozen=True, slots=True)
class PopulationTimes:
    """Seconds of a population, and the least that a step costs.

    ``step_s`` is one CUDA graph of batch, forward, backward and update. ``whole_s`` is the recipe's whole training,
    with preparation, validation and test. ``epoch_s`` is what an epoch takes beside its steps: the draws.
    """

    networks: int
    steps: int
    prepare_cold_s: float
    prepare_warm_s: float
    step_s: float
    epoch_s: float
    evaluation_s: float
    whole_s: float
    step_bytes: int
    step_flop: int
    pixels: int
    memory_bytes: int
    mean_accuracy: float | None


def free_memory(device: torch.device) -> None:
    """Return the memory of what is no longer used to a CUDA device."""
    if device.type == "cuda":
        gc.collect()
        torch.cuda.empty_cache()


class Measured:
    """A population of a case, prepared twice: first cold, then with other architectures and everything compiled."""

    def __init__(self, case: Case, dataset: Dataset, images: TrainingImages, device: torch.device) -> None:
        self.case, self.images, self.device = case, images, device
        self.evaluated = len(images.split.valid), len(dataset.test)
        batch = case.recipe.batch
        epochs, steps = self._epochs_and_steps()
        self.short = replace(
            case.recipe, epochs=(min(SHORT_EPOCHS, epochs),), epoch_images=min(SHORT_STEPS, steps) * batch
        )
        if device.type == "cuda":
            torch.cuda.reset_peak_memory_stats(device)
        first, self.cold_s = self._prepare(case.jobs(1), dataset, self.short)
        _Step(first)()  # loads the compiled kernels, once for a process
        with torch.no_grad():
            _Judge(first)()
        del first
        free_memory(device)
        self.population, self.warm_s = self._prepare(case.jobs(0), dataset, self.short)

    def _epochs_and_steps(self) -> tuple[int, int]:
        recipe = self.case.recipe
        return recipe.epochs[-1], recipe.steps_per_epoch(len(self.images))

    def _prepare(self, jobs: Sequence[Job], dataset: Dataset, recipe: Recipe) -> tuple[Population, float]:
        began = perf_counter()
        population = Population(jobs, dataset, recipe, self.images, self.device)
        synchronize(self.device)
        return population, perf_counter() - began

    def times(self, *, budget_s: float) -> PopulationTimes:
        """All figures; the short training first, since timing a step trains on."""
        epochs, per_epoch = self._epochs_and_steps()
        recipe, short_epochs = self.case.recipe, self.short.epochs[0]
        ends: list[float] = []
        began = perf_counter()
        outcomes = self.population.train(short_epochs, lambda *_: ends.append(perf_counter()))
        synchronize(self.device)
        trained_s = perf_counter() - began
        with recorded(_Step(self.population), self.device) as step:
            step_s = seconds(step, self.device, budget_s=budget_s)
        with torch.no_grad(), recorded(_Judge(self.population), self.device) as judge:
            judge_s = seconds(judge, self.device, budget_s=budget_s / 2)
        short_steps = self.short.steps_per_epoch(len(self.images))
        lengths = [after - before for before, after in pairwise(ends)]
        epoch_s = max(median(lengths) - short_steps * step_s, 0.0) if lengths else 0.0
        steps = epochs * per_epoch
        rest_s = (steps - short_epochs * short_steps) * step_s + (epochs - short_epochs) * epoch_s
        programs = self.population.programs
        value_bytes = 2 if recipe.precision == "bfloat16" and self.device.type == "cuda" else 4
        accuracies = [outcome.validation_accuracy for outcome in outcomes if outcome.validation_accuracy is not None]
        return PopulationTimes(
            networks=len(programs),
            steps=steps,
            prepare_cold_s=self.cold_s,
            prepare_warm_s=self.warm_s,
            step_s=step_s,
            epoch_s=epoch_s,
            evaluation_s=judge_s * self._evaluation_batches(),
            whole_s=self.warm_s + trained_s + rest_s,
            step_bytes=sum(step_bytes(program, batch=recipe.batch, value_bytes=value_bytes) for program in programs),
            step_flop=2 * recipe.batch * sum(map(step_multiply_adds, programs)),
            pixels=self.images.side[0] * self.images.side[1],
            memory_bytes=torch.cuda.max_memory_allocated(self.device) if self.device.type == "cuda" else 0,
            mean_accuracy=float(np.mean(accuracies)) if accuracies else None,
        )

    def kernels(self) -> list[KernelShare]:
        """Which kernels of a step take the time."""
        return kernel_shares(_Step(self.population), self.device)

    def _evaluation_batches(self) -> int:
        return sum(-(-count // self.case.recipe.batch) for count in self.evaluated)


class _Step:
    """A step as the population's own training takes it, always on the first images of an epoch."""

    def __init__(self, population: Population) -> None:
        self.population = population
        recipe, images = population.recipe, population.images
        words = np.stack([epoch_words(job.seed, 0, len(images)) for job in population.jobs])
        self.draws = epoch_draws(recipe, torch.from_numpy(words).to(population.device), images.side)
        self.first = torch.zeros((), dtype=torch.int64, device=population.device)
        self.rate = torch.tensor([0.1 * recipe.learning_rate], device=population.device)

    def __call__(self) -> None:
        population, recipe = self.population, self.population.recipe
        labels = population.executor.draw(population.images, self.draws, self.first)
        population.executor.backward(labels, smoothing=recipe.label_smoothing)
        population.executor.update(recipe, self.rate)


class _Judge:
    """The evaluation of all networks on one batch."""

    def __init__(self, population: Population) -> None:
        self.population = population
        size, channels = population.recipe.batch, population.programs[0].images
        pictures = torch.randn(size, channels, *population.images.side, device=population.device)
        self.pictures = pictures.expand(len(population.jobs), *pictures.shape)
        self.labels = torch.zeros(size, dtype=torch.int64, device=population.device)

    def __call__(self) -> Tensor:
        self.population.executor.place(self.pictures)
        logits = self.population.executor.logits(training=False)
        return (logits.argmax(-1) == self.labels).sum(1)
