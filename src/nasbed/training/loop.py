"""The training of one network, from its first weights or from a checkpoint to its accuracies.

Random numbers depend on the seed, the epoch and the step only. On a CPU the same training gives the same bits each
time, interrupted or not, in any process with as many threads.
"""

from __future__ import annotations

import hashlib
import math
from contextlib import closing
from pathlib import Path
from time import perf_counter
from typing import NamedTuple, Unpack

import torch
from torch import Tensor, nn

from nasbed.core.architecture import Architecture
from nasbed.core.errors import InvalidOption
from nasbed.core.status import Status
from nasbed.datasets.dataset import Dataset
from nasbed.training import checkpoint as checkpoints
from nasbed.training.accuracy import accuracy, check_validation
from nasbed.training.checkpoint import TrainingState
from nasbed.training.cuda_graph_gradient import CapturedGradient, captured_gradient
from nasbed.training.devices import chance_kept, chosen_device
from nasbed.training.images import TrainingImages
from nasbed.training.network_factory import recipe_network
from nasbed.training.optimizers import recipe_optimizer
from nasbed.training.options import EpochCallback, TrainingOptions
from nasbed.training.outcome import EpochEnd, TrainingOutcome
from nasbed.training.random_streams import epoch_draws, epoch_words, initial_weights, step_words
from nasbed.training.recipe import Recipe
from nasbed.training.steps import move, step


def train(
    arch: Architecture,
    dataset: Dataset,
    recipe: Recipe,
    *,
    checkpoint: str | Path | None = None,
    **options: Unpack[TrainingOptions],
) -> TrainingOutcome:
    """Train an architecture by a recipe, and measure it.

    Args:
        arch: The architecture; its initial weights are those of the seed.
        dataset: The images.
        recipe: How to train.
        checkpoint: The training is saved in this file after every epoch, and resumes from there if the file exists.
        options: ``seed``, ``epochs``, ``device``, ``progress``, ``images`` and ``learning_curve``, see
            :func:`train_network`.
    """
    with chance_kept(torch.device("cpu")):
        network = recipe_network(arch, dataset, recipe)
    initial_weights(network, options.get("seed", 0), recipe.weight_init)
    return train_network(network, dataset, recipe, checkpoint=checkpoint, called=arch.to_json(), **options)


def train_network(
    network: nn.Module,
    dataset: Dataset,
    recipe: Recipe,
    *,
    seed: int = 0,
    epochs: int | None = None,
    device: str | torch.device = "cpu",
    checkpoint: str | Path | None = None,
    progress: EpochCallback | None = None,
    images: TrainingImages | None = None,
    learning_curve: bool = False,
    called: str | None = None,
) -> TrainingOutcome:
    """:func:`train` of any network that turns images into logits, from the weights that it has.

    It is trained in place, moved to the device, and left in evaluation mode. A recipe with ``drop_path`` needs a
    network with a method ``set_drop_path``. One with an ``auxiliary_weight`` needs a network that returns a pair of
    logits in training mode.

    Args:
        network: The network with its first weights.
        dataset: The images.
        recipe: How to train.
        seed: Of the order of images and what else chance decides.
        epochs: One of the recipe's budgets, the largest by default.
        device: Where to compute.
        checkpoint: The training is saved in this file after every epoch, and resumes from there if the file exists.
        progress: Called after every epoch.
        images: Those of this dataset and recipe, where several networks are trained on one device.
        learning_curve: Measure the validation accuracy after every epoch; nothing else about the training changes.
        called: The network's name in its checkpoint; by default a digest of the names and shapes of its weights.
    """
    checkpoint = None if checkpoint is None else Path(checkpoint)
    torch_device = chosen_device(device)
    budget = recipe.budget(epochs)
    check_drop_path(network, recipe)
    images = images or TrainingImages(dataset, recipe, torch_device)
    if learning_curve:
        check_validation(images, recipe)
    training = _Training(network.to(torch_device), images, recipe, seed, budget)
    state = TrainingState()
    identity = checkpoints.identity(called or _shapes(network), dataset, recipe, seed=seed, epochs=budget)
    if checkpoint is not None and checkpoint.exists():
        state = checkpoints.resume(checkpoint, identity, network, training.optimizer)
        if learning_curve and len(state.curve) < state.epochs:
            raise InvalidOption(
                f"{checkpoint} holds {state.epochs} epochs of a training without a learning curve; resume it without "
                "one, or name another file"
            )
    with chance_kept(torch_device):
        with closing(training):
            while state.epochs < budget:
                start = perf_counter()
                loss, train_accuracy = training.epoch(state.epochs)
                seconds = state.train_time_s + perf_counter() - start
                if not math.isfinite(loss):
                    reason = f"the loss of epoch {state.epochs + 1} is not a finite number"
                    return TrainingOutcome(Status.DIVERGED, seconds, reason=reason)
                curve = (*state.curve, accuracy(network, images, "valid", recipe)) if learning_curve else ()
                state = TrainingState(state.epochs + 1, seconds, loss, train_accuracy, curve)
                if checkpoint is not None:
                    checkpoints.save(checkpoint, identity, network, training.optimizer, state)
                if progress is not None:
                    progress(EpochEnd(state.epochs, budget, loss, training.last_rate(state.epochs), seconds))
        return _measured(training, state, learning_curve)


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


