"""Smaller images by averaging areas, in whole numbers, so that every machine makes the same bytes.

A side of ``h`` pixels becomes ``s``. The new pixel ``i`` covers the old side from ``i·h/s`` to ``(i+1)·h/s``. It is the
mean of the old pixels, each weighted with its part that lies inside. Measured in units of ``1/s`` all weights are whole
numbers with the sum ``h``. Where ``h/s`` is whole this is the plain mean of a box. Bytes are rounded to the nearest,
halves to the even one.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from nasbed.core.errors import InvalidOption
from nasbed.datasets.dataset import Images

BLOCK = 2_000


def area_weights(old: int, new: int) -> NDArray[np.float64]:
    """``[new, old]``: how much of each old pixel a new one covers, in units of 1/new; whole numbers."""
    starts = np.arange(new)[:, None] * old
    pixels = np.arange(old)[None, :] * new
    overlap = np.minimum(starts + old, pixels + new) - np.maximum(starts, pixels)
    weights: NDArray[np.float64] = np.maximum(overlap, 0).astype(np.float64)
    return weights


def resized(images: Images, side: int, report_progress: Callable[[int], None] = lambda _: None) -> Images:
    """Images of ``side`` × ``side`` pixels. ``report_progress`` gets how many are done.

    Every sum is a whole number below 2**53, so that float64 holds it exactly in whatever order it is added up.
    """
    count, channels, height, width = images.shape
    if not 1 <= side <= min(height, width):
        raise InvalidOption(
            f"images are made smaller, to a side of 1 to {min(height, width)}, got {side}; choose one of those"
        )
    rows, columns = area_weights(height, side).T, area_weights(width, side).T
    area = height * width
    result = np.empty((count, channels, side, side), images.dtype)
    for start in range(0, count, BLOCK):
        narrow = _summed(images[start : start + BLOCK], columns)
        sums = _summed(narrow.swapaxes(2, 3), rows).swapaxes(2, 3)
        if images.dtype == np.uint8:
            quotient = np.floor_divide(sums, area)
            remainder = sums - quotient * area
            up = (2 * remainder > area) | ((2 * remainder == area) & (quotient % 2 == 1))
            result[start : start + BLOCK] = quotient + up
        else:
            result[start : start + BLOCK] = sums / area
        report_progress(min(start + BLOCK, count))
    return result


def _summed(images: Images, weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Weighted sums along the last axis, for all rows in one product."""
    flat = images.reshape(-1, images.shape[-1]).astype(np.float64)
    sums: NDArray[np.float64] = (flat @ weights).reshape(*images.shape[:-1], -1)
    return sums
