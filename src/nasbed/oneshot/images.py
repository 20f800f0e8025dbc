"""The two halves of a dataset's training images: one trains the weights, the other the architecture."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import torch

from nasbed.core.errors import InvalidOption
from nasbed.datasets.dataset import Dataset, LabelledImages
from nasbed.oneshot.settings import SearchSettings
from nasbed.training.images import TrainingImages
from nasbed.training.recipe import SPLIT_SEED


def halves(dataset: Dataset, settings: SearchSettings) -> tuple[Dataset, Dataset]:
    """A dataset twice, each with part of the training images and none to validate or test with. Mean and deviation stay
    those of the whole."""
    count = len(dataset.train) if dataset.published is None else dataset.published[0]
    first, second = settings.split or (count // 2, count - count // 2)
    if first + second > count:
        raise InvalidOption(
            f"{dataset.name} has {count} images to search with, the split asks for {first} and {second}; ask for fewer"
        )
    order = np.argsort(np.random.PCG64(SPLIT_SEED).random_raw(count), kind="stable")
    empty = LabelledImages(dataset.test.images[:0], dataset.test.labels[:0])

    def part(indices: np.ndarray) -> Dataset:
        rising = np.sort(indices)
        images = LabelledImages(dataset.train.images[rising], dataset.train.labels[rising])
        return replace(dataset, train=images, test=empty, published=(len(images), 0))

    return part(order[:first]), part(order[first : first + second])


class SearchImages:
    """Both halves on a device: ``weights`` and ``architecture``."""

    def __init__(self, dataset: Dataset, settings: SearchSettings, device: torch.device) -> None:
        recipe = settings.recipe()
        self.weights, self.architecture = (TrainingImages(half, recipe, device) for half in halves(dataset, settings))
        self.steps = recipe.steps_per_epoch(len(self.weights))
        self.architecture_steps = recipe.steps_per_epoch(len(self.architecture))
