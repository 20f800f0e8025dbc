"""The overview of a benchmark: a row an architecture, a column for each fact, computed when it is first used."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from threading import RLock
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from nasbed.benchmarks.base import Benchmark
from nasbed.benchmarks.tabular import TabularBenchmark
from nasbed.core.architecture import Architecture
from nasbed.core.errors import InvalidOption, UnknownName, nearest
from nasbed.core.metric import Metric
from nasbed.explorer.overview.columns import PointColumn, metric_column, packed
from nasbed.explorer.overview.cost_counter import CostCounter, cost_counter
from nasbed.explorer.overview.disk_cache import Arrays, remembered
from nasbed.explorer.overview.first_methods import first_methods
from nasbed.explorer.overview.proxy_columns import ProxyColumns
from nasbed.explorer.overview.sample import CODES, COST, FITTED, fitted_table, predicted_sample
from nasbed.explorer.values import expected_parallel
from nasbed.results.cache.reader import TRAIN_TIME
from nasbed.spaces.base import Codes
from nasbed.spaces.facts import NONE, Choices
from nasbed.spaces.lookup import Lookup

T = TypeVar("T")
Floats = NDArray[np.float64]
COSTS = {"parameters": "parameters", "multiply_adds": "multiply-adds"}
COUNT, CHOICE, PROXY, METHOD = "count:", "choice:", "proxy:", "method"
MOST_CHOICES = 64
"""A space with more choices has no column for each."""
MOST_COMPARED = 100_000
"""Rows of the largest overview in which architectures with the same function are looked for."""
SAMPLED = "sampled"
"""The method of an architecture that the explorer drew."""


class Points:
    """The rows and columns of one benchmark's overview.

    A table shows its architectures, each with its means at the highest fidelity that has them. Any other benchmark
    shows a sample of its space with the means that it expects. Row ``i`` stays the same architecture.
    """

    def __init__(self, name: str, benchmark: Benchmark) -> None:
        self.name = name
        self.benchmark = benchmark
        self.space = benchmark.space
        self._lock = RLock()
        self._cache: dict[str, Any] = {}

    def _once(self, name: str, make: Callable[[], T]) -> T:
        """What ``make`` returns, made once, also where several threads ask."""
        if name not in self._cache:
            with self._lock:
                if name not in self._cache:
                    self._cache[name] = make()
        value: T = self._cache[name]
        return value

    # --- rows --------------------------------------------------------------------------------------------------------

    @property
    def is_table(self) -> bool:
        """Whether the rows are all architectures that the benchmark holds."""
        return isinstance(self.benchmark.unwrapped, TabularBenchmark)

    @property
    def codes(self) -> Codes:
        """The canonical code of each row."""
        return self._once("codes", self._find_codes)

    def _find_codes(self) -> Codes:
        if isinstance(self.benchmark, TabularBenchmark):
            return np.asarray(self.benchmark.cache.codes).astype(np.int64)
        if self.is_table:
            return self.space.codes(list(self.benchmark.architectures()))
        return self._sample[CODES]

    @property
    def _sample(self) -> Mapping[str, NDArray[Any]]:
        return self._once("sample", lambda: predicted_sample(self.benchmark))

    @property
    def rows(self) -> int:
        return len(self.codes)

    def row_of(self, arch: Architecture) -> int | None:
        """The row of an architecture or of one isomorphic to it, if there is one."""
        row = int(self.rows_of(np.array([arch.code], dtype=np.int64))[0])
        return None if row < 0 else row

    def rows_of(self, codes: Codes) -> NDArray[np.int64]:
        """:meth:`row_of` of a batch, -1 where there is none."""
        if not len(codes):
            return np.empty(0, dtype=np.int64)
        canonical = self.space.canonical_codes(codes)
        if isinstance(self.benchmark, TabularBenchmark):
            return self.benchmark.cache.find_many(canonical)
        lookup = self._once("lookup", lambda: Lookup(self.codes))
        return lookup.find(canonical)

    def architecture(self, row: int) -> Architecture:
        """The architecture of a row."""
        if not 0 <= row < self.rows:
            raise InvalidOption(f"a row of {self.name} is 0 to {self.rows - 1}, got {row}; choose one of them")
        return Architecture(self.space.name, tuple(self.codes[row].tolist()))

    @property
    def sampled(self) -> str | None:
        """How the rows were chosen, where they are not all."""
        if self.is_table:
            return None
        fitted = int(self._sample[FITTED].sum())
        drawn = f"{self.rows - fitted} architectures drawn at random"
        return drawn + (f", and {fitted} of those that the surrogate was fitted on" if fitted else "")

    # --- columns -----------------------------------------------------------------------------------------------------

    @property
    def columns(self) -> Mapping[str, PointColumn]:
        """All columns by key, none computed yet."""
        return self._once("columns", self._describe)

    def _describe(self) -> Mapping[str, PointColumn]:
        columns = [metric_column(metric) for metric in self.metrics]
        keys = {column.key for column in columns}
        if self.benchmark.has_times:
            columns.append(PointColumn(TRAIN_TIME, "training time", "s", "cost", log=True))
        if self.costs.known:
            missing = {key: title for key, title in COSTS.items() if key not in keys}
            columns += [PointColumn(key, title, "", "cost", log=True) for key, title in missing.items()]
        columns += [PointColumn(name, name, "", "shape") for name in self.space.shape_properties]
        if self.space.operations is not None:
            names = self.space.operations.names
            columns += [PointColumn(f"{COUNT}{name}", f"number of {name}", "", "operation") for name in names]
        elif self.space.code_length <= MOST_CHOICES:
            columns += [
                PointColumn(f"{CHOICE}{name}", name.replace("_", " "), "", "choice", labels=options)
                for name, options in zip(self._choices.names, self._choices.options, strict=True)
                if len(options) < np.iinfo(np.uint8).max
            ]
        columns += [PointColumn(f"{PROXY}{name}", name, "", "proxy") for name in self._proxies.names]
        if len(self._methods[0]) > 1:
            columns.append(PointColumn(METHOD, "found by", "", "method", labels=self._methods[0]))
        return {column.key: column for column in columns}

    @property
    def metrics(self) -> tuple[Metric, ...]:
        """The metrics of queries, and the test metric."""
        test = self.benchmark.test_metric
        return self.benchmark.metrics if test is None else (*self.benchmark.metrics, test)

    @property
    def costs(self) -> CostCounter:
        """How parameters and multiply-adds are counted."""
        return self._once("costs", lambda: cost_counter(self.benchmark))

    @property
    def _choices(self) -> Choices:
        return self._once("choices", lambda: self.space.choices_of(self.codes))

    @property
    def _proxies(self) -> ProxyColumns:
        return self._once("proxies", lambda: ProxyColumns(self.name, self.benchmark))

    @property
    def _methods(self) -> tuple[tuple[str, ...], NDArray[np.uint8]]:
        """The methods that found the rows, and the number of that of each row."""
        return self._once("methods", self._find_methods)

    def _find_methods(self) -> tuple[tuple[str, ...], NDArray[np.uint8]]:
        table = self.benchmark.unwrapped if self.is_table else fitted_table(self.benchmark)
        if not isinstance(table, TabularBenchmark) or table.held_count == _size(table):
            return (), np.zeros(self.rows, dtype=np.uint8)
        if self.is_table:
            return first_methods(table.results, self.codes)
        fitted = self._sample[FITTED]
        names, numbers = first_methods(table.results, self.codes[fitted])
        column = np.full(self.rows, len(names), dtype=np.uint8)
        column[fitted] = numbers
        return (*names, SAMPLED), column

    def column(self, key: str) -> PointColumn:
        """What a column is; raises on an unknown key."""
        if key not in self.columns:
            raise UnknownName(f"{self.name} has no column {key[:80]!r}; {nearest(key[:80], self.columns)}")
        return self.columns[key]

    def values(self, key: str) -> NDArray[Any]:
        """A column, computed once. Missing values are NaN."""
        column = self.column(key)
        return self._once(f"values {key}", lambda: self._compute(column))

    def _compute(self, column: PointColumn) -> NDArray[Any]:
        metric = next((metric for metric in self.metrics if metric.key == column.key), None)
        if metric is not None:
            return self._means(metric)
        if column.key == TRAIN_TIME:
            return self._train_times()
        if column.key in COSTS:
            return self._once("counts", self._count)[column.key]
        if column.kind == "shape":
            return self._once("shapes", self._find_shapes)[column.key]
        if column.kind == "operation":
            return self._operation_counts(column.key.removeprefix(COUNT))
        if column.kind == "choice":
            place = self._choices.names.index(column.key.removeprefix(CHOICE))
            return self._choices.values[:, place].astype(np.uint8)
        if column.kind == "method":
            return self._methods[1]
        return self._proxies.scores(column.key.removeprefix(PROXY), self.codes)

    def _count(self) -> Arrays:
        """Parameters and multiply-adds of every row."""
        decides = (self.benchmark.fingerprint, "counts", repr(self.costs.skeleton), self.rows)
        return remembered(decides, lambda: dict(zip(COSTS, self.costs(self.codes).T.astype(np.float64), strict=True)))

    def _find_shapes(self) -> Arrays:
        """What the space says of the shape of every row."""

        def compute() -> Arrays:
            properties = self.space.properties(self.codes)
            return {name: properties[name].astype(np.float64) for name in self.space.shape_properties}

        return remembered((self.benchmark.fingerprint, "shapes", self.rows), compute)

    def _means(self, metric: Metric) -> Floats:
        if isinstance(self.benchmark, TabularBenchmark):
            return self.benchmark.cache.mean(metric.key, self.benchmark.highest_fidelity(metric))
        if metric == self.benchmark.test_metric:
            return self.benchmark.mean_test(self.codes)
        if not self.is_table:
            return self._sample[metric.key]
        return self._once("expected", lambda: expected_parallel(self.benchmark, self.codes)).column(metric)

    def _train_times(self) -> Floats:
        if isinstance(self.benchmark, TabularBenchmark):
            highest = self.benchmark.highest_fidelity(self.benchmark.objective)
            return self.benchmark.cache.mean(TRAIN_TIME, highest)
        if not self.is_table:
            return self._sample[COST]
        return self._once("expected", lambda: expected_parallel(self.benchmark, self.codes)).cost_s

    def _operation_counts(self, name: str) -> NDArray[np.uint8]:
        operations = self.space.operations
        assert operations is not None, "a space without operations has no such column"
        chosen = self.codes[:, list(operations.places)] == operations.names.index(name)
        if name != NONE:
            chosen &= self._once("present", lambda: self.space.operations_present(self.codes))
        counts: NDArray[np.uint8] = chosen.sum(axis=1).astype(np.uint8)
        return counts

    def proxy_scores(self, arch: Architecture) -> dict[str, float]:
        """The scores of one architecture by proxy, those that are missing left out."""
        return self._proxies.scores_of(arch)

    # --- the same network --------------------------------------------------------------------------------------------

    @property
    def hashes(self) -> NDArray[np.str_] | None:
        """The published hash of each row, in a space that has hashes."""
        empty = self.space.properties(np.empty((0, self.space.code_length), dtype=np.int64))
        if "hash" not in empty:
            return None
        return self._once("hashes", lambda: self.space.properties(self.codes)["hash"])

    def same_function(self, arch: Architecture) -> NDArray[np.int64]:
        """The rows that compute the same function as an architecture, as far as the space knows; of a large table the
        row of the architecture alone."""
        if self.rows > MOST_COMPARED:
            row = self.row_of(arch)
            return np.array([] if row is None else [row], dtype=np.int64)
        functions = self._once("functions", self._find_functions)
        return np.flatnonzero((functions == self.space.function_codes([arch])).all(axis=1))

    def _find_functions(self) -> Codes:
        """A representative of the function of every row."""
        decides = (self.benchmark.fingerprint, "functions", self.rows)
        return remembered(decides, lambda: {CODES: self.space.function_codes(self.codes)})[CODES]

    # --- ranks -------------------------------------------------------------------------------------------------------

    def rank(self, metric: Metric, value: float) -> dict[str, Any] | None:
        """The rank of a value among the rows: 1 is the best, equal values share the best rank. ``percentile`` is the
        share of rows that are worse, in percent."""
        ascending = self._once(f"rank {metric.key}", lambda: self._losses(metric))
        if not len(ascending) or value != value:
            return None
        loss = -value if metric.direction == "maximize" else value
        rank = int(np.searchsorted(ascending, loss, side="left")) + 1
        worse = len(ascending) - int(np.searchsorted(ascending, loss, side="right"))
        return {"rank": rank, "of": len(ascending), "percentile": 100 * worse / len(ascending)}

    def _losses(self, metric: Metric) -> Floats:
        values = self.values(metric.key)
        present = values[~np.isnan(values)]
        return np.sort(-present if metric.direction == "maximize" else present)

    # --- bytes -------------------------------------------------------------------------------------------------------

    def packed(self, keys: Sequence[str], rows: NDArray[np.int64] | None = None) -> bytes:
        """Columns as bytes, of all rows or of some."""
        columns = [self.column(key) for key in keys]
        arrays = [self.values(key) if rows is None else self.values(key)[rows] for key in keys]
        return packed(self.rows if rows is None else len(rows), columns, arrays)


def _size(table: TabularBenchmark) -> int:
    return table.space.size
