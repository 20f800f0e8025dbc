"""Ranks of methods seed by seed, so that a hard seed counts no more than an easy one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nasbed.core.errors import InvalidOption

ENDS = ((1 - 0.95) / 2, (1 + 0.95) / 2)
"""The quantiles at the ends of a 95 % interval."""


@dataclass(frozen=True, slots=True)
class MeanBand:
    """Means, such as the mean rank of each method, and the ends of their 95 % bootstrap intervals over seeds."""

    mean: NDArray[np.float64]  # [methods, ...] or [places]
    low: NDArray[np.float64]
    high: NDArray[np.float64]


def ranks(losses: ArrayLike) -> NDArray[np.float64]:
    """The rank of each method among all for each seed: ``losses [methods, seeds, ...]``, the lowest gets 1.

    Equal ones share the mean of their ranks. A missing loss, of a run without a result yet, ranks last.

    >>> ranks([[1.0, 2.0], [3.0, 2.0], [float("nan"), 1.0]]).tolist()
    [[1.0, 2.5], [2.0, 2.5], [3.0, 1.0]]
    """
    from scipy.stats import rankdata

    table = _table(losses)
    result: NDArray[np.float64] = rankdata(np.where(np.isnan(table), np.inf, table), axis=0)
    return result


def mean_ranks(losses: ArrayLike, rng: np.random.Generator, *, resamples: int = 1000) -> MeanBand:
    """The mean over seeds of :func:`ranks`, with 95 % percentile bootstrap intervals.

    A third axis, such as the times of a grid, is kept: with ``losses [methods, seeds, times]`` this is the rank over
    time, and the same seeds are drawn at all times.

    >>> result = mean_ranks([[1.0, 2.0, 1.0, 1.0], [3.0, 1.0, 2.0, 2.0]], np.random.default_rng(0))
    >>> result.mean.tolist(), result.low.tolist(), result.high.tolist()
    ([1.25, 1.75], [1.0, 1.25], [1.75, 2.0])
    """
    by_seed = ranks(losses)
    seeds = by_seed.shape[1]
    if resamples < 1:
        raise InvalidOption(f"an interval takes 1 resample or more, got {resamples}")
    shares = rng.multinomial(seeds, np.full(seeds, 1 / seeds), size=resamples) / seeds
    flat = by_seed.reshape(*by_seed.shape[:2], -1)
    ends = np.empty((2, len(flat), flat.shape[2]))
    for method, columns in enumerate(flat):
        ends[:, method] = np.quantile(shares @ columns, ENDS, axis=0)
    mean = by_seed.mean(axis=1)
    return MeanBand(mean, ends[0].reshape(mean.shape), ends[1].reshape(mean.shape))


def _table(losses: ArrayLike) -> NDArray[np.float64]:
    table = np.asarray(losses, dtype=np.float64)
    if table.ndim < 2 or not table.shape[0] or not table.shape[1]:
        raise InvalidOption(f"ranks take losses [methods, seeds, ...], got shape {table.shape}")
    return table
