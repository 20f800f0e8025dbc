"""The training of a population: the loop of one network, for all of them at once."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import fields, replace
from pathlib import Path
from time import perf_counter

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from nasbed.core.errors import InvalidOption
from nasbed.core.status import Status
from nasbed.datasets.dataset import Dataset
from nasbed.training.accuracy import check_validation
from nasbed.training.devices import chosen_device
from nasbed.training.images import TrainingImages
from nasbed.training.outcome import Job, TrainingOutcome
from nasbed.training.population.autograd import AutogradExecutor
from nasbed.training.population.calibration import CostCalibration, CostSetting
from nasbed.training.population.checkpoint import PopulationCheckpoint, PopulationProgress
from nasbed.training.population.executor import Executor
from nasbed.training.population.preparing import (
    PopulationPreparer,
    PreparationTarget,
    PreparedPopulation,
    prepare_population,
)
from nasbed.training.population.readiness import check_kernels
from nasbed.training.population.replay import replayed
from nasbed.training.population.work import layout_work
from nasbed.training.random_streams import EpochDraws, epoch_draws, epoch_words
from nasbed.training.recipe import Recipe

Progress = Callable[[int, int, Tensor], None]
"""Called after an epoch with the number of completed epochs, of how many, and the networks' mean losses in it."""


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
    learning_curve: bool = False,
    calibration: CostCalibration | None = None,
    checkpoint: Path | None = None,
) -> list[TrainingOutcome]:
    """Train every job at once; the outcomes are in their order. Jobs of other lengths are trained after one another.

    Where many populations are trained on one dataset with one recipe, ``images`` loads them once, and ``preparer``
    prepares the ``upcoming`` jobs while these are trained. Outcomes do not depend on either.

    Args:
        jobs: What to train.
        dataset: The images.
        recipe: How to train.
        device: Where to train: cpu, cuda, cuda:NUMBER or auto.
        progress: Called after each epoch.
        images: Those of the dataset as the recipe divides it, on the device.
        preparer: One for this dataset, recipe and device.
        upcoming: The jobs of the call that probably follows, of one length.
        learning_curve: Measure the validation accuracy of every network after every epoch.
        calibration: Makes ``train_time_s`` what it says of each network; its share of the measured time is kept beside.
        checkpoint: The training is saved in this file after every epoch, and resumes from there if the file exists. All
            jobs then have one length.
    """
    recipe.check_population()
    if checkpoint is not None and len({job.epochs for job in jobs}) > 1:
        raise InvalidOption("networks that share a checkpoint are trained for as many epochs each; train them apart")
    device = chosen_device(device)
    images = images or TrainingImages(dataset, recipe, device)
    outcomes: dict[int, TrainingOutcome] = {}
    for epochs in sorted({job.epochs for job in jobs}):
        places = [place for place, job in enumerate(jobs) if job.epochs == epochs]
        same = [jobs[place] for place in places]
        prepared = preparer.take(same, upcoming) if preparer is not None else None
        population = Population(same, dataset, recipe, images, device, prepared)
        saved = None
        if checkpoint is not None:
            saved = PopulationCheckpoint(checkpoint, same, dataset, recipe, learning_curve=learning_curve)
        trained = population.train(epochs, progress, learning_curve=learning_curve, checkpoint=saved)
        if calibration is not None:
            trained = population.calibrated(trained, calibration, epochs)
        outcomes |= dict(zip(places, trained, strict=True))
    return [outcomes[place] for place in range(len(jobs))]


