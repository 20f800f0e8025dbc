"""A benchmark's table as plain arrays, with the test metrics that a search never sees."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nasbed.benchmarks import Benchmark
from nasbed.core.errors import InvalidOption, UnknownName, nearest
from nasbed.core.metric import Metric
from nasbed.core.status import OK
from nasbed.spaces import SearchSpace
from nasbed.spaces.base import Codes
from nasbed.surrogates.examples import TRAIN_TIME

TIME = TRAIN_TIME


@dataclass(frozen=True, slots=True)
class Table:
    """Arrays ``[architecture, fidelity, repeat]`` by metric, NaN for missing, diverged and failed evaluations."""

    name: str
    space: SearchSpace
    codes: Codes
    fidelities: tuple[int, ...]
    fidelity_unit: str
    objective: Metric
    metrics: tuple[Metric, ...]
    values: Mapping[str, NDArray[np.float64]]

    def __len__(self) -> int:
        return len(self.codes)

    def metric(self, key: str) -> Metric:
        """The metric with that key."""
        for metric in self.metrics:
            if metric.key == key:
                return metric
        keys = [metric.key for metric in self.metrics]
        raise UnknownName(f"{self.name} has no metric {key!r}; {nearest(key, keys)}")

    def mean(self, metric: Metric, position: int = -1) -> NDArray[np.float64]:
        """Each architecture's mean over its repeats at the fidelity in that position, NaN where it has none."""
        values = self.values[metric.key][:, position]
        with np.errstate(invalid="ignore", divide="ignore"):
            means: NDArray[np.float64] = np.nansum(values, axis=1) / (~np.isnan(values)).sum(axis=1)
        return means

    def time_s(self) -> NDArray[np.float64] | None:
        """Each architecture's mean training time at the highest fidelity, if times were recorded."""
        return self.mean(TIME) if TIME.key in self.values else None

    def measured(self, metric: Metric) -> int:
        """The highest position of a fidelity at which the metric has any value."""
        positions = np.flatnonzero((~np.isnan(self.values[metric.key])).any(axis=(0, 2)))
        if not len(positions):
            raise InvalidOption(f"{self.name} has no value of {metric.key}; choose another metric")
        return int(positions[-1])


def table_of(benchmark: Benchmark) -> Table:
    """The table behind a benchmark, or the part of it that the benchmark answers for."""
    results, rows = benchmark.stored_rows()
    cache, info = results.cache(), results.about
    succeeded = cache.status[rows] == OK
    return Table(
        benchmark.name,
        results.space,
        np.asarray(cache.codes)[rows],
        cache.fidelities,
        info.fidelity_unit,
        benchmark.objective,
        tuple(metric for metric in info.metrics if metric.key in cache.values),
        {key: np.where(succeeded, column[rows], np.nan).astype(np.float64) for key, column in cache.values.items()},
    )
