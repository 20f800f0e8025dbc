"""The training of a population: the loop of one network, for all of them at once."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import fields
from time import perf_counter

import numpy as np
import torch
from torch import Tensor

from nasbed.core.errors import MissingDependency
from nasbed.datasets.dataset import Dataset
from nasbed.training.draws import EpochDraws, epoch_draws, epoch_words
from nasbed.training.evaluating import check_validation
from nasbed.training.images import TrainingImages
from nasbed.training.outcome import Job, Trained
from nasbed.training.population.autograd import AutogradExecutor
from nasbed.training.population.executor import Executor
from nasbed.training.population.preparing import prepared
from nasbed.training.population.program import Program
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
    learning_curve: bool = False,
) -> list[Trained]:
    """Train every job at once; the outcomes are in their order. Jobs of other lengths are trained after one another.

    ``images`` may be given where many populations are trained on one dataset with one recipe, to load them once.
    ``learning_curve`` measures the validation accuracy of every network after every epoch.
    """
    recipe.check_population()
    images = images or TrainingImages(dataset, recipe, device)
    outcomes: dict[int, Trained] = {}
    for epochs in sorted({job.epochs for job in jobs}):
        places = [place for place, job in enumerate(jobs) if job.epochs == epochs]
        population = Population([jobs[place] for place in places], dataset, recipe, images, torch.device(device))
        trained = population.train(epochs, progress, learning_curve=learning_curve)
        outcomes |= dict(zip(places, trained, strict=True))
    return [outcomes[place] for place in range(len(jobs))]


class Population:
    """Networks that are trained together, from their initial weights on."""

    def __init__(
        self, jobs: Sequence[Job], dataset: Dataset, recipe: Recipe, images: TrainingImages, device: torch.device
    ) -> None:
        self.jobs, self.recipe, self.images, self.device = jobs, recipe, images, device
        channels, *sides = dataset.shape
        found = prepared(jobs, recipe, classes=len(dataset.classes), channels=channels, side=(sides[0], sides[1]))
        self.programs = [each.program for each in found]
        initial = np.zeros((len(jobs), max(len(each.weights) for each in found)), dtype=np.float32)
        for place, each in enumerate(found):
            initial[place, : len(each.weights)] = each.weights
        self.parameters = torch.from_numpy(initial).to(device)
        self.executor = _executor(self.programs, self.parameters, recipe)
        self.momentum = torch.zeros_like(self.parameters)
        self.finite = torch.ones(len(jobs), dtype=torch.bool, device=device)

    def train(self, epochs: int, progress: Progress | None, *, learning_curve: bool = False) -> list[Trained]:
        """Train for so many epochs, then measure; with a learning curve also after each epoch, while no training time
        passes."""
        recipe = self.recipe
        if learning_curve:
            check_validation(self.images, recipe)
        per_epoch = recipe.steps_per_epoch(len(self.images))
        steps = epochs * per_epoch
        dtype = self.parameters.dtype
        rates = torch.tensor([recipe.rate(step, steps) for step in range(steps)], dtype=dtype, device=self.device)
        step = torch.zeros((), dtype=torch.int64, device=self.device)
        place = torch.zeros((), dtype=torch.int64, device=self.device)
        losses = torch.zeros(len(self.jobs), dtype=dtype, device=self.device)
        correct = torch.zeros(len(self.jobs), dtype=torch.int64, device=self.device)
        seconds, curve = 0.0, list[list[float | None]]()

        def one_step() -> None:
            taken = place * recipe.batch + torch.arange(recipe.batch, device=self.device)
            some = EpochDraws(*(getattr(draws, item.name).index_select(-1, taken) for item in fields(EpochDraws)))
            pictures, labels = self.images.batch(some, 0, recipe.batch)
            now, gradient, hits = self.executor.losses_and_gradient(pictures, labels, smoothing=recipe.label_smoothing)
            losses.add_(now)
            correct.add_(hits)
            self.finite.logical_and_(now.isfinite())
            self._update(gradient, rates.index_select(0, step.view(1)))
            step.add_(1)
            place.add_(1)

        with self._evaluation() as accuracies:
            began = perf_counter()
            draws = self._draws(0)
            with replayed(one_step, self.device, state=self._state(step, place, losses, correct)) as run:
                for epoch in range(epochs):
                    if epoch:
                        for item in fields(EpochDraws):
                            getattr(draws, item.name).copy_(getattr(self._draws(epoch), item.name))
                    place.zero_()
                    losses.zero_()
                    correct.zero_()
                    for _ in range(per_epoch):
                        run()
                    if progress is not None:
                        progress(epoch + 1, epochs, (losses / per_epoch).cpu())
                    if learning_curve:
                        self.finite.cpu()  # waits for the device
                        seconds += perf_counter() - began
                        curve.append(accuracies("valid"))
                        began = perf_counter()
            finite = self.finite.cpu()
            seconds += perf_counter() - began
            shares = self.executor.shares()
            validation = curve[-1] if learning_curve else accuracies("valid")
            test = accuracies("test")
        mean = (losses / per_epoch).cpu()
        train = 100 * correct.cpu().double() / (per_epoch * recipe.batch)
        return [
            Trained.measured(
                seconds * share,
                validation=validation[at],
                test=test[at],
                train_loss=float(mean[at]),
                train_accuracy=float(train[at]),
                curve=[after[at] for after in curve] if learning_curve else None,
            )
            if finite[at]
            else Trained("diverged", seconds * share, reason="the loss was not a finite number")
            for at, share in enumerate(shares)
        ]

    def _state(self, *others: Tensor) -> list[Tensor]:
        """All that a step changes."""
        executor = self.executor
        return [self.parameters, self.momentum, self.finite, executor.running_mean, executor.running_var, *others]

    def _draws(self, epoch: int) -> EpochDraws:
        words = np.stack([epoch_words(job.seed, epoch, len(self.images)) for job in self.jobs])
        return epoch_draws(self.recipe, torch.from_numpy(words).to(self.device), self.images.side)

    def _update(self, gradient: Tensor, rate: Tensor) -> None:
        """A step of SGD as torch's own takes it, each network's gradient clipped by its own length."""
        recipe = self.recipe
        if recipe.gradient_clip is not None:
            lengths = gradient.square().sum(1, keepdim=True).sqrt()
            gradient = gradient * (recipe.gradient_clip / (lengths + 1e-6)).clamp(max=1.0)
        gradient = gradient + recipe.weight_decay * self.parameters
        self.momentum.mul_(recipe.momentum).add_(gradient)
        step = gradient + recipe.momentum * self.momentum if recipe.nesterov else self.momentum
        self.parameters.sub_(rate * step)

    @contextmanager
    def _evaluation(self) -> Iterator[Callable[[str], list[float | None]]]:
        """A function that gives the accuracy of each network on ``valid`` or ``test`` images as
        :func:`~nasbed.training.evaluating.accuracy` gives that of one. The last batch is filled up with images that do
        not count."""
        correct = torch.zeros(len(self.jobs), dtype=torch.int64, device=self.device)
        finite = torch.ones(len(self.jobs), dtype=torch.bool, device=self.device)
        size = self.recipe.batch
        shape = (size, self.programs[0].images, *self.images.side)
        pictures = torch.zeros(shape, dtype=self.parameters.dtype, device=self.device)
        labels = torch.full((size,), -1, dtype=torch.int64, device=self.device)

        @torch.no_grad()
        def judge() -> None:
            every = pictures.expand(len(self.jobs), *shape)
            logits = self.executor.logits(every, training=False)
            correct.add_((logits.argmax(-1) == labels).sum(1))
            finite.logical_and_(logits.isfinite().flatten(1).all(1))

        def accuracies(part: str) -> list[float | None]:
            correct.zero_()
            finite.fill_(True)
            count = 0
            for some, theirs in self.images.batches(part, size):
                labels.fill_(-1)
                pictures[: len(some)] = some
                labels[: len(some)] = theirs
                run()
                count += len(some)
            if not count:
                return [None] * len(self.jobs)
            shares = torch.where(finite, 100 * correct.double() / count, math.nan)
            return [float(share) for share in shares.cpu()]

        with replayed(judge, self.device, state=[correct, finite]) as run:
            yield accuracies


def _executor(programs: Sequence[Program], parameters: Tensor, recipe: Recipe) -> Executor:
    if parameters.device.type != "cuda":
        return AutogradExecutor(programs, parameters)
    try:
        from nasbed.training.population.fused import FusedExecutor
    except ImportError:
        raise MissingDependency(
            "populations on a CUDA device need triton, which comes with torch for CUDA; get it with: pip install triton"
        ) from None

    dtype = torch.bfloat16 if recipe.precision == "bfloat16" else torch.float32
    return FusedExecutor(programs, parameters, batch=recipe.batch, dtype=dtype)
