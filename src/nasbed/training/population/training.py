"""The training of a population: the loop of one network, for all of them at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields
from time import perf_counter

import numpy as np
import torch
from torch import Tensor

from nasbed.datasets.dataset import Dataset
from nasbed.training.devices import chosen_device
from nasbed.training.draws import EpochDraws, epoch_draws, epoch_words
from nasbed.training.images import TrainingImages
from nasbed.training.outcome import Job, Trained
from nasbed.training.population.autograd import AutogradExecutor
from nasbed.training.population.executor import Executor
from nasbed.training.population.preparing import (
    PopulationPreparer,
    PreparationTarget,
    PreparedPopulation,
    prepare_population,
)
from nasbed.training.population.readiness import check_kernels
from nasbed.training.population.replay import replayed
from nasbed.training.recipe import Recipe

Progress = Callable[[int, int, Tensor], None]
"""Told, after an epoch, how many are done, of how many, and the mean losses of the networks in it."""


def train_population(
    jobs: Sequence[Job],
    dataset: Dataset,
    recipe: Recipe,
    *,
    device: torch.device | str = "cpu",
    progress: Progress | None = None,
    images: TrainingImages | None = None,
    preparer: PopulationPreparer | None = None,
    upcoming: Sequence[Job] = (),
) -> list[Trained]:
    """Train every job at once; the outcomes are in their order. Jobs of other lengths are trained after one another.

    Where many populations are trained on one dataset with one recipe, ``images`` loads them once, and ``preparer``
    prepares the ``upcoming`` jobs while these are trained. Outcomes do not depend on either.

    Args:
        jobs: what to train.
        dataset: the images.
        recipe: how to train.
        device: where: cpu, cuda, cuda:NUMBER or auto.
        progress: called after each epoch.
        images: those of the dataset as the recipe divides it, on the device.
        preparer: one for this dataset, recipe and device.
        upcoming: the jobs of the call that probably follows, of one length.
    """
    recipe.check_population()
    device = chosen_device(device)
    images = images or TrainingImages(dataset, recipe, device)
    outcomes: dict[int, Trained] = {}
    for epochs in sorted({job.epochs for job in jobs}):
        places = [place for place, job in enumerate(jobs) if job.epochs == epochs]
        same = [jobs[place] for place in places]
        prepared = preparer.take(same, upcoming) if preparer is not None else None
        population = Population(same, dataset, recipe, images, device, prepared)
        outcomes |= dict(zip(places, population.train(epochs, progress), strict=True))
    return [outcomes[place] for place in range(len(jobs))]


class Population:
    """Networks that are trained together, from their initial weights on."""

    def __init__(
        self,
        jobs: Sequence[Job],
        dataset: Dataset,
        recipe: Recipe,
        images: TrainingImages,
        device: torch.device,
        prepared: PreparedPopulation | None = None,
    ) -> None:
        self.jobs, self.recipe, self.images, self.device = jobs, recipe, images, device
        prepared = prepared or prepare_population(jobs, PreparationTarget.of(dataset, recipe, device))
        self.programs = prepared.programs
        self.executor = _executor(prepared, recipe, device)
        self.finite = torch.ones(len(jobs), dtype=torch.bool, device=device)

    def train(self, epochs: int, progress: Progress | None) -> list[Trained]:
        """Train for so many epochs, then measure."""
        recipe = self.recipe
        per_epoch = recipe.steps_per_epoch(len(self.images))
        steps = epochs * per_epoch
        rates = torch.tensor([recipe.rate(step, steps) for step in range(steps)], device=self.device)
        step = torch.zeros((), dtype=torch.int64, device=self.device)
        place = torch.zeros((), dtype=torch.int64, device=self.device)
        losses = torch.zeros(len(self.jobs), device=self.device)
        began = perf_counter()
        draws = self._draws(0)

        def one_step() -> None:
            labels = self.executor.draw(self.images, draws, place * recipe.batch)
            now, _ = self.executor.backward(labels, smoothing=recipe.label_smoothing)
            losses.add_(now)
            self.finite.logical_and_(now.isfinite())
            self.executor.update(recipe, rates.index_select(0, step.view(1)))
            step.add_(1)
            place.add_(1)

        state = [*self.executor.state(), self.finite, step, place, losses]
        with replayed(one_step, self.device, state=state) as run:
            for epoch in range(epochs):
                if epoch:
                    for item in fields(EpochDraws):
                        getattr(draws, item.name).copy_(getattr(self._draws(epoch), item.name))
                place.zero_()
                losses.zero_()
                for _ in range(per_epoch):
                    run()
                if progress is not None:
                    progress(epoch + 1, epochs, (losses / per_epoch).cpu())
        finite = self.finite.cpu()
        seconds = perf_counter() - began
        shares = self.executor.shares()
        valid, test = (self._accuracies(part) for part in ("valid", "test"))
        mean = (losses / per_epoch).cpu()
        return [
            Trained("ok", seconds * share, float(valid[at]), float(test[at]), float(mean[at]))
            if finite[at]
            else Trained("diverged", seconds * share, reason="the loss was not a finite number")
            for at, share in enumerate(shares)
        ]

    def _draws(self, epoch: int) -> EpochDraws:
        words = np.stack([epoch_words(job.seed, epoch, len(self.images)) for job in self.jobs])
        return epoch_draws(self.recipe, torch.from_numpy(words).to(self.device), self.images.side)

    def _accuracies(self, part: str) -> Tensor:
        """In per cent, of each network. The last batch is filled up with images that do not count."""
        correct = torch.zeros(len(self.jobs), device=self.device)
        size, count = self.recipe.batch, 0
        shape = (size, self.programs[0].images, *self.images.side)
        pictures = torch.zeros(shape, device=self.device)
        labels = torch.full((size,), -1, dtype=torch.int64, device=self.device)

        def judge() -> None:
            every = pictures.expand(len(self.jobs), *shape)
            self.executor.place(every)
            logits = self.executor.logits(training=False)
            correct.add_((logits.argmax(-1) == labels).sum(1))

        with torch.no_grad(), replayed(judge, self.device, state=[correct]) as run:
            for some, theirs in self.images.batches(part, size):
                labels.fill_(-1)
                pictures[: len(some)] = some
                labels[: len(some)] = theirs
                run()
                count += len(some)
        return (100.0 * correct / count).cpu()


def _executor(prepared: PreparedPopulation, recipe: Recipe, device: torch.device) -> Executor:
    weights = torch.from_numpy(prepared.weights).to(device)
    if prepared.layout is None:
        return AutogradExecutor(prepared.programs, weights, batch=recipe.batch)
    check_kernels()
    from nasbed.training.population.fused import FusedExecutor

    dtype = torch.bfloat16 if recipe.precision == "bfloat16" else torch.float32
    return FusedExecutor(prepared.layout, weights, dtype=dtype)
