"""A dataset in memory: training and test images with labels, and splits of the training part."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nasbed.core.errors import InvalidOption

Images = NDArray[Any]
"""``[n, channels, height, width]``: uint8, or float32 where the values of a source are not bytes."""
Labels = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class LabelledImages:
    """Images and their labels, in the order of the source."""

    images: Images
    labels: Labels

    def __len__(self) -> int:
        return len(self.labels)


@dataclass(frozen=True, slots=True, eq=False)
class ImageSplit:
    """The indices of the training part for training and for validation; each ascending, none in both.

    ``hash`` is a digest of the indices, for the provenance of results.
    """

    train: NDArray[np.int64]
    valid: NDArray[np.int64]
    hash: str


@dataclass(frozen=True, slots=True, eq=False)
class Dataset:
    """Images for training and for testing. ``hash`` identifies the exact bytes of all four arrays.

    ``mean`` and ``std`` are those of the training part, one a channel, after division by ``scale``: 255 for bytes,
    1 for other values. ``published`` is how many images of the training part the source itself trains on and validates
    with, the former first; ``None`` where it leaves that open.
    """

    name: str
    train: LabelledImages
    test: LabelledImages
    classes: tuple[str, ...]
    mean: tuple[float, ...]
    std: tuple[float, ...]
    hash: str
    published: tuple[int, int] | None = None

    @property
    def shape(self) -> tuple[int, int, int]:
        """Channels, height and width of an image."""
        channels, height, width = self.train.images.shape[1:]
        return channels, height, width

    @property
    def scale(self) -> float:
        return 255.0 if self.train.images.dtype == np.uint8 else 1.0

    @property
    def divisors(self) -> tuple[float, ...]:
        """What normalised images are divided by, one a channel: ``std``, or 1 where a channel is constant, so that it
        becomes zeros."""
        return tuple(deviation or 1.0 for deviation in self.std)

    def splits(self, train: int, valid: int, seed: int) -> ImageSplit:
        """Split the training part at random: 40 000 and 10 000 of CIFAR-10 in the papers.

        The order is that of one raw 64-bit draw of PCG64 for each image, which no version of numpy changes, so that a
        seed means the same images for ever.
        """
        if train < 1 or valid < 0 or train + valid > len(self.train):
            raise InvalidOption(
                f"a split of {self.name} has at least 1 image to train on and at most {len(self.train)} in all, got "
                f"{train} and {valid}; ask for fewer"
            )
        if seed < 0:
            raise InvalidOption(f"a seed is 0 or more, got {seed}")
        order = np.argsort(np.random.PCG64(seed).random_raw(len(self.train)), kind="stable")
        return _split(order[:train], order[train : train + valid])

    def published_split(self) -> ImageSplit:
        """The published split; raises where there is none."""
        if self.published is None:
            raise InvalidOption(f"{self.name} is published without a validation part; divide it with splits")
        train, valid = self.published
        return _split(np.arange(train), np.arange(train, train + valid))


def _split(train: NDArray[Any], valid: NDArray[Any]) -> ImageSplit:
    parts = [np.sort(part).astype(np.int64) for part in (train, valid)]
    digest = hashlib.sha256()
    for part in parts:
        digest.update(f"{len(part)}:".encode())
        digest.update(part.astype("<i8").tobytes())
    return ImageSplit(parts[0], parts[1], digest.hexdigest()[:16])
