"""The overview of a benchmark: a row an architecture, and columns of what is known of each, computed when first used."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from threading import RLock
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from nasbed.benchmarks.base import Benchmark
from nasbed.benchmarks.tabular import TabularBenchmark
from nasbed.core.architecture import Architecture
from nasbed.core.errors import InvalidOption, UnknownName, nearest
from nasbed.core.metric import Metric
from nasbed.explorer.sampling import sampled_codes
from nasbed.proxies.table import embedded_scores, open_scores
from nasbed.spaces.base import Codes
from nasbed.spaces.lookup import Lookup

Floats = NDArray[np.float64]
Kind = Literal["metric", "cost", "shape", "operation", "choice", "proxy", "method"]
TRAIN_TIME = "train_time_s"
COSTS = {"parameters": "parameters", "multiply_adds": "multiply-adds"}


@dataclass(frozen=True, slots=True)
class Column:
    """What a column is. ``log`` says whether its values span so much that a logarithmic axis shows them better."""

    key: str
    title: str
    unit: str
    kind: Kind
    log: bool = False
    labels: tuple[str, ...] = ()
    """The texts that the values number, of a column of names."""

    def facts(self) -> dict[str, Any]:
        return {"key": self.key, "title": self.title, "unit": self.unit, "kind": self.kind, "log": self.log}


class Points:
    """The rows and columns of one benchmark's overview.

    A table shows its architectures, each with its means at the highest fidelity. Any other benchmark shows a sample of
    its space with the means that it expects. Row ``i`` stays the same architecture.
    """

    def __init__(self, name: str, benchmark: Benchmark) -> None:
        self.name = name
        self.benchmark = benchmark
        self.space = benchmark.space
        self._lock = RLock()
        self._values: dict[str, NDArray[Any]] = {}
        self._ranks: dict[str, Floats] = {}

    # --- rows --------------------------------------------------------------------------------------------------------

    @property
    def is_table(self) -> bool:
        """Whether the rows are all architectures that the benchmark holds."""
        return isinstance(self.benchmark.unwrapped, TabularBenchmark)

    @cached_property
    def codes(self) -> Codes:
        """The canonical code of each row."""
        with self._lock:
            if self.is_table:
                results, rows = self.benchmark.stored_rows()
                return np.asarray(results.cache().codes)[rows].astype(np.int64)
            return sampled_codes(self.benchmark)

    @property
    def rows(self) -> int:
        return len(self.codes)

    @cached_property
    def _lookup(self) -> Lookup:
        return Lookup(self.codes)

    def row_of(self, arch: Architecture) -> int | None:
        """The row of an architecture or of one isomorphic to it, if there is one."""
        row = int(self.rows_of(np.array([arch.code], dtype=np.int64))[0])
        return None if row < 0 else row

    def rows_of(self, codes: Codes) -> NDArray[np.int64]:
        """:meth:`row_of` of a batch, -1 where there is none."""
        return self._lookup.find(self.space.canonical_codes(codes))

    def architecture(self, row: int) -> Architecture:
        """The architecture of a row."""
        if not 0 <= row < self.rows:
            raise InvalidOption(f"a row of {self.name} is 0 to {self.rows - 1}, got {row}")
        return Architecture(self.space.name, tuple(self.codes[row].tolist()))

    @property
    def sampled(self) -> str | None:
        """How the rows were chosen, where they are not all."""
        if self.is_table:
            return None
        return f"{self.rows} architectures drawn at random from the space, with the means that the benchmark expects"

    # --- columns -----------------------------------------------------------------------------------------------------

    @cached_property
    def columns(self) -> Mapping[str, Column]:
        """All columns by key, none computed yet."""
        columns = [self._metric_column(metric) for metric in self.metrics]
        keys = {column.key for column in columns}
        if self.benchmark.has_times:
            columns.append(Column(TRAIN_TIME, "training time", "s", "cost", log=True))
        counted = self.space.properties(np.empty((0, self.space.code_length), dtype=np.int64))
        columns += [
            Column(key, title, "", "cost", log=True)
            for key, title in COSTS.items()
            if key in counted and key not in keys
        ]
        columns += [Column(name, name, "", "shape") for name in self.space.shape_properties]
        if self.space.operations is not None:
            names = self.space.operations.names
            columns += [Column(f"count:{name}", f"number of {name}", "", "operation") for name in names]
        columns += [Column(f"proxy:{name}", name, "", "proxy") for name in self._scores]
        return {column.key: column for column in columns}

    @property
    def metrics(self) -> tuple[Metric, ...]:
        """The metrics of queries, and the test metric."""
        test = self.benchmark.test_metric
        return self.benchmark.metrics if test is None else (*self.benchmark.metrics, test)

    def _metric_column(self, metric: Metric) -> Column:
        kind: Kind = "cost" if metric.split is None else "metric"
        return Column(metric.key, metric_title(metric), metric.unit, kind, log=metric.split is None)

    def values(self, key: str) -> NDArray[Any]:
        """A column, computed once. Missing values are NaN."""
        if key not in self.columns:
            raise UnknownName(f"{self.name} has no column {key[:80]!r}; {nearest(key[:80], self.columns)}")
        with self._lock:
            if key not in self._values:
                self._values[key] = self._compute(self.columns[key])
            return self._values[key]

    def _compute(self, column: Column) -> NDArray[Any]:
        if column.kind == "operation":
            return self._operation_count(column.key.removeprefix("count:"))
        if column.kind == "proxy":
            return self._scores[column.key.removeprefix("proxy:")]()
        if column.kind == "shape":
            return self.space.properties(self.codes)[column.key].astype(np.float64)
        metric = next((metric for metric in self.metrics if metric.key == column.key), None)
        if metric is None and column.key in COSTS:
            return self.space.costs(self.codes)[:, list(COSTS).index(column.key)].astype(np.float64)
        if metric is not None and metric == self.benchmark.test_metric:
            return self.benchmark.mean_test(self.codes)
        expected = self._expected
        return expected.cost_s if metric is None else expected.column(metric)

    @cached_property
    def _expected(self) -> Any:
        return self.benchmark.expected_many(self.codes)

    def _operation_count(self, name: str) -> NDArray[np.uint8]:
        operations = self.space.operations
        assert operations is not None, "a space without operations has no such column"
        codes = self.codes[:, list(operations.places)]
        counts = (codes == operations.names.index(name)) & self._present
        return counts.sum(axis=1).astype(np.uint8)

    @cached_property
    def _present(self) -> NDArray[np.bool_]:
        """Which operations count: those that pruning leaves, and none where it is an operation to choose."""
        operations = self.space.operations
        assert operations is not None, "a space without operations has no such column"
        present = self.space.operations_present(self.codes)
        if "none" in operations.names:
            present |= self.codes[:, list(operations.places)] == operations.names.index("none")
        return present

    @cached_property
    def _scores(self) -> Mapping[str, Callable[[], Floats]]:
        """The embedded scores of the table's architectures, by proxy."""
        if self.name not in embedded_scores():
            return {}
        table = open_scores(self.name)
        rows = self.rows_of(table.codes)

        def score(proxy: str) -> Floats:
            column = np.full(self.rows, np.nan)
            column[rows[rows >= 0]] = table.mean(proxy)[rows >= 0]
            return column

        return {proxy: (lambda proxy=proxy: score(proxy)) for proxy in table.proxies}

    # --- ranks -------------------------------------------------------------------------------------------------------

    def ranked(self, key: str) -> Floats:
        """The values of a metric, best first, those that are missing left out."""
        with self._lock:
            if key not in self._ranks:
                metric = next(metric for metric in self.metrics if metric.key == key)
                values = np.asarray(self.values(key), dtype=np.float64)
                present = np.sort(values[~np.isnan(values)])
                self._ranks[key] = -present[::-1] if metric.direction == "maximize" else present
            return self._ranks[key]

    def rank(self, metric: Metric, value: float) -> dict[str, float | int] | None:
        """The rank of a value among the rows: 1 is the best, equal values share the best rank."""
        ranked = self.ranked(metric.key)
        if not len(ranked) or value != value:
            return None
        signed = -value if metric.direction == "maximize" else value
        rank = int(np.searchsorted(ranked, signed, side="left")) + 1
        worse = len(ranked) - int(np.searchsorted(ranked, signed, side="right"))
        return {"rank": rank, "of": len(ranked), "percentile": round(100 * worse / len(ranked), 2)}

    # --- bytes -------------------------------------------------------------------------------------------------------

    def packed(self, keys: Sequence[str]) -> bytes:
        """Columns as bytes: the length of a JSON header, the header, then each column, all padded to four bytes."""
        arrays = [_as_stored(self.values(key)) for key in keys]
        described = []
        for key, array in zip(keys, arrays, strict=True):
            entry: dict[str, Any] = {"key": key, "type": f"{array.dtype.kind}{array.dtype.itemsize}"}
            if labels := self.columns[key].labels:
                entry["labels"] = list(labels)
            described.append(entry)
        header = json.dumps({"rows": self.rows, "columns": described}).encode()
        parts = [len(header).to_bytes(4, "little"), _padded(header, b" ")]
        parts[0] = len(parts[1]).to_bytes(4, "little")
        return b"".join([*parts, *(_padded(array.tobytes(), b"\0") for array in arrays)])


def _as_stored(values: NDArray[Any]) -> NDArray[Any]:
    """An array in the type in which it is sent."""
    return values.astype("<f4") if values.dtype.kind == "f" else values.astype(values.dtype.newbyteorder("<"))


def _padded(data: bytes, filler: bytes) -> bytes:
    return data + filler * (-len(data) % 4)


def metric_title(metric: Metric) -> str:
    """A metric in words: "validation accuracy"."""
    return metric.key.replace("_", " ")
