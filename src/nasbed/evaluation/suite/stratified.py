"""Means over benchmarks of means over seeds."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from nasbed.core.errors import InvalidOption
from nasbed.evaluation.ranks import ENDS, MeanBand


def stratified_mean(strata: Sequence[ArrayLike], rng: np.random.Generator, *, resamples: int = 1000) -> MeanBand:
    """The mean over benchmarks of the mean over seeds, each benchmark with the same weight, and its bootstrap interval.

    ``strata`` has the values of one method ``[seeds, places]`` for each benchmark. The interval is that of the
    stratified bootstrap (Agarwal et al. 2021, Deep Reinforcement Learning at the Edge of the Statistical Precipice):
    seeds are drawn again within each benchmark, so it says what other seeds would give on these benchmarks. NaN where
    some run has no value yet, or a benchmark has no run.

    >>> band = stratified_mean([[[1.0], [3.0]], [[10.0]]], np.random.default_rng(0))
    >>> band.mean.tolist(), band.low.tolist(), band.high.tolist()
    ([6.0], [5.5], [6.5])
    """
    tables = [np.asarray(values, dtype=np.float64) for values in strata]
    places = {table.shape[1:] for table in tables}
    if resamples < 1 or len(places) != 1 or any(table.ndim != 2 for table in tables):
        raise InvalidOption(
            f"a mean over benchmarks takes values [seeds, places] of each, got {[table.shape for table in tables]}"
        )
    width = tables[0].shape[1]
    if any(not len(table) for table in tables):
        return MeanBand(*np.full((3, width), np.nan))
    mean = np.mean([table.mean(axis=0) for table in tables], axis=0)
    samples = np.zeros((resamples, width))
    for table in tables:
        seeds = len(table)
        shares = rng.multinomial(seeds, np.full(seeds, 1 / seeds), size=resamples) / seeds
        samples += shares @ table / len(tables)
    low, high = np.quantile(samples, ENDS, axis=0)
    return MeanBand(mean, low, high)
