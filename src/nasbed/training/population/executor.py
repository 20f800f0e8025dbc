"""What runs the programs of a population."""

from __future__ import annotations

from typing import Protocol

from torch import Tensor

from nasbed.training.images import TrainingImages
from nasbed.training.population.work import TimedLaunch
from nasbed.training.random_streams import EpochDraws
from nasbed.training.recipe import Recipe


class Executor(Protocol):
    """Forward and backward passes of all networks at once, and the steps that they take."""

    running_mean: Tensor
    running_var: Tensor

    def state(self) -> list[Tensor]:
        """All tensors that a training step reads and changes."""

    def draw(self, images: TrainingImages, draws: EpochDraws, first: Tensor) -> Tensor:
        """Take the next batch of every network, from the draw number ``first`` of its epoch on, and return its
        labels."""

    def place(self, images: Tensor) -> None:
        """Take images ``[networks, images, channels, height, width]``."""

    def logits(self, *, training: bool) -> Tensor:
        """``[networks, images, classes]`` of the images taken last."""

    def backward(self, labels: Tensor, *, smoothing: float = 0.0) -> tuple[Tensor, Tensor]:
        """The mean cross entropy of each network on the images taken last, and how many of them it names correctly.
        The gradient is kept for :meth:`update`."""

    def gradient(self) -> Tensor:
        """The gradient of the last backward pass: ``[networks, parameters]`` in the networks' own order."""

    def update(self, recipe: Recipe, rate: Tensor) -> None:
        """A step of SGD as torch's own takes it, each network's gradient clipped by its own length."""

    def launch_times(self) -> list[TimedLaunch]:
        """What each launch of a training step takes alone, forward and backward, on the images taken last."""

    def shares(self) -> list[float]:
        """What part of the time each network takes."""
