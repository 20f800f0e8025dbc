"""The keyword arguments that every way to train one network shares."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypedDict

import torch

from nasbed.training.outcome import EpochEnd

if TYPE_CHECKING:
    from nasbed.training.images import TrainingImages

EpochCallback = Callable[[EpochEnd], None]


class RunOptions(TypedDict, total=False):
    """Which training it is, and where it runs.

    ``seed`` is of the weights and the order of images, 0 by default. ``epochs`` is one of the recipe's budgets, the
    largest by default. ``device`` is where to compute, the CPU by default.
    """

    seed: int
    epochs: int | None
    device: str | torch.device


class TrainingOptions(RunOptions, total=False):
    """What else a training can be asked for.

    ``progress`` is called after every epoch. ``images`` are those of this dataset and recipe, where several networks
    are trained on one device. ``learning_curve`` measures the validation accuracy after every epoch.
    """

    progress: EpochCallback | None
    images: TrainingImages | None
    learning_curve: bool
