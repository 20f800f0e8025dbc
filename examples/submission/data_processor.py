"""Images to loaders: every channel with mean 0 and variance 1 over the training images."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch.utils.data import DataLoader, TensorDataset

BATCH = 64


class DataProcessor:
    """Gets all images, and the labels of those that are not tested with."""

    def __init__(
        self, train_x: Any, train_y: Any, valid_x: Any, valid_y: Any, test_x: Any, metadata: dict[str, Any], clock: Any
    ) -> None:
        self.images = [np.asarray(images, np.float32) for images in (train_x, valid_x, test_x)]
        self.labels = [torch.as_tensor(np.asarray(labels), dtype=torch.long) for labels in (train_y, valid_y)]

    def process(self) -> tuple[DataLoader[Any], DataLoader[Any], DataLoader[Any]]:
        """Loaders to train with, to validate with and to test with; the last keeps the order of its images."""
        axes = (0, *range(2, self.images[0].ndim))
        mean = self.images[0].mean(axes, keepdims=True)
        std = self.images[0].std(axes, keepdims=True) + 1e-6
        train, valid, test = (torch.from_numpy((images - mean) / std) for images in self.images)
        return (
            DataLoader(TensorDataset(train, self.labels[0]), BATCH, shuffle=True),
            DataLoader(TensorDataset(valid, self.labels[1]), BATCH),
            DataLoader(TensorDataset(test), BATCH),
        )
