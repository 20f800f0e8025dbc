"""How a measured quantity is distributed: over architectures, between repeats, within groups (sections 3.1 and 3.2)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nasbed.core.errors import InvalidOption


@dataclass(frozen=True, slots=True)
class Ecdf:
    """An empirical cumulative distribution: the fraction of all values that are at most ``values[i]``."""

    values: NDArray[np.float64]  # rising, each once
    fractions: NDArray[np.float64]
    count: int

    def quantile(self, fraction: float) -> float:
        """The smallest value that at least this fraction of all values does not exceed; NaN if there is no value."""
        if not self.count:
            return float("nan")
        return float(self.values[min(int(np.searchsorted(self.fractions, fraction)), len(self.values) - 1)])

    def thinned(self, points: int) -> Ecdf:
        """The same distribution at a limited number of its steps, first and last included, for a figure."""
        if len(self.values) <= points:
            return self
        steps = np.unique(np.searchsorted(self.fractions, np.linspace(self.fractions[0], 1.0, points)))
        steps = np.minimum(steps, len(self.values) - 1)
        return Ecdf(self.values[steps], self.fractions[steps], self.count)


@dataclass(frozen=True, slots=True)
class GroupMeans:
    """The mean of a quantity for each key of a property."""

    keys: NDArray[np.int64]  # rising
    counts: NDArray[np.int64]
    means: NDArray[np.float64]
    standard_errors: NDArray[np.float64]  # NaN for a group of one


def ecdf(values: ArrayLike) -> Ecdf:
    """The empirical cumulative distribution of all values that are not missing (Figure 2).

    >>> result = ecdf([3.0, 1.0, 1.0, float("nan"), 2.0])
    >>> result.values.tolist(), result.fractions.tolist()
    ([1.0, 2.0, 3.0], [0.5, 0.75, 1.0])
    """
    present = np.asarray(values, dtype=np.float64).ravel()
    present = present[~np.isnan(present)]
    unique, counts = np.unique(present, return_counts=True)
    return Ecdf(unique, np.cumsum(counts) / max(len(present), 1), len(present))


def repeat_noise(values: ArrayLike, ddof: int = 1) -> NDArray[np.float64]:
    """The standard deviation between repeats: ``values [..., repeats]`` to ``[...]`` (Figure 2, right).

    Missing repeats are left out. The sum of squares is divided by ``count - ddof``; the default 1 makes the variance
    unbiased, 0 is the deviation of just these repeats. NaN where there are no more than ``ddof`` repeats.

    >>> repeat_noise([[1.0, 3.0, 2.0], [5.0, float("nan"), 5.0], [4.0, float("nan"), float("nan")]]).tolist()
    [1.0, 0.0, nan]
    """
    repeats = np.asarray(values, dtype=np.float64)
    present = ~np.isnan(repeats)
    counts = present.sum(axis=-1)
    with np.errstate(invalid="ignore", divide="ignore"):
        means = np.where(present, repeats, 0.0).sum(axis=-1, keepdims=True) / counts[..., None]
        squares = np.where(present, repeats - means, 0.0) ** 2
        noise: NDArray[np.float64] = np.sqrt(squares.sum(axis=-1) / np.where(counts > ddof, counts - ddof, np.nan))
    return noise


def mean_by(keys: ArrayLike, values: ArrayLike) -> GroupMeans:
    """The mean of ``values`` among the architectures with each integer property ``keys``; missing values are left out.

    >>> result = mean_by([2, 1, 2], [4.0, 1.0, 6.0])
    >>> result.keys.tolist(), result.counts.tolist(), result.means.tolist()
    ([1, 2], [1, 2], [1.0, 5.0])
    """
    groups, column = np.asarray(keys), np.asarray(values, dtype=np.float64)
    if groups.shape != column.shape or groups.ndim != 1:
        raise InvalidOption(f"one key and one value an architecture, got {groups.shape} keys, {column.shape} values")
    present = ~np.isnan(column)
    unique, owner = np.unique(groups[present].astype(np.int64), return_inverse=True)
    column = column[present]
    counts = np.bincount(owner, minlength=len(unique))
    means = np.bincount(owner, column, minlength=len(unique)) / counts
    squares = np.bincount(owner, (column - means[owner]) ** 2, minlength=len(unique))
    with np.errstate(invalid="ignore", divide="ignore"):
        errors = np.sqrt(squares / np.where(counts > 1, counts - 1, np.nan) / counts)
    return GroupMeans(unique, counts, means, errors)
