"""A training as the steps it takes, so that one step of several trainings can be taken at once."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Generator
from pathlib import Path
from time import perf_counter
from typing import NamedTuple

import torch
from torch import Tensor, nn

from nasbed.core.errors import InvalidOption
from nasbed.datasets.dataset import Dataset
from nasbed.training import checkpoint as checkpoints
from nasbed.training.accuracy import accuracy, check_validation
from nasbed.training.checkpoint import TrainingState
from nasbed.training.images import TrainingImages
from nasbed.training.optimizers import recipe_optimizer
from nasbed.training.options import EpochCallback
from nasbed.training.outcome import EpochEnd, TrainingOutcome
from nasbed.training.placement.network import place_network
from nasbed.training.random_streams import epoch_draws, epoch_words, step_words
from nasbed.training.recipe import Recipe


def check_drop_path(network: nn.Module, recipe: Recipe) -> None:
    """Raise if a recipe drops paths and a network cannot."""
    if recipe.drop_path and not hasattr(network, "set_drop_path"):
        raise InvalidOption(
            f"the recipe {recipe.name} drops paths, {type(network).__name__} has no method set_drop_path; choose "
            "another recipe or set drop_path to 0"
        )


def set_norm_momentum(network: nn.Module, momentum: float) -> None:
    """Give all batch normalisations of a network this weight of the newest batch in their moving averages."""
    for module in network.modules():
        if isinstance(module, nn.modules.batchnorm._BatchNorm):
            module.momentum = momentum


class _EpochFigures(NamedTuple):
    """The mean loss of an epoch's batches, in nats, and the share of correct predictions on them, in per cent."""

    loss: float
    accuracy: float


class TrainingStep(NamedTuple):
    """What one step of a training needs: images and labels, the learning rate, the seeds of how images are mixed and of
    what the network drops, and what moves the weights."""

    batch: tuple[Tensor, Tensor]
    rate: float
    seeds: tuple[int, int]
    optimizer: torch.optim.Optimizer


StepFigures = tuple[Tensor, Tensor]
"""The loss of a step, and the number of its correct predictions."""
Steps = Generator[TrainingStep, StepFigures, TrainingOutcome]
"""The steps of a training; each is answered with its figures. The end has the outcome."""


def drive(steps: Steps, take: Callable[[TrainingStep], StepFigures]) -> TrainingOutcome:
    """Take all steps of a training."""
    try:
        step = next(steps)
        while True:
            step = steps.send(take(step))
    except StopIteration as end:
        outcome: TrainingOutcome = end.value
        return outcome