class Population:
    """Networks that are trained together, from their initial weights on.

    Args:
        jobs: Architecture, seed and epochs of each network.
        dataset: The images as published.
        recipe: How to train.
        images: Those of the dataset as the recipe divides it, on the device.
        device: A CPU or a CUDA device.
        prepared: The traced programs of these jobs; None traces them now.
    """

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
        self.programs, self._layout = prepared.programs, prepared.layout
        self._classes = len(dataset.classes)
        self.executor = _executor(prepared, recipe, device)
        self.finite = torch.ones(len(jobs), dtype=torch.bool, device=device)

    def train(
        self,
        epochs: int,
        progress: Progress | None,
        *,
        learning_curve: bool = False,
        checkpoint: PopulationCheckpoint | None = None,
    ) -> list[TrainingOutcome]:
        """Train for ``epochs``, then measure; with a learning curve also after each epoch. Meanwhile no training time
        passes.

        Args:
            epochs: How many, those before a checkpoint included.
            progress: Called after each epoch.
            learning_curve: Whether to measure one.
            checkpoint: Where the training resumes and is saved.
        """
        recipe = self.recipe
        if learning_curve:
            check_validation(self.images, recipe)
        per_epoch = recipe.steps_per_epoch(len(self.images))
        steps = epochs * per_epoch
        dtype = self.executor.running_mean.dtype
        rates = torch.tensor([recipe.rate(step, steps) for step in range(steps)], dtype=dtype, device=self.device)
        step = torch.zeros((), dtype=torch.int64, device=self.device)
        place = torch.zeros((), dtype=torch.int64, device=self.device)
        losses = torch.zeros(len(self.jobs), dtype=dtype, device=self.device)
        correct = torch.zeros(len(self.jobs), dtype=torch.int64, device=self.device)
        changing = [*self.executor.state(), self.finite, step, losses, correct]
        so_far = PopulationProgress() if checkpoint is None else checkpoint.resume(changing)
        first = so_far.epochs

        def train_step() -> None:
            labels = self.executor.draw(self.images, draws, place * recipe.batch)
            step_losses, hits = self.executor.backward(labels, smoothing=recipe.label_smoothing)
            losses.add_(step_losses)
            correct.add_(hits)
            self.finite.logical_and_(step_losses.isfinite())
            self.executor.update(recipe, rates.index_select(0, step.view(1)))
            step.add_(1)
            place.add_(1)

        with self._evaluation() as accuracies:
            start = perf_counter()
            words = self._words(first)
            draws = self._draws(words)
            with replayed(train_step, self.device, state=[*changing, place]) as run:
                for epoch in range(first, epochs):
                    if epoch > first:
                        following = self._draws(words)
                        for item in fields(EpochDraws):
                            getattr(draws, item.name).copy_(getattr(following, item.name))
                    place.zero_()
                    losses.zero_()
                    correct.zero_()
                    for _ in range(per_epoch):
                        run()
                    if epoch + 1 < epochs:  # while a GPU still works on this epoch
                        words = self._words(epoch + 1)
                    if learning_curve or checkpoint is not None:
                        self.finite.cpu()  # waits for the device
                        so_far.seconds += perf_counter() - start
                        so_far.epochs = epoch + 1
                        if learning_curve:
                            so_far.curve.append(accuracies("valid"))
                        if checkpoint is not None:
                            checkpoint.save(changing, so_far)
                        start = perf_counter()
                    if progress is not None:
                        progress(epoch + 1, epochs, (losses / per_epoch).cpu())
            finite = self.finite.cpu()
            seconds = so_far.seconds + perf_counter() - start
            shares = self.executor.shares()
            validation = so_far.curve[-1] if learning_curve else accuracies("valid")
            test = accuracies("test")
        mean = (losses / per_epoch).cpu()
        train = 100 * correct.cpu().double() / (per_epoch * recipe.batch)
        return [
            TrainingOutcome.measured(
                seconds * share,
                validation=validation[number],
                test=test[number],
                train_loss=float(mean[number]),
                train_accuracy=float(train[number]),
                curve=[after[number] for after in so_far.curve] if learning_curve else None,
            )
            if finite[number]
            else TrainingOutcome(Status.DIVERGED, seconds * share, reason="the loss was not a finite number")
            for number, share in enumerate(shares)
        ]

    @property
    def lanes(self) -> int | None:
        """The channels of a bundle; None where torch's own operations run the networks."""
        return None if self._layout is None else self._layout.lanes

    def calibrated(
        self, outcomes: Sequence[TrainingOutcome], calibration: CostCalibration, epochs: int
    ) -> list[TrainingOutcome]:
        """The outcomes with the times of a calibration; NaN where it lacks a kind of launch."""
        space, shape = self.jobs[0].architecture.space, (self.programs[0].images, *self.images.side)
        calibration.check_setting(CostSetting.of(space, self.recipe, classes=self._classes, shape=shape))
        if self._layout is not None and calibration.lanes == self._layout.lanes:
            work = layout_work(self._layout)
        else:
            work = calibration.works(self.programs)
        steps = epochs * self.recipe.steps_per_epoch(len(self.images))
        return [
            replace(outcome, train_time_s=steps * calibration.cost(own), measured_time_s=outcome.train_time_s)
            for outcome, own in zip(outcomes, work, strict=True)
        ]

    def _words(self, epoch: int) -> NDArray[np.int64]:
        """What chance decides in an epoch, for all networks."""
        return np.stack([epoch_words(job.seed, epoch, len(self.images)) for job in self.jobs])

    def _draws(self, words: NDArray[np.int64]) -> EpochDraws:
        return epoch_draws(self.recipe, torch.from_numpy(words).to(self.device), self.images.side)

    @contextmanager
    def _evaluation(self) -> Iterator[Callable[[str], list[float | None]]]:
        """A function that gives the accuracy of each network on ``valid`` or ``test`` images as
        :func:`~nasbed.training.accuracy.accuracy` gives that of one. The last batch is filled up with images that do
        not count."""
        correct = torch.zeros(len(self.jobs), dtype=torch.int64, device=self.device)
        finite = torch.ones(len(self.jobs), dtype=torch.bool, device=self.device)
        size = self.recipe.batch
        shape = (size, self.programs[0].images, *self.images.side)
        pictures = torch.zeros(shape, dtype=self.executor.running_mean.dtype, device=self.device)
        labels = torch.full((size,), -1, dtype=torch.int64, device=self.device)

        @torch.no_grad()
        def judge() -> None:
            every = pictures.expand(len(self.jobs), *shape)
            self.executor.place(every)
            logits = self.executor.logits(training=False)
            correct.add_((logits.argmax(-1) == labels).sum(1))
            finite.logical_and_(logits.isfinite().flatten(1).all(1))

        def accuracies(part: str) -> list[float | None]:
            correct.zero_()
            finite.fill_(True)
            count = 0
            for batch, batch_labels in self.images.batches(part, size):
                labels.fill_(-1)
                pictures[: len(batch)] = batch
                labels[: len(batch)] = batch_labels
                run()
                count += len(batch)
            if not count:
                return [None] * len(self.jobs)
            shares = torch.where(finite, 100 * correct.double() / count, math.nan)
            return [float(share) for share in shares.cpu()]

        with replayed(judge, self.device, state=[correct, finite]) as run:
            yield accuracies


def _executor(prepared: PreparedPopulation, recipe: Recipe, device: torch.device) -> Executor:
    weights = torch.from_numpy(prepared.weights).to(device)
    if prepared.layout is None:
        return AutogradExecutor(prepared.programs, weights, batch=recipe.batch)
    check_kernels()
    from nasbed.training.population.fused import FusedExecutor

    dtype = torch.bfloat16 if recipe.precision == "bfloat16" else torch.float32
    return FusedExecutor(prepared.layout, weights, dtype=dtype)
