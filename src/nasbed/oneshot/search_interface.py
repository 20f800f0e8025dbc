"""A running search: the interface between the loop and every one-shot method, epoch by epoch."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from time import perf_counter
from typing import Any, Generic, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from nasbed.core.architecture import Architecture
from nasbed.datasets.dataset import Dataset
from nasbed.oneshot.settings import OneShotSettings
from nasbed.oneshot.trajectory import SearchEpoch

SettingsT = TypeVar("SettingsT", bound=OneShotSettings)


@dataclass(frozen=True, slots=True, eq=False)
class SearchSetup(Generic[SettingsT]):
    """Everything that decides what a search finds, and the device that it runs on. ``images`` are those of the dataset
    on that device, None to prepare them."""

    method: str
    space: str
    dataset: Dataset
    settings: SettingsT
    options: Mapping[str, Any]
    seed: int
    device: torch.device
    images: Any = None


class RunningSearch(ABC, Generic[SettingsT]):
    """The networks of a search and what moves them. A subclass says how an epoch trains, what it measures, and what a
    checkpoint needs."""

    def __init__(self, setup: SearchSetup[SettingsT]) -> None:
        self.settings = setup.settings
        self.seed, self.device, self.epochs = setup.seed, setup.device, setup.settings.epochs
        self.recipe = setup.settings.recipe()

    def epoch(self, number: int, before_s: float) -> SearchEpoch | str:
        """Search for an epoch, counted from 0, and measure its result; a text says why it diverged. ``before_s`` is the
        time of the epochs before."""
        start = perf_counter()
        loss = self.train_epoch(number)
        if not math.isfinite(loss):
            return f"the loss of epoch {number + 1} is not a finite number"
        if not all(np.isfinite(values).all() for values in self.parameters().values()):
            return f"an architecture parameter of epoch {number + 1} is not a finite number"
        self.end_epoch(number)
        seconds = before_s + perf_counter() - start
        self.judge(number)
        accuracy = self.accuracy()
        if accuracy is not None and math.isnan(accuracy):
            return f"an output of the supernet after epoch {number + 1} is not a finite number"
        architecture = self.architecture()
        return SearchEpoch(
            epoch=number + 1,
            architecture=architecture,
            validation_accuracy=accuracy,
            train_loss=loss,
            skips=self.skips(architecture),
            parameters=self.parameters(),
            search_time_s=seconds,
            eigenvalue=self.eigenvalue(),
            figures=self.figures(architecture),
        )

    @abstractmethod
    def train_epoch(self, number: int) -> float:
        """Train for an epoch; the mean loss, NaN where it was not finite."""

    @abstractmethod
    def parameters(self) -> dict[str, NDArray[Any]]:
        """The architecture parameters by name, copied to the host."""

    def end_epoch(self, number: int) -> None:
        """Change what is searched after an epoch, for methods that do; it counts as time of the search."""

    def judge(self, number: int) -> None:
        """Try architectures out after an epoch, for methods that do."""

    @abstractmethod
    def accuracy(self) -> float | None:
        """How often the network of the search is right, in per cent: NaN if an output is not finite, None without
        images to validate with."""

    @abstractmethod
    def architecture(self) -> Architecture:
        """What the search would end with now."""

    @abstractmethod
    def skips(self, arch: Architecture) -> dict[str, int]:
        """The skip connections of each kind of cell."""

    def eigenvalue(self) -> float | None:
        """The dominant eigenvalue of the architecture parameters' Hessian, where it is measured."""
        return None

    def figures(self, arch: Architecture) -> dict[str, float]:
        """Further measurements of the method, by name."""
        return {}

    def network(self, arch: Architecture) -> nn.Module | None:
        """The network of the final architecture with the weights of the search, where these are trained for it."""
        return None

    @abstractmethod
    def state(self) -> dict[str, Any]:
        """What a checkpoint holds: tensors, numbers and texts."""

    @abstractmethod
    def load(self, state: Mapping[str, Any]) -> None:
        """Go on from the state of a checkpoint."""

    def close(self) -> None:
        """Free what only steps need."""


def as_array(tensor: Tensor) -> NDArray[Any]:
    """A copy on the host."""
    values: NDArray[Any] = tensor.detach().cpu().numpy().copy()
    return values
