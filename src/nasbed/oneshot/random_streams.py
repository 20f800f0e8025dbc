"""What chance decides in a search, from its seed, the epoch and the step alone."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from nasbed.training.random_streams import words

_PARAMETERS, _ORDER, _STEPS, _JUDGING, _START = 16, 17, 18, 19, 20
"""The streams of a search, apart from those of a training with the same seed."""


@dataclass(frozen=True, slots=True)
class Chance:
    """One source of draws, for methods that draw on a device and for those that draw or decide on the host."""

    seed: int
    device: torch.device

    def generator(self) -> torch.Generator:
        return torch.Generator(self.device).manual_seed(self.seed)

    def host_generator(self) -> torch.Generator:
        return torch.Generator().manual_seed(self.seed)

    def rng(self) -> np.random.Generator:
        return np.random.Generator(np.random.PCG64(self.seed))


def normal_parameters(seed: int, *shape: int, deviation: float, stream: int = 0) -> Tensor:
    """Architecture parameters to start from, normally distributed, on the CPU."""
    number = int(words(seed, _PARAMETERS, stream, count=1)[0] >> np.uint64(1))
    return deviation * torch.randn(*shape, generator=torch.Generator().manual_seed(number))


def order_words(seed: int, epoch: int, images: int) -> NDArray[np.int64]:
    """As ``epoch_words``, for the images that architectures are trained on."""
    return words(seed, _ORDER, epoch, count=2 * images).reshape(2, images).view(np.int64)


def step_chances(seed: int, epoch: int, steps: int, device: torch.device) -> list[tuple[Chance, Chance]]:
    """For each step of an epoch the chance of its architecture step and of its weight step."""
    numbers = (words(seed, _STEPS, epoch, count=2 * steps) >> np.uint64(1)).reshape(steps, 2).tolist()
    return [(Chance(first, device), Chance(second, device)) for first, second in numbers]


def judging_chance(seed: int, epoch: int, device: torch.device) -> Chance:
    """The chance of what is tried out after an epoch."""
    return Chance(int(words(seed, _JUDGING, epoch, count=1)[0] >> np.uint64(1)), device)


def start_chance(seed: int, device: torch.device) -> Chance:
    """The chance of where an iteration begins."""
    return Chance(int(words(seed, _START, count=1)[0] >> np.uint64(1)), device)
