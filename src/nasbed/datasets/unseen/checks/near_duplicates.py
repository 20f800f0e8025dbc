"""Images of different parts that are almost the same.

The measure is the root mean square of the differences of all values. It is divided by its median over many pairs of
random images. At or under a tenth they are near duplicates. For comparison, noise of ±2 on pictures of bytes is about a
hundredth, one exchanged letter in a grid of letters a fifth, and one moved chess piece a third. An image that was
shifted, mirrored or cut is another image by this measure.

Every pair is compared by 32 random projections, which approximately keep distances; one near duplicate in ten thousand
is lost there. The candidates are then compared by all their values.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

NEAR = 0.1
"""The largest share of the usual difference that makes two images near duplicates."""
DIRECTIONS = 32
SLACK = 1.5
"""How much longer a projected distance may be than the true one."""
MOST_CANDIDATES = 200_000
PAIRS = 20_000
ROWS, COLUMNS = 1_000, 10_000

Points = NDArray[np.float32]


class Projection:
    """Random directions for images of that many values: each value is added, or subtracted, by the toss of a coin."""

    def __init__(self, values: int) -> None:
        words = np.random.PCG64(np.random.SeedSequence(values)).random_raw((values * DIRECTIONS + 63) // 64)
        bits = np.unpackbits(words.astype("<u8").view(np.uint8))[: values * DIRECTIONS]
        self._signs: Points = (bits.reshape(values, DIRECTIONS) * np.float32(2) - np.float32(1)) / np.float32(
            np.sqrt(values * DIRECTIONS)
        )

    def of(self, images: NDArray[Any]) -> Points:
        """Points whose distances are, up to chance, the root mean square differences of the images ``[n, values]``."""
        return np.asarray(images.astype(np.float32, copy=False) @ self._signs)


@dataclass(frozen=True, slots=True)
class NearPair:
    """Numbers of two images in their parts, and their difference as a share of the usual one."""

    part: str
    index: int
    other_part: str
    other_index: int
    share: float


@dataclass(frozen=True, slots=True, eq=False)
class NearDuplicates:
    pairs: list[NearPair]
    usual: float
    """The usual root mean square difference of two images, in the units of their values."""
    complete: bool
    """False where there were more candidates than are compared."""


def near_duplicates(images: Mapping[str, NDArray[Any]], points: Mapping[str, Points]) -> NearDuplicates:
    """Pairs of different parts under the limit, identical ones not among them.

    ``images`` may be mapped from disk; ``points`` are their projections.
    """
    names = list(points)
    usual = usual_distance(np.concatenate([points[name] for name in names]))
    if usual == 0:
        return NearDuplicates([], 0.0, True)
    centre = points[names[0]].mean(axis=0)
    pairs: list[NearPair] = []
    budget = MOST_CANDIDATES
    for later in range(1, len(names)):
        for earlier in range(later):
            first, second = names[later], names[earlier]
            candidates = close(points[first] - centre, points[second] - centre, SLACK * NEAR * usual, budget)
            budget -= len(candidates)
            pairs += _confirmed((first, images[first]), (second, images[second]), candidates, usual)
    return NearDuplicates(pairs, usual, budget > 0)


def usual_distance(points: Points) -> float:
    """The median distance of pairs drawn at random."""
    if len(points) < 2:
        return 0.0
    words = np.random.PCG64(0).random_raw(2 * PAIRS).reshape(2, PAIRS)
    first = (words[0] % np.uint64(len(points))).astype(np.int64)
    second = (first + 1 + (words[1] % np.uint64(len(points) - 1)).astype(np.int64)) % len(points)
    return float(np.median(np.sqrt(((points[first] - points[second]) ** 2).sum(axis=1))))


def close(first: Points, second: Points, distance: float, most: int) -> NDArray[np.int64]:
    """Pairs of row numbers that are at most so far apart, ``[n, 2]``, up to a number of pairs."""
    results = [np.empty((0, 2), np.int64)]
    count = 0
    squares = (second**2).sum(axis=1)
    extended = np.concatenate([-2 * second, squares[:, None]], axis=1).astype(np.float32)
    for top in range(0, len(first), ROWS):
        rows = first[top : top + ROWS]
        lengthened = np.concatenate([rows, np.ones((len(rows), 1), np.float32)], axis=1)
        limits = (distance**2 - (rows**2).sum(axis=1)).astype(np.float32)
        for column in range(0, len(second), COLUMNS):
            is_near = lengthened @ extended[column : column + COLUMNS].T <= limits[:, None]
            if is_near.any():
                pairs = np.argwhere(is_near)[: most - count] + np.array([top, column])
                results.append(pairs)
                count += len(pairs)
                if count >= most:
                    return np.concatenate(results)
    return np.concatenate(results)


def _confirmed(
    first: tuple[str, NDArray[Any]], second: tuple[str, NDArray[Any]], candidates: NDArray[np.int64], usual: float
) -> Sequence[NearPair]:
    """The candidates that are near by all their values."""
    confirmed = []
    for start in range(0, len(candidates), ROWS):
        batch = candidates[start : start + ROWS]
        first_values, second_values = (
            images[numbers].reshape(len(batch), -1).astype(np.float32)
            for images, numbers in ((first[1], batch[:, 0]), (second[1], batch[:, 1]))
        )
        shares = np.sqrt(((first_values - second_values) ** 2).mean(axis=1, dtype=np.float64)) / usual
        for index in np.flatnonzero((shares > 0) & (shares <= NEAR)):
            confirmed.append(
                NearPair(first[0], int(batch[index, 0]), second[0], int(batch[index, 1]), float(shares[index]))
            )
    return confirmed
