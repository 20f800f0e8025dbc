"""NAS-Bench-101's query interface over a nasbed table: opened in milliseconds, without TensorFlow.

It differs from the published package in four ways. The object's own generator draws repeats, so that no global seed is
set or used. A cell of more than seven vertices is outside the domain, not an internal error. The adjacency and
operations in an answer are those of the queried cell, pruned. New networks cannot be trained.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator, KeysView, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from nasbed.compat._tables import is_table, one_table, table_by_id, tables_of_file
from nasbed.compat.nasbench.lib import config
from nasbed.compat.nasbench.lib.model_spec import ModelSpec, compact
from nasbed.core.architecture import Architecture
from nasbed.core.errors import BadFile, InvalidArchitecture, InvalidOption, NasbedError, UnknownName, shorten
from nasbed.results.store import Results
from nasbed.spaces.nb101 import NB101
from nasbed.spaces.nb101.canonical import canonical
from nasbed.spaces.nb101.cell import INPUT, MAX_EDGES, OPERATIONS, OUTPUT, Compact, padded

SCHEDULES = (4, 12, 36, 108)
"""The published training lengths, in epochs. The table has each one's half-way point as a fidelity of its own."""

MEASURED = {
    "training_time": "train_time_s",
    "train_accuracy": "train_accuracy",
    "validation_accuracy": "validation_accuracy",
    "test_accuracy": "test_accuracy",
}
"""The names of the table's columns in an answer."""

_OF_COLUMNS = (
    *("_cache", "_columns", "_parameters", "_status", "_row_cache"),
    *("_rows", "fixed_statistics", "computed_statistics"),
)
"""The attributes of a :class:`NASBench` that hold columns, or are computed from them."""

REQUIRED = ("train_time_s", "validation_accuracy", "test_accuracy")
"""The columns that a table must have. Where it has no training accuracy, that is NaN in an answer."""

Fixed = dict[str, Any]
Computed = dict[int, list[dict[str, float]]]


class OutOfDomainError(NasbedError, ValueError):
    """A cell outside the space or the table, or a number of epochs that the table does not have."""


