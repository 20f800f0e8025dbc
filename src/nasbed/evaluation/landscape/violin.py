"""The shape of a distribution for a violin plot: a kernel density estimate, cut off at the least and greatest value."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

FEWEST = 10
"""The least number of values for a density."""
POINTS = 48
MOST_VALUES = 2000
"""More values than this are thinned to evenly spaced quantiles, which have the same density."""


@dataclass(frozen=True, slots=True)
class ValueGroup:
    """The values of the architectures with one ``key``, such as a depth: their quartiles, ends and density.

    ``density`` is the estimate at ``grid``, from the least value to the greatest; both are empty for fewer than
    :data:`FEWEST` values, or equal ones.
    """

    key: int
    count: int
    low: float  # the first quartile
    median: float
    high: float
    ends: tuple[float, float]
    grid: NDArray[np.float64]
    density: NDArray[np.float64]


def value_groups(keys: ArrayLike, values: ArrayLike) -> tuple[ValueGroup, ...]:
    """The distribution of ``values`` for each integer of ``keys``, in rising order.

    >>> group = value_groups([2, 2, 3], [1.0, 3.0, 5.0])[0]
    >>> group.key, group.count, group.median, group.ends
    (2, 2, 2.0, (1.0, 3.0))
    """
    integers, column = np.asarray(keys), np.asarray(values, dtype=np.float64)
    return tuple(_group(int(key), column[integers == key]) for key in np.unique(integers))


def _group(key: int, values: NDArray[np.float64]) -> ValueGroup:
    low, median, high = np.quantile(values, [0.25, 0.5, 0.75]).tolist()
    ends = (float(values.min()), float(values.max()))
    grid, density = _density(values)
    return ValueGroup(key, len(values), low, median, high, ends, grid, density)


def _density(values: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    from scipy.stats import gaussian_kde

    if len(values) < FEWEST or not np.ptp(values) > 0:
        return np.empty(0), np.empty(0)
    grid = np.linspace(values.min(), values.max(), POINTS)
    if len(values) > MOST_VALUES:
        values = np.quantile(values, (np.arange(MOST_VALUES) + 0.5) / MOST_VALUES)
    return grid, gaussian_kde(values)(grid)
