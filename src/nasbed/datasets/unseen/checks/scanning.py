"""One pass over the images of a part, a block at a time: what is wrong with their values, and what is kept of them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nasbed.datasets.source import Progress
from nasbed.datasets.unseen.checks.near_duplicates import Points, Projection

BLOCK_VALUES = 4_000_000
"""Values of images that are held at a time."""


@dataclass(frozen=True, slots=True, eq=False)
class Scan:
    """Digests identify equal images, points find near ones. Images with values that are not finite have neither a
    point nor a range."""

    digests: NDArray[np.void]
    points: Points
    low: float
    high: float
    integral: bool
    """Whether all values are whole numbers."""
    constant: NDArray[np.int64]
    """Numbers of the images of one value."""
    broken: NDArray[np.int64]
    """Numbers of the images with values that are not finite."""


def blocks(images: NDArray[Any]) -> Iterator[tuple[int, NDArray[Any]]]:
    """Where a block begins, and its images."""
    step = max(1, BLOCK_VALUES // max(1, int(np.prod(images.shape[1:]))))
    for start in range(0, len(images), step):
        yield start, np.asarray(images[start : start + step])


def scan(images: NDArray[Any], projection: Projection, progress: Progress, step: str) -> Scan:
    digests = np.zeros(len(images), "V16")
    points, constant, broken = [], [], []
    low, high, integral = np.inf, -np.inf, True
    for start, block in blocks(images):
        flat = block.reshape(len(block), -1).astype(np.float32) + np.float32(0)  # no minus zero
        for index, image in enumerate(flat):
            digests[start + index] = np.void(hashlib.blake2b(image.data, digest_size=16).digest())
        smallest, largest = flat.min(axis=1), flat.max(axis=1)
        finite = np.isfinite(smallest) & np.isfinite(largest)
        if not finite.all():
            broken.append(start + np.flatnonzero(~finite))
            flat[~finite] = 0
        constant.append(start + np.flatnonzero((smallest == largest) & finite))
        if finite.any():
            low, high = min(low, float(smallest[finite].min())), max(high, float(largest[finite].max()))
        integral = integral and bool((flat == np.rint(flat)).all())
        points.append(projection.of(flat))
        progress(step, start + len(block), len(images))
    none = [np.empty(0, np.int64)]
    constants, brokens = np.concatenate(none + constant), np.concatenate(none + broken)
    return Scan(digests, np.concatenate(points), low, high, integral, constants, brokens)