class NASBench:
    """The table behind the published methods.

    ``dataset_file`` is a results folder, a table's id, or a published ``.tfrecord`` file, which is read into a table
    the first time. ``seed`` fixes which repeats are drawn. Accuracies are fractions; a repeat that diverged has NaN
    accuracies. A table with other budgets than the published ones offers every one of them.
    """

    def __init__(self, dataset_file: str | Path, seed: int | None = None) -> None:
        self._results = _open(dataset_file)
        self.name = self._results.about.name
        self.config = config.build_config()
        self.history: dict[Any, Any] = {}
        self._space = NB101()
        self._random = random.Random(seed)
        self._open_columns()
        self.config["num_repeats"] = self._cache.repeats
        self.reset_budget_counters()

    def _open_columns(self) -> None:
        """Set what is read from the table; raises unless it has the columns of a nasbench table."""
        self._cache = self._results.cache()
        self.valid_epochs = _schedules(self._cache.fidelities)
        values = self._cache.values
        if any(key not in values for key in REQUIRED) or not self.valid_epochs:
            raise BadFile(
                f"a nasbench table has {', '.join(REQUIRED)} after some number of epochs; {self.name} has "
                f"{', '.join(values)} at {', '.join(map(str, self._cache.fidelities))}; use nasbed.load"
            )
        self._position = {fidelity: position for position, fidelity in enumerate(self._cache.fidelities)}
        self._columns = {name: np.asarray(values[key]) for name, key in MEASURED.items() if key in values}
        self._percent = {metric.key for metric in self._results.about.metrics if metric.bounds == (0, 100)}
        self._parameters = np.asarray(values["parameters"]) if "parameters" in values else None
        self._status = np.asarray(self._cache.status)
        self._row_cache: dict[Compact, int] = {}

    def __getstate__(self) -> dict[str, Any]:
        """Everything except the columns: a copy reopens the table and then draws the same repeats."""
        return {name: value for name, value in vars(self).items() if name not in _OF_COLUMNS}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._open_columns()

    # --- for benchmarking --------------------------------------------------------------------------------------------

    def query(self, model_spec: ModelSpec, epochs: int = 108, stop_halfway: bool = False) -> dict[str, Any]:
        """One stored training, drawn uniformly from the cell's repeats; its time and epochs go on the counters.

        With ``stop_halfway`` it is the state in the middle of the schedule, and half the epochs are counted.
        """
        if epochs not in self.valid_epochs:
            raise OutOfDomainError(
                f"{self.name} has trainings of {', '.join(map(str, sorted(self.valid_epochs)))} epochs, got "
                f"{epochs!r}; choose one of them"
            )
        row = self._row(model_spec)
        trained = epochs // 2 if stop_halfway else epochs
        count = self._count(row, trained)
        if not count:
            raise OutOfDomainError(f"{self.name} has no result of this cell after {trained} of {epochs} epochs")
        repeat = self._random.randint(0, count - 1)
        data = {**self._fixed_of_spec(model_spec, row), **self._measurements(row, trained, repeat)}
        self.training_time_spent += data["training_time"]
        self.total_epochs_spent += trained
        return data

    def is_valid(self, model_spec: ModelSpec) -> bool:
        """Whether :meth:`query` knows the cell: it is in the space, and in the table."""
        try:
            self._check_spec(model_spec)
        except OutOfDomainError:
            return False
        return True

    def get_budget_counters(self) -> tuple[float, int]:
        """The seconds and epochs of all queries since the last reset."""
        return self.training_time_spent, self.total_epochs_spent

    def reset_budget_counters(self) -> None:
        self.training_time_spent = 0.0
        self.total_epochs_spent = 0

    def evaluate(self, model_spec: ModelSpec, model_dir: str) -> NoReturn:
        raise InvalidOption("this drop-in answers from a table and does not train; query a cell that is_valid instead")

    # --- for analysis ------------------------------------------------------------------------------------------------

    def get_metrics_from_spec(self, model_spec: ModelSpec) -> tuple[Fixed, Computed]:
        """The statistics that do not depend on training, and every repeat of every schedule. The counters do not
        change."""
        row = self._row(model_spec)
        return self._fixed_of_spec(model_spec, row), self._computed_statistics(row)

    def get_metrics_from_hash(self, module_hash: str) -> tuple[Fixed, Computed]:
        """The same by module hash, with the published representative's adjacency and operations."""
        return self.fixed_statistics[module_hash], self.computed_statistics[module_hash]

    def hash_iterator(self) -> KeysView[str]:
        """The module hashes of all cells, in the order of the published file that the table was read from, which
        scripts number cells by. Computed on first use: seconds for the whole space."""
        return self._rows.keys()

    @cached_property
    def fixed_statistics(self) -> Mapping[str, Fixed]:
        return _ByHash(self._rows, self._fixed_statistics)

    @cached_property
    def computed_statistics(self) -> Mapping[str, Computed]:
        return _ByHash(self._rows, self._computed_statistics)

    @cached_property
    def _rows(self) -> dict[str, int]:
        codes = self._results.architecture_codes()
        rows = self._cache.find_many(codes)
        other = rows < 0
        if other.any():
            rows[other] = self._cache.find_many(self._space.canonical_codes(codes[other]))
        hashes = self._space.hashes(np.asarray(self._cache.codes))[rows]
        return dict(zip(hashes.tolist(), rows.tolist(), strict=True))

    # --- the table ---------------------------------------------------------------------------------------------------

    def _check_spec(self, model_spec: ModelSpec) -> None:
        self._row(model_spec)

    def _hash_spec(self, model_spec: ModelSpec) -> str:
        return model_spec.hash_spec(OPERATIONS)

    def _row(self, model_spec: ModelSpec) -> int:
        """The row of a cell; raises with the reason if the table lacks it."""
        try:
            cell = compact(model_spec, OPERATIONS)
        except InvalidArchitecture as error:
            raise OutOfDomainError(str(error)) from None
        if model_spec.ops is None or model_spec.ops[0] != INPUT or model_spec.ops[-1] != OUTPUT:
            raise OutOfDomainError(f"a cell's operations start with input and end with output, got {model_spec.ops}")
        row = self._row_cache.get(cell)
        if row is None:
            if cell.edges.bit_count() > MAX_EDGES:
                raise OutOfDomainError(
                    f"a cell has at most {MAX_EDGES} edges after pruning, got {cell.edges.bit_count()}; remove some"
                )
            row = self._cache.find(padded(canonical(cell)))
            if row < 0:
                raise OutOfDomainError(
                    f"{self.name} has {len(self._cache)} cells, {shorten(model_spec)} is not one of them"
                )
            self._row_cache[cell] = row
        return row

    def _count(self, row: int, fidelity: int) -> int:
        """The number of repeats of a cell at a fidelity."""
        if fidelity not in self._position:
            return 0
        return int((self._status[row, self._position[fidelity]] >= 0).sum())

    def _measurements(self, row: int, fidelity: int, repeat: int, prefix: str = "") -> dict[str, float]:
        place = row, self._position[fidelity], repeat
        measured = {}
        for name, key in MEASURED.items():
            value = float(self._columns[name][place]) if name in self._columns else math.nan
            measured[prefix + name] = value / 100 if key in self._percent else value
        return measured

    def _fixed_of_spec(self, model_spec: ModelSpec, row: int) -> Fixed:
        assert model_spec.matrix is not None and model_spec.ops is not None
        return {
            "module_adjacency": model_spec.matrix.copy(),
            "module_operations": list(model_spec.ops),
            "trainable_parameters": self._trainable_parameters(row),
        }

    def _fixed_statistics(self, row: int) -> Fixed:
        matrix, ops = self._space.to_native(self._architecture(row))
        return {
            "module_adjacency": matrix.astype(np.int8),
            "module_operations": ops,
            "trainable_parameters": self._trainable_parameters(row),
        }

    def _trainable_parameters(self, row: int) -> int:
        """The number of parameters from the table, or else the count of the canonical cell, which equals the published
        one."""
        if self._parameters is not None:
            count = float(self._parameters[row, -1, 0])
            if count == count:
                return int(count)
        return int(self._space.parameters([self._architecture(row)])[0])

    def _architecture(self, row: int) -> Architecture:
        return Architecture(self._space.name, tuple(self._cache.codes[row].tolist()))

    def _computed_statistics(self, row: int) -> Computed:
        computed: Computed = {}
        for epochs in sorted(self.valid_epochs):
            count, halves = self._count(row, epochs), self._count(row, epochs // 2)
            if halves not in (0, count):
                raise BadFile(f"{self.name} has {halves} half-way results for {count} trainings of {epochs} epochs")
            computed[epochs] = [
                (self._measurements(row, epochs // 2, repeat, "halfway_") if halves else {})
                | self._measurements(row, epochs, repeat, "final_")
                for repeat in range(count)
            ]
        return computed


class _ByHash(Mapping[str, Any]):
    """Statistics by module hash, each computed on access."""

    def __init__(self, rows: dict[str, int], make: Callable[[int], Any]) -> None:
        self._rows = rows
        self._make = make

    def __getitem__(self, module_hash: str) -> Any:
        if module_hash not in self._rows:
            raise UnknownName(f"no cell of this table has the hash {shorten(module_hash)}; see hash_iterator")
        return self._make(self._rows[module_hash])

    def __iter__(self) -> Iterator[str]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)


def _schedules(fidelities: tuple[int, ...]) -> set[int]:
    """The training lengths of a table: the published ones, without their half-way points, or all that it has."""
    halves = {epochs // 2 for epochs in SCHEDULES}
    if halves.union(SCHEDULES).issuperset(fidelities):
        return set(SCHEDULES).intersection(fidelities)
    return {epochs for epochs in fidelities if epochs > 0}


def _open(dataset_file: str | Path) -> Results:
    path = Path(dataset_file).expanduser()
    if is_table(path):
        results = Results.open(path)
    elif path.is_file() or path.suffix == ".tfrecord":
        results = one_table(tables_of_file(path, "nb101"), path)
    else:
        results = table_by_id(str(dataset_file))
    if results.about.space != "nb101":
        raise BadFile(f"nasbench needs a table of the space nb101, {results.about.name} is of {results.about.space}")
    return results


__all__ = ["ModelSpec", "NASBench", "OutOfDomainError"]
