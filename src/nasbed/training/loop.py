"""The training of one network, from its first weights or from a checkpoint to its accuracies.

Random numbers depend on the seed, the epoch and the step only. On a CPU the same training gives the same bits each
time, interrupted or not, in any process with as many threads.
"""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Unpack

import torch
from torch import nn

from nasbed.core.architecture import Architecture
from nasbed.datasets.dataset import Dataset
from nasbed.training.cuda_graph_gradient import CapturedGradient, captured_gradient
from nasbed.training.devices import chance_kept, chosen_device
from nasbed.training.images import TrainingImages
from nasbed.training.network_factory import recipe_network
from nasbed.training.options import EpochCallback, TrainingOptions
from nasbed.training.outcome import TrainingOutcome
from nasbed.training.random_streams import initial_weights
from nasbed.training.recipe import Recipe
from nasbed.training.steps import move, step
from nasbed.training.stepwise import StepFigures, StepwiseTraining, TrainingStep, drive


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

    It is trained in place, moved to the device, and left in evaluation mode. On a CPU its channels are last in memory
    from then on, and its convolutions are :class:`~nasbed.networks.trimming.TrimmedConvolution`.

    A recipe with ``drop_path`` needs a network with a method ``set_drop_path``. If that returns true, a recorded step
    goes on, else it is recorded anew. A recipe with an ``auxiliary_weight`` needs a network that returns a pair of
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
    torch_device = chosen_device(device)
    images = images or TrainingImages(dataset, recipe, torch_device)
    training = StepwiseTraining(
        network,
        dataset,
        recipe,
        images,
        seed=seed,
        epochs=epochs,
        checkpoint=checkpoint,
        progress=progress,
        learning_curve=learning_curve,
        called=called,
    )
    with chance_kept(torch_device), closing(_OwnGradient(network, recipe)) as gradient:
        return drive(training.steps(gradient.forget_recording), gradient)


class _OwnGradient:
    """Takes the steps of one network: from a recording where it can be recorded."""

    def __init__(self, network: nn.Module, recipe: Recipe) -> None:
        self._network, self._recipe = network, recipe
        self._captured: CapturedGradient | None = None
        self._is_recordable = True

    def __call__(self, due: TrainingStep) -> StepFigures:
        network, recipe = self._network, self._recipe
        if self._captured is None and self._is_recordable:
            self._captured = captured_gradient(network, recipe, due.batch)
            self._is_recordable = self._captured is not None
        if self._captured is None:
            return step(network, due.optimizer, recipe, due.batch, rate=due.rate, seeds=due.seeds)
        figures = self._captured(due.batch, seed=due.seeds[1])
        move(due.optimizer, recipe, rate=due.rate)
        return figures

    def forget_recording(self) -> None:
        """Record anew: the network changed."""
        self.close()

    def close(self) -> None:
        """Free what only training needs."""
        if self._captured is not None:
            self._captured.close()
            self._captured = None
