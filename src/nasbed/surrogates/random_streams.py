"""Random numbers that are a function of the architecture and the seed: the same for one query and for a batch, on every
machine, in any order."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nasbed.spaces.lookup import MASK, code_key, code_keys

GOLDEN, MIX_1, MIX_2 = 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB
UNIT = 2.0**-52


def normal(code: tuple[int, ...], seed: int, stream: int = 0) -> float:
    """A draw from the standard normal distribution; draws of different streams are independent.

    >>> normal((3, 0, 1), 7) == normal((3, 0, 1), 7) != normal((3, 0, 1), 8)
    True
    """
    mixed = code_key(code) ^ (stream * MIX_1 & MASK)
    for _ in range(2):
        mixed = (mixed + (seed * 2 + 1) * GOLDEN) & MASK
        mixed = ((mixed ^ (mixed >> 30)) * MIX_1) & MASK
        mixed = ((mixed ^ (mixed >> 27)) * MIX_2) & MASK
        mixed ^= mixed >> 31
    return float(_ndtri()(((mixed >> 12) + 0.5) * UNIT))


def normals(codes: NDArray[np.int64], seed: int, stream: int = 0) -> NDArray[np.float64]:
    """:func:`normal` of a batch, bit for bit."""
    mixed = code_keys(codes) ^ np.uint64(stream * MIX_1 & MASK)
    step = np.uint64(((seed * 2 + 1) * GOLDEN) & MASK)
    for _ in range(2):
        mixed = mixed + step
        mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(MIX_1)
        mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(MIX_2)
        mixed ^= mixed >> np.uint64(31)
    samples: NDArray[np.float64] = _ndtri()(((mixed >> np.uint64(12)).astype(np.float64) + 0.5) * UNIT)
    return samples


@cache
def _ndtri() -> Callable[[Any], Any]:
    """The inverse of the normal distribution, imported by the first draw: processes that read tables never need it."""
    from scipy.special import ndtri

    return ndtri  # type: ignore[no-any-return]


def reflected(values: NDArray[np.float64], bounds: tuple[float, float]) -> NDArray[np.float64]:
    """Values reflected at the bounds, and clipped where they exceed one by more than the whole range. Clipping alone
    would pile values up at the bound.

    >>> reflected(np.array([-1.0, 50.0, 100.5]), (0.0, 100.0)).tolist()
    [1.0, 50.0, 99.5]
    """
    low, high = bounds
    if low > -np.inf:
        values = low + np.abs(values - low)
    if high < np.inf:
        values = high - np.abs(high - values)
    return np.clip(values, low, high)


def reflected_one(value: float, bounds: tuple[float, float]) -> float:
    """:func:`reflected` of one value, bit for bit."""
    low, high = bounds
    if low > -np.inf:
        value = low + abs(value - low)
    if high < np.inf:
        value = high - abs(high - value)
    return min(max(value, low), high)
