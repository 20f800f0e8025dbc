"""A dataset on a device, divided and ready to train on: batches are cut there from the bytes as they are published."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from nasbed.datasets.dataset import Dataset, ImageSplit
from nasbed.training.random_streams import EpochDraws
from nasbed.training.recipe import SPLIT_SEED, Recipe

AT_ONCE = 32
"""Batches that are cut at once on a GPU."""


def recipe_split(dataset: Dataset, recipe: Recipe) -> ImageSplit:
    """The images to train on and to validate with: as the recipe says, else as published, else four fifths and one."""
    if recipe.split is not None:
        return dataset.splits(*recipe.split, seed=SPLIT_SEED)
    if dataset.published is not None:
        return dataset.published_split()
    valid = len(dataset.train) // 5
    return dataset.splits(len(dataset.train) - valid, valid, seed=SPLIT_SEED)


class TrainingImages:
    """The three parts of a dataset as a recipe divides it, on one device. ``padded`` are those to train on, as they are
    published but for a border of ``padding`` zeros."""

    def __init__(self, dataset: Dataset, recipe: Recipe, device: torch.device | str = "cpu") -> None:
        self.split = recipe_split(dataset, recipe)
        self.side = dataset.shape[1:]
        self.padding, self.cutout, self._split = recipe.crop_padding, recipe.cutout, recipe.split
        channels = (1, -1, 1, 1)
        self.scale = dataset.scale
        self.mean = torch.tensor(dataset.mean, dtype=torch.float32, device=device).view(channels)
        self.std = torch.tensor(dataset.divisors, dtype=torch.float32, device=device).view(channels)

        def part(images: np.ndarray, labels: np.ndarray) -> tuple[Tensor, Tensor]:
            return torch.from_numpy(images.copy()).to(device), torch.from_numpy(labels.copy()).to(device)

        train, self.labels = part(dataset.train.images[self.split.train], dataset.train.labels[self.split.train])
        self.padded = functional.pad(train, (self.padding,) * 4)
        self._parts = {
            "train": (train, self.labels),
            "valid": part(dataset.train.images[self.split.valid], dataset.train.labels[self.split.valid]),
            "test": part(dataset.test.images, dataset.test.labels),
        }

    def suit(self, recipe: Recipe) -> bool:
        """Whether another recipe divides, pads and cuts out as that which these were made for."""
        return (self.padding, self.cutout, self._split) == (recipe.crop_padding, recipe.cutout, recipe.split)

    def __len__(self) -> int:
        """The images to train on."""
        return len(self.labels)

    def batch(self, draws: EpochDraws, first: int, size: int) -> tuple[Tensor, Tensor]:
        """Training images ``[..., size, channels, height, width]`` and their labels, cropped, mirrored, normalised and
        cut out as the draws say; the dimensions in front are those of the draws."""
        selection = EpochDraws(*(getattr(draws, name)[..., first : first + size] for name in EpochDraws.__slots__))
        front = selection.order.shape
        flat = EpochDraws(*(getattr(selection, name).reshape(-1) for name in EpochDraws.__slots__))
        images = self._normalised(self._cropped(flat))
        if self.cutout:
            images = images.masked_fill(self._cut(flat), 0.0)
        return images.view(*front, *images.shape[1:]), self.labels[selection.order]

    def epoch(
        self, draws: EpochDraws, steps: int, size: int, *, together: int | None = None
    ) -> Iterator[tuple[Tensor, Tensor]]:
        """The batches of ``steps`` steps in order, cut ``together`` many at once. By default these are 1 on a CPU, and
        more on a GPU, where to cut one takes many launches."""
        together = together or (AT_ONCE if self.labels.is_cuda else 1)
        for first in range(0, steps, together):
            images, labels = self.batch(draws, first * size, min(together, steps - first) * size)
            yield from zip(torch.split(images, size), torch.split(labels, size), strict=True)

    def _cropped(self, draws: EpochDraws) -> Tensor:
        """A window of each image with its border of zeros."""
        height, width = self.side
        device = self.labels.device
        rows = draws.top[:, None] + torch.arange(height, device=device)
        across = torch.arange(width, device=device)
        columns = draws.left[:, None] + torch.where(draws.mirrored[:, None], width - 1 - across, across)
        channels = torch.arange(self.padded.shape[1], device=device)
        return self.padded[
            draws.order[:, None, None, None],
            channels[None, :, None, None],
            rows[:, None, :, None],
            columns[:, None, None, :],
        ]

    def _cut(self, draws: EpochDraws) -> Tensor:
        inside = []
        for length, centre in zip(self.side, (draws.cut_row, draws.cut_column), strict=True):
            first = centre[:, None] - self.cutout // 2
            places = torch.arange(length, device=self.labels.device)
            inside.append((places >= first) & (places < first + self.cutout))
        return (inside[0][:, :, None] & inside[1][:, None, :])[:, None]

    def _normalised(self, images: Tensor) -> Tensor:
        return (images.to(torch.float32) / self.scale - self.mean) / self.std

    def batches(self, part: str, size: int) -> Iterator[tuple[Tensor, Tensor]]:
        """The images of ``train``, ``valid`` or ``test`` as they are, in order, with their labels."""
        images, labels = self._parts[part]
        for first in range(0, len(labels), size):
            yield self._normalised(images[first : first + size]), labels[first : first + size]
