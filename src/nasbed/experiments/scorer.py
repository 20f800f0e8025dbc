"""One network scored by zero-cost proxies, in any process."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from nasbed.core.architecture import Architecture
from nasbed.core.errors import BadFile, InvalidOption

if TYPE_CHECKING:
    from torch import Tensor

    from nasbed.datasets.dataset import Dataset

Code = tuple[int, ...]
BATCH = 64
_IMAGES = 7
"""The stream of a seed from which its images are drawn."""


@dataclass(frozen=True, slots=True)
class NetworkScore:
    """The score of a network by one proxy, or why there is none, and how long it would take alone."""

    value: float | None
    seconds: float
    reason: str = ""
    remark: str = ""


@dataclass(frozen=True, slots=True)
class Scorer:
    """Builds the network of an architecture with the initial weights of a seed, and scores it on the images of that
    seed. A training with the same recipe and seed starts from the same weights."""

    space: str
    dataset: str
    recipe: str
    batch: int
    device: str
    dataset_hash: str = ""

    def __call__(self, task: tuple[Code, int, tuple[str, ...]]) -> dict[str, NetworkScore]:
        from nasbed.training.devices import threads_used

        code, seed, proxies = task
        with threads_used(1):
            return self._score(Architecture(self.space, code), seed, proxies)

    def _score(self, arch: Architecture, seed: int, proxies: Sequence[str]) -> dict[str, NetworkScore]:
        from nasbed.networks import build
        from nasbed.proxies import score_all
        from nasbed.training.network_factory import recipe_network
        from nasbed.training.random_streams import initial_weights
        from nasbed.training.recipe_files import load_recipe

        data = dataset_of(self.dataset, self.dataset_hash)
        if self.recipe:
            network = recipe_network(arch, data, load_recipe(self.recipe))
        else:
            channels, height, width = data.shape
            network = build(arch, classes=len(data.classes), channels_in=channels, image=(height, width))
        initial_weights(network, seed)
        batch = self._images(seed)
        scores = score_all(network.to(self.device), batch, proxies=proxies, seed=seed)
        return {
            name: NetworkScore(score.value, score.seconds + score.shared_seconds, score.reason, score.remark)
            for name, score in scores.items()
        }

    def _images(self, seed: int) -> tuple[Tensor, Tensor]:
        """Normalised images and labels on the device, drawn once a process."""
        key = (self, seed)
        if key not in _BATCHES:
            data = dataset_of(self.dataset, self.dataset_hash)
            _BATCHES[key] = scoring_batch(data, self.batch, seed=seed, device=self.device, recipe=self.recipe)
        return _BATCHES[key]


_DATASETS: dict[str, Dataset] = {}
_BATCHES: dict[tuple[Scorer, int], tuple[Tensor, Tensor]] = {}


def dataset_of(name: str, expected: str = "") -> Dataset:
    """The dataset, opened once per process, and again if its hash is not the expected one."""
    from nasbed.datasets import load

    if name not in _DATASETS or _DATASETS[name].hash != expected:
        _DATASETS[name] = load(name)
    if expected and _DATASETS[name].hash != expected:
        raise BadFile(f"{name} was changed while networks were scored on it; score them again")
    return _DATASETS[name]


def scoring_batch(
    data: Dataset, size: int = BATCH, *, seed: int = 0, device: str = "cpu", recipe: str = ""
) -> tuple[Tensor, Tensor]:
    """Normalised images and their labels, drawn by a seed.

    Args:
        data: the dataset.
        size: how many images.
        seed: which images.
        device: where they are put.
        recipe: draw from the images that this recipe trains on; from the whole training part without one.
    """
    import torch

    from nasbed.training.images import recipe_split
    from nasbed.training.random_streams import words
    from nasbed.training.recipe_files import load_recipe

    rows = recipe_split(data, load_recipe(recipe)).train if recipe else np.arange(len(data.train))
    if not 1 <= size <= len(rows):
        raise InvalidOption(f"a batch has 1 to {len(rows)} images of {data.name}, got {size}; choose another size")
    image_rows = np.sort(rows[np.argsort(words(seed, _IMAGES, count=len(rows)), kind="stable")[:size]])
    mean, std = (torch.tensor(values).view(1, -1, 1, 1) for values in (data.mean, data.divisors))
    images = torch.from_numpy(data.train.images[image_rows].copy()).float() / data.scale
    labels = torch.from_numpy(data.train.labels[image_rows].copy()).long()
    return ((images - mean) / std).float().to(device), labels.to(device)