class _Training:
    """A network with its optimizer, epoch by epoch.

    Args:
        network: The network to train, on the device of the images.
        images: The images of the dataset, divided as the recipe says.
        recipe: How to train.
        seed: The seed of all random numbers.
        epochs: The epochs of the whole training, for the learning rate.
    """

    def __init__(self, network: nn.Module, images: TrainingImages, recipe: Recipe, seed: int, epochs: int) -> None:
        self.network, self.images, self.recipe, self.seed, self.epochs = network, images, recipe, seed, epochs
        if recipe.norm_momentum is not None:
            set_norm_momentum(network, recipe.norm_momentum)
        self.steps = recipe.steps_per_epoch(len(images))
        self.optimizer = recipe_optimizer(network, recipe)
        self._captured: CapturedGradient | None = None
        self._is_recordable = True

    def epoch(self, number: int) -> _EpochFigures:
        """Train for an epoch, counted from 0. On a CPU it ends at the first step whose loss is not finite. On a GPU,
        checking each step would cost more than the rest of an epoch."""
        recipe, images, network = self.recipe, self.images, self.network
        device = images.labels.device
        network.train()
        if recipe.drop_path:
            network.set_drop_path(recipe.drop_path_in(number, self.epochs))  # type: ignore[operator]
            self._forget_recording()  # it has the probability of the epoch before
        words = torch.from_numpy(epoch_words(self.seed, number, len(images))).to(device)
        draws = epoch_draws(recipe, words, images.side)
        seeds = step_words(self.seed, number, self.steps).tolist()
        losses = torch.zeros(self.steps, device=device)
        correct = torch.zeros(self.steps, dtype=torch.int64, device=device)
        for place, batch in enumerate(images.epoch(draws, self.steps, recipe.batch)):
            rate = self._rate(number * self.steps + place)
            step_seeds = (seeds[place][0], seeds[place][1])
            losses[place], correct[place] = self._step(batch, rate=rate, seeds=step_seeds)
            if device.type == "cpu" and not math.isfinite(losses[place].item()):
                return _EpochFigures(math.nan, math.nan)
        images_seen = self.steps * recipe.batch
        return _EpochFigures(float(losses.double().mean()), 100 * int(correct.sum()) / images_seen)

    def _step(self, batch: tuple[Tensor, Tensor], *, rate: float, seeds: tuple[int, int]) -> tuple[Tensor, Tensor]:
        network, optimizer, recipe = self.network, self.optimizer, self.recipe
        if self._captured is None and self._is_recordable:
            self._captured = captured_gradient(network, recipe, batch)
            self._is_recordable = self._captured is not None
        if self._captured is None:
            return step(network, optimizer, recipe, batch, rate=rate, seeds=seeds)
        figures = self._captured(batch, seed=seeds[1])
        move(network, optimizer, recipe, rate=rate)
        return figures

    def close(self) -> None:
        """Free what only training needs."""
        self._forget_recording()

    def _forget_recording(self) -> None:
        if self._captured is not None:
            self._captured.close()
            self._captured = None

    def last_rate(self, epochs: int) -> float:
        """The learning rate of the last step of ``epochs`` epochs."""
        return self._rate(epochs * self.steps - 1)

    def _rate(self, number: int) -> float:
        return self.recipe.rate(number, self.epochs * self.steps)


def _measured(training: _Training, state: TrainingState, learning_curve: bool) -> TrainingOutcome:
    validation, test = (
        state.curve[-1]
        if learning_curve and part == "valid"
        else accuracy(training.network, training.images, part, training.recipe)
        for part in ("valid", "test")
    )
    return TrainingOutcome.measured(
        state.train_time_s,
        validation=validation,
        test=test,
        train_loss=state.loss,
        train_accuracy=state.train_accuracy,
        curve=state.curve if learning_curve else None,
    )


def _shapes(network: nn.Module) -> str:
    text = " ".join(f"{name}{tuple(value.shape)}" for name, value in network.state_dict().items())
    return f"{type(network).__name__} {hashlib.sha256(text.encode()).hexdigest()[:16]}"
