"""What scores of zero-cost proxies are compared with: the architectures of a score file that a table has measured."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from nasbed.core.errors import InvalidOption, UnknownName, nearest, shorten
from nasbed.core.metric import Metric
from nasbed.core.status import OK
from nasbed.spaces.base import Codes

if TYPE_CHECKING:
    from nasbed.benchmarks import TabularBenchmark
    from nasbed.proxies.table import ScoreTable

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class RankedTask:
    """The same architectures with their true values and their scores, higher being better in both.

    The truth is a metric's mean over repeated trainings, negated where the metric is to be minimised. An architecture
    that was scored under two codes which the space takes for one appears twice.
    """

    name: str
    metric: Metric
    space: str
    codes: Codes  # [n, code_length], as they were scored
    truth: Floats  # [n]
    scores: Mapping[str, Floats]  # by proxy, [n, seeds], NaN where there is none
    seconds: Mapping[str, float] = field(default_factory=dict)
    """By proxy, the median time of one network; NaN where that is not known."""
    repeats: Floats | None = None  # [n, trainings], with the sign of the truth, NaN where there is none
    """None where no architecture was trained twice."""
    left_out: int = 0
    """How many scored architectures the table lacks, or has without this metric."""

    def __post_init__(self) -> None:
        if not self.scores:
            raise InvalidOption(f"a task needs the scores of at least 1 proxy, {self.name} has none")
        for name, column in self.scores.items():
            if column.ndim != 2 or len(column) != len(self.truth) or not column.shape[1]:
                raise InvalidOption(
                    f"scores are [architectures, seeds] of {len(self.truth)} architectures, {name} has {column.shape}"
                )
        if len(self.codes) != len(self.truth) or not np.isfinite(self.truth).all():
            raise InvalidOption(f"every architecture of {self.name} has a code and a true value; leave the others out")

    def __len__(self) -> int:
        """How many architectures there are."""
        return len(self.truth)

    @property
    def proxies(self) -> tuple[str, ...]:
        return tuple(self.scores)


def task_of(table: ScoreTable, benchmark: TabularBenchmark, *, metric: str | None = None, name: str = "") -> RankedTask:
    """The scored architectures that a table has, with its test metric at its highest fidelity as the truth; where it
    has none, the validation metric that a search would see. ``metric`` names another by its key."""
    if table.about.space != benchmark.space.name:
        raise InvalidOption(
            f"scores and table are of one space, got {table.about.space} and {benchmark.space.name} of "
            f"{benchmark.name}; give the scores of its architectures"
        )
    true_metric = _metric(benchmark, metric)
    sign = 1.0 if true_metric.direction == "maximize" else -1.0
    fidelity = benchmark.highest_fidelity(true_metric)
    rows = _rows(benchmark, table.codes)
    means = sign * benchmark.cache.mean(true_metric.key, fidelity)
    scored = np.flatnonzero(rows >= 0)
    scored = scored[np.isfinite(means[rows[scored]])]
    if not len(scored):
        raise InvalidOption(
            f"scores and table have architectures in common, none of the {len(table)} scored has a "
            f"{true_metric.key} in "
            f"{benchmark.name}; give the scores of its architectures, or name another metric"
        )
    table_rows = rows[scored]
    return RankedTask(
        name or benchmark.name,
        true_metric,
        table.about.space,
        table.codes[scored],
        means[table_rows],
        {proxy: column[scored] for proxy, column in table.values.items()},
        {proxy: _median(table.seconds.get(proxy)) for proxy in table.values},
        _repeats(benchmark, true_metric, sign, table_rows),
        len(table) - len(scored),
    )


def _metric(benchmark: TabularBenchmark, key: str | None) -> Metric:
    if key is None:
        return benchmark.test_metric or benchmark.objective
    present = {item.key: item for item in benchmark.results.about.metrics if item.key in benchmark.cache.values}
    if key not in present:
        raise UnknownName(f"{benchmark.name} has no metric {shorten(key)}; {nearest(key, present)}")
    return present[key]


def _rows(benchmark: TabularBenchmark, codes: Codes) -> NDArray[np.int64]:
    """Where the table has each architecture, in canonical form or as it is; -1 where it does not."""
    rows = benchmark.cache.find_many(codes)
    missing = np.flatnonzero(rows < 0)
    if len(missing):
        rows[missing] = benchmark.cache.find_many(benchmark.space.canonical_codes(codes[missing]))
    return rows


def _repeats(benchmark: TabularBenchmark, metric: Metric, sign: float, rows: NDArray[np.int64]) -> Floats | None:
    position = benchmark.cache.fidelities.index(benchmark.highest_fidelity(metric))
    ended_well = benchmark.cache.status[rows, position] == OK
    values = np.where(ended_well, benchmark.cache.values[metric.key][rows, position], np.nan).astype(np.float64)
    return sign * values if (np.isfinite(values).sum(axis=1) > 1).any() else None


def _median(seconds: Floats | None) -> float:
    finite = np.array([]) if seconds is None else seconds[np.isfinite(seconds)]
    return float(np.median(finite)) if len(finite) else float("nan")