class StepwiseTraining:
    """A training that says what each step needs, and leaves it to others to take it, alone or beside other trainings.

    Args:
        network: The network with its first weights; it is moved to the device of the images.
        dataset: The images.
        recipe: How to train.
        images: Those of this dataset and recipe, on a device.
        seed: Of the order of images and what else chance decides.
        epochs: One of the recipe's budgets, the largest by default.
        checkpoint: The training is saved in this file after every epoch, and resumes from there if the file exists.
        progress: Called after every epoch.
        learning_curve: Measure the validation accuracy after every epoch.
        called: The network's name in its checkpoint; by default a digest of the names and shapes of its weights.
    """

    def __init__(
        self,
        network: nn.Module,
        dataset: Dataset,
        recipe: Recipe,
        images: TrainingImages,
        *,
        seed: int = 0,
        epochs: int | None = None,
        checkpoint: str | Path | None = None,
        progress: EpochCallback | None = None,
        learning_curve: bool = False,
        called: str | None = None,
    ) -> None:
        self._checkpoint = None if checkpoint is None else Path(checkpoint)
        self.network, self.images, self.recipe, self._seed = network, images, recipe, seed
        self._epochs = recipe.budget(epochs)
        self._progress, self._learning_curve = progress, learning_curve
        check_drop_path(network, recipe)
        if learning_curve:
            check_validation(images, recipe)
        place_network(network, images.labels.device)
        if recipe.norm_momentum is not None:
            set_norm_momentum(network, recipe.norm_momentum)
        self._steps = recipe.steps_per_epoch(len(images))
        self._identity = checkpoints.identity(
            called or _shapes(network), dataset, recipe, seed=seed, epochs=self._epochs
        )

    def steps(self, on_change: Callable[[], None] = lambda: None) -> Steps:
        """The steps from the first, or from the checkpoint. ``on_change`` is called where recorded steps of the network
        become invalid: unless its ``set_drop_path`` returns true, with each probability."""
        network, recipe = self.network, self.recipe
        optimizer = recipe_optimizer(network, recipe)
        state = self._first_state(optimizer)
        while state.epochs < self._epochs:
            start = perf_counter()
            if recipe.drop_path:
                probability = recipe.drop_path_in(state.epochs, self._epochs)
                if not network.set_drop_path(probability):  # type: ignore[operator]
                    on_change()
            loss, train_accuracy = yield from self._epoch(state.epochs, optimizer)
            seconds = state.train_time_s + perf_counter() - start
            if not math.isfinite(loss):
                reason = f"the loss of epoch {state.epochs + 1} is not a finite number"
                return TrainingOutcome.diverged(seconds, reason, curve=state.curve if self._learning_curve else None)
            curve = (*state.curve, self._accuracy("valid")) if self._learning_curve else ()
            state = TrainingState(state.epochs + 1, seconds, loss, train_accuracy, curve)
            if self._checkpoint is not None:
                checkpoints.save(self._checkpoint, self._identity, network, optimizer, state)
            if self._progress is not None:
                rate = self._rate(state.epochs * self._steps - 1)
                validation_accuracy = curve[-1] if curve else None
                self._progress(EpochEnd(state.epochs, self._epochs, loss, rate, seconds, validation_accuracy))
        return self._measured(state)

    def _first_state(self, optimizer: torch.optim.Optimizer) -> TrainingState:
        if self._checkpoint is None or not self._checkpoint.exists():
            return TrainingState()
        state = checkpoints.resume(self._checkpoint, self._identity, self.network, optimizer)
        if self._learning_curve and len(state.curve) < state.epochs:
            raise InvalidOption(
                f"{self._checkpoint} holds {state.epochs} epochs of a training without a learning curve; resume it "
                "without one, or name another file"
            )
        return state

    def _epoch(
        self, number: int, optimizer: torch.optim.Optimizer
    ) -> Generator[TrainingStep, StepFigures, _EpochFigures]:
        """The steps of an epoch, counted from 0. On a CPU it ends at the first step whose loss is not finite. On a GPU,
        checking each step would cost more than the rest of an epoch."""
        recipe, images = self.recipe, self.images
        device = images.labels.device
        self.network.train()
        words = torch.from_numpy(epoch_words(self._seed, number, len(images))).to(device)
        draws = epoch_draws(recipe, words, images.side)
        seeds = step_words(self._seed, number, self._steps).tolist()
        losses = torch.zeros(self._steps, device=device)
        correct = torch.zeros(self._steps, dtype=torch.int64, device=device)
        for place, batch in enumerate(images.epoch(draws, self._steps, recipe.batch)):
            rate = self._rate(number * self._steps + place)
            step_seeds = (seeds[place][0], seeds[place][1])
            losses[place], correct[place] = yield TrainingStep(batch, rate, step_seeds, optimizer)
            if device.type == "cpu" and not math.isfinite(losses[place].item()):
                return _EpochFigures(math.nan, math.nan)
        images_seen = self._steps * recipe.batch
        return _EpochFigures(float(losses.double().mean()), 100 * int(correct.sum()) / images_seen)

    def _rate(self, number: int) -> float:
        return self.recipe.rate(number, self._epochs * self._steps)

    def _accuracy(self, part: str) -> float | None:
        return accuracy(self.network, self.images, part, self.recipe)

    def _measured(self, state: TrainingState) -> TrainingOutcome:
        return TrainingOutcome.measured(
            state.train_time_s,
            validation=state.curve[-1] if self._learning_curve else self._accuracy("valid"),
            test=self._accuracy("test"),
            train_loss=state.loss,
            train_accuracy=state.train_accuracy,
            curve=state.curve if self._learning_curve else None,
        )


def _shapes(network: nn.Module) -> str:
    text = " ".join(f"{name}{tuple(value.shape)}" for name, value in network.state_dict().items())
    return f"{type(network).__name__} {hashlib.sha256(text.encode()).hexdigest()[:16]}"
