"""Benchmarks that look up measured evaluations."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nasbed.benchmarks.base import Benchmark
from nasbed.benchmarks.best_metric import best_place, objective_of
from nasbed.benchmarks.observations import Observations
from nasbed.benchmarks.repeat_draws import drawn_place, drawn_places
from nasbed.core.architecture import Architecture
from nasbed.core.errors import InvalidArchitecture, InvalidOption, shorten
from nasbed.core.metric import Metric
from nasbed.core.observation import Observation
from nasbed.core.status import DIVERGED, OK, STATUSES, Status
from nasbed.results.cache import CurveEpochs
from nasbed.results.cache.reader import TRAIN_TIME
from nasbed.results.store import Results
from nasbed.spaces.base import Batch, Codes

MOST_REMEMBERED = 1 << 20


class TabularBenchmark(Benchmark):
    """Every evaluation of a results table behind one query. Opened in milliseconds: the columns are memory-mapped.

    A seed selects one of the stored repeats, uniformly and independently for each architecture and fidelity. The
    observation's own ``seed`` says which one it is. Architectures are looked up in canonical form. Fidelities at which
    no evaluation has the objective are not offered. Architectures of a table by function that compute the same answer
    the same, whatever the seed.

    A table with learning curves also answers at their epochs: the objective that a training of the highest fidelity had
    reached, and its share of the training time, but no other metric. One seed selects the same training at every epoch
    of a curve and at its end. Epochs at which the table has trainings of their own are theirs.
    """

    results: Results

    def __init__(self, results: Results) -> None:
        self.results = results
        self.name = results.about.name
        self._open_columns()

    def _open_columns(self) -> None:
        """Set what is read from the memory-mapped columns, and the space."""
        results = self.results
        self.space = results.space
        self.cache = cache = results.cache()
        present = [metric for metric in results.about.metrics if metric.key in cache.values]
        self.metrics = tuple(metric for metric in present if metric.split != "test")
        self._test_metrics = tuple(metric for metric in present if metric.split == "test")
        self.objective = objective_of(self.metrics, self._test_metrics, self.name)
        self._position = {fidelity: position for position, fidelity in enumerate(cache.fidelities)}
        self._columns = [(metric, _flat(cache.values[metric.key])) for metric in self.metrics]
        self._cost = _flat(cache.values[TRAIN_TIME]) if TRAIN_TIME in cache.values else None
        self._seeds = _flat(cache.seeds) if cache.seeds is not None else None
        self._status = _flat(cache.status)
        self._gaps = self.objective.key in cache.gaps and self.objective in self.metrics
        self._objective = _flat(cache.values[self.objective.key])
        self._curves = self._objective_curves()
        self._points = None if self._curves is None else _flat(self._curves.values)
        self.fidelities = self._answered_fidelities() if self._gaps else cache.fidelities
        if self._curves is not None:
            self.fidelities = tuple(sorted({*self.fidelities, *self._curves.places}))
        self._trained = {fidelity: cache.training_fidelity(fidelity) for fidelity in self.fidelities}
        self._highest: dict[str, int] = {}
        self._held_masks: dict[int, NDArray[np.bool_]] = {}
        self._row_cache: dict[tuple[int, ...], tuple[int, int]] = {}

    def __getstate__(self) -> dict[str, Any]:
        """The table and its name: a copy opens the table again by its path and verifies its checksums."""
        return {"results": self.results, "name": self.name}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._open_columns()

    @classmethod
    def open(cls, folder: str | Path) -> TabularBenchmark:
        """The table in a results folder."""
        return cls(Results.open(folder))

    @property
    def fingerprint(self) -> str:
        return self.results.fingerprint

    @property
    def dataset_name(self) -> str:
        return self.results.about.dataset

    @property
    def is_one_training(self) -> bool:
        return self._curves is not None and len(self.cache.fidelities) == 1

    def _objective_curves(self) -> CurveEpochs | None:
        """The learning curves of the objective, where the table has any."""
        curves = self.cache.curve_epochs
        return curves if curves is not None and curves.metric == self.objective.key else None

    def _answered_fidelities(self) -> tuple[int, ...]:
        """The fidelities that can be queried: some evaluation has the objective, or failed or diverged."""
        answered = [fidelity for fidelity in self._position if self._answers(fidelity).any()]
        return tuple(answered) or self.cache.fidelities

    def _answers(self, fidelity: int) -> NDArray[np.bool_]:
        """Whether each row and repeat at a fidelity has the objective, or failed or diverged."""
        status = self.cache.statuses(fidelity)
        measured = ~np.isnan(self.cache.column(self.objective.key, fidelity))
        return np.asarray((status > OK) | ((status == OK) & measured) if self._gaps else status >= 0)

    def __len__(self) -> int:
        """How many architectures the table has."""
        return len(self.cache)

    def _is_held(self, fidelity: int | None = None) -> NDArray[np.bool_]:
        """Which rows have an answer at a fidelity, by default the highest."""
        budget = self._fidelity(fidelity)
        if budget not in self._held_masks:
            self._held_masks[budget] = np.asarray(self._answers(budget).any(axis=1))
        return self._held_masks[budget]

    @cached_property
    def has_times(self) -> bool:
        return self._cost is not None and bool((np.asarray(self._cost) > 0).any())

    @property
    def held_count(self) -> int:
        return len(self)

    def holds(self, arch: Architecture, *, fidelity: int | None = None) -> bool:
        row = self.cache.find(self.space.canonical(arch).code)
        return row >= 0 and bool(self._is_held(fidelity)[row])

    def held_codes(self) -> Codes:
        """The canonical codes of all architectures that it answers for at the highest fidelity."""
        codes: Codes = np.asarray(self.cache.codes)[self._is_held()].astype(np.int64)
        return codes

    def stored_rows(self) -> tuple[Results, NDArray[np.int64]]:
        return self.results, np.arange(len(self))

    # --- one ---------------------------------------------------------------------------------------------------------

    def _query(self, arch: Architecture, fidelity: int, seed: int) -> Observation:
        row, key = self._row(arch)
        cells = self._cells(row, fidelity, arch)
        return self._observation(arch, fidelity, cells[drawn_place(key, self._trained[fidelity], seed, len(cells))])

    def resume(self, arch: Architecture, *, paused: Observation, fidelity: int, seed: int) -> Observation:
        """The stored repeat at the higher fidelity that has the training seed of the earlier answer; where there is
        none, the one that a query with ``seed`` draws."""
        budget = self._fidelity(fidelity)
        if self._seeds is not None and paused.seed is not None:
            row, _ = self._row(arch)
            for cell in self._cells(row, budget, arch):
                if self._seeds[cell] == paused.seed:
                    return self._observation(arch, budget, cell)
        return self.query(arch, fidelity=budget, seed=seed)

    def drawn_repeat(self, arch: Architecture, *, fidelity: int | None = None, seed: int = 0) -> int:
        """The place, in :meth:`repeats`, of the evaluation that a query with this seed answers."""
        budget = self._fidelity(fidelity)
        row, key = self._row(arch)
        return drawn_place(key, self._trained[budget], seed, len(self._cells(row, budget, arch)))

    def repeats(self, arch: Architecture, *, fidelity: int | None = None) -> list[Observation]:
        """All stored evaluations of an architecture at one fidelity."""
        budget = self._fidelity(fidelity)
        row, _ = self._row(arch)
        return [self._observation(arch, budget, cell) for cell in self._cells(row, budget, arch)]

    def _row(self, arch: Architecture) -> tuple[int, int]:
        """The row and the key of an architecture; results of a lookup are cached."""
        if type(arch) is Architecture and arch.space == self.space.name:
            return self._row_cache.get(arch.code) or self._find(arch)
        return self._find(arch)

    def _find(self, arch: Architecture) -> tuple[int, int]:
        self.space.validate(arch)
        code = self.space.canonical(arch).code
        row = self.cache.find(code)
        if row < 0:
            raise InvalidArchitecture(
                f"{self.name} has {len(self)} architectures, {shorten(self.space.format(arch))} is not one of them; "
                "sample from benchmark.architectures(), or search the table with :listed after its id"
            )
        key = self.cache.draw_key(row, code)
        if len(self._row_cache) < MOST_REMEMBERED:
            self._row_cache[arch.code] = row, key
        return row, key

    def _cells(self, row: int, fidelity: int, arch: Architecture) -> Sequence[int]:
        """The places of an architecture's repeats. One that ended well without the objective does not count: it may be
        a row of test results merged in from another table."""
        width = self.cache.repeats
        first = (row * len(self._position) + self._position[self._trained[fidelity]]) * width
        count = width
        while count and self._status[first + count - 1] < 0:
            count -= 1
        cells: Sequence[int] = range(first, first + count)
        if self._gaps:
            cells = [
                cell for cell in cells if self._status[cell] != OK or self._objective[cell] == self._objective[cell]
            ]
        if fidelity not in self._position:
            cells = [cell for cell in cells if self._status[cell] != OK or not math.isnan(self._point(cell, fidelity))]
        if not cells:
            raise InvalidOption(
                f"{shorten(self.space.format(arch))} has no {self.objective.key} at fidelity {fidelity}; "
                f"those of {self.name} are {', '.join(map(str, self.fidelities))}"
            )
        return cells

    def _point(self, cell: int, epoch: int) -> float:
        """The objective at an epoch of the curve of a training, NaN where it has none."""
        assert self._curves is not None and self._points is not None, "only a table with curves answers at an epoch"
        row, repeat = cell // (len(self._position) * self.cache.repeats), cell % self.cache.repeats
        training = row * self.cache.repeats + repeat
        point: float = self._points[training * len(self._curves.places) + self._curves.places[epoch]]
        return point

    def _observation(self, arch: Architecture, fidelity: int, cell: int) -> Observation:
        values: dict[Metric, float] = {}
        cost: float | None = self._cost[cell] if self._cost is not None else None
        if fidelity in self._position:
            for metric, column in self._columns:
                value = column[cell]
                if value == value:
                    values[metric] = value
        else:
            if self._status[cell] == OK:
                values[self.objective] = self._point(cell, fidelity)
            cost = None if cost is None else cost * (fidelity / self._trained[fidelity])
        seed = self._seeds[cell] if self._seeds is not None else -1
        return Observation(
            arch,
            values,
            fidelity if fidelity >= 0 else None,
            None if seed < 0 else seed,
            cost if cost == cost else None,
            STATUSES[self._status[cell]],
        )

    # --- many --------------------------------------------------------------------------------------------------------

    def _query_many(self, archs: Batch, fidelity: int, seed: int) -> Observations:
        codes = self.space.codes(archs)
        rows, canonical = self._find_many(codes)
        trained = self._trained[fidelity]
        status = self.cache.statuses(fidelity)[rows]
        answers = status >= 0
        if self._gaps:
            answers &= (status != OK) | ~np.isnan(self.cache.column(self.objective.key, fidelity)[rows])
        counts = answers.sum(axis=1)
        if len(counts) and not counts.all():
            worst = int(np.argmin(counts))
            self._cells(int(rows[worst]), fidelity, self.space.architectures(codes[worst : worst + 1])[0])
        repeat = drawn_places(self.cache.draw_keys(rows, canonical), trained, seed, counts)
        if self._gaps or trained != fidelity:
            repeat = np.argsort(~answers, axis=1, kind="stable")[np.arange(len(rows)), repeat]
        return Observations(
            space=self.space.name,
            codes=codes,
            values={
                metric: self.cache.column(metric.key, fidelity)[rows, repeat].astype(np.float64)
                for metric in self.metrics
            },
            fidelity=fidelity if fidelity >= 0 else None,
            seeds=self._drawn_seeds(rows, self._position[trained], repeat),
            cost_s=self._costs(rows, fidelity, repeat),
            status=status[np.arange(len(rows)), repeat],
        )

    def _drawn_seeds(self, rows: NDArray[np.int64], position: int, repeat: NDArray[np.int64]) -> NDArray[np.int64]:
        return np.full(len(rows), -1) if self.cache.seeds is None else self.cache.seeds[rows, position, repeat]

    def _costs(self, rows: NDArray[np.int64], fidelity: int, repeat: NDArray[np.int64]) -> NDArray[np.float64]:
        if TRAIN_TIME not in self.cache.values:
            return np.full(len(rows), np.nan)
        costs: NDArray[np.float64] = self.cache.column(TRAIN_TIME, fidelity)[rows, repeat].astype(np.float64)
        return costs

    def _find_many(self, codes: Codes) -> tuple[NDArray[np.int64], Codes]:
        """The rows of a batch, and its canonical codes. Most codes are canonical already and are looked up directly."""
        rows = self.cache.find_many(codes)
        missing = np.flatnonzero(rows < 0)
        if len(missing):
            for arch in self.space.architectures(codes[missing[:64]]):
                self.space.validate(arch)
            canonical = codes.copy()
            canonical[missing] = self.space.canonical_codes(codes[missing])
            rows[missing] = self.cache.find_many(canonical[missing])
            lost = missing[rows[missing] < 0]
            if len(lost):
                self._find(self.space.architectures(codes[lost[:1]])[0])
            return rows, canonical
        return rows, codes

    def architectures(self) -> Iterator[Architecture]:
        """Every architecture of the table, in canonical form."""
        return (Architecture(self.space.name, tuple(code)) for code in self.cache.codes.tolist())

    # --- means -------------------------------------------------------------------------------------------------------

    def expected(self, arch: Architecture, *, fidelity: int | None = None) -> Observation:
        """The means over the repeats that ended well; diverged where none did."""
        budget = self._fidelity(fidelity)
        repeats = [repeat for repeat in self.repeats(arch, fidelity=budget) if repeat.status is Status.OK]
        if not repeats:
            return Observation(arch, fidelity=budget, status=Status.DIVERGED)
        values = {}
        for metric in self.metrics:
            measured = [repeat.values[metric] for repeat in repeats if metric in repeat.values]
            if measured:
                values[metric] = float(np.mean(measured))
        costs = [repeat.cost_s for repeat in repeats if repeat.cost_s is not None]
        return Observation(arch, values, fidelity=budget, cost_s=float(np.mean(costs)) if costs else None)

    def expected_many(self, archs: Batch, *, fidelity: int | None = None) -> Observations:
        """:meth:`expected` of a batch."""
        budget = self._fidelity(fidelity)
        codes = self.space.codes(archs)
        rows, _ = self._find_many(codes)
        timed = TRAIN_TIME in self.cache.values
        ended_well = (self.cache.statuses(budget)[rows] == OK).any(axis=1)
        return Observations(
            space=self.space.name,
            codes=codes,
            values={metric: self.cache.mean(metric.key, budget)[rows] for metric in self.metrics},
            fidelity=budget,
            seeds=np.full(len(rows), -1),
            cost_s=self.cache.mean(TRAIN_TIME, budget)[rows] if timed else np.full(len(rows), np.nan),
            status=np.where(ended_well, OK, DIVERGED).astype(np.int8),
        )

    # --- for evaluation only -----------------------------------------------------------------------------------------

    @property
    def test_metric(self) -> Metric | None:
        return self._test_metrics[0] if self._test_metrics else None

    @property
    def judge(self) -> Metric:
        return self.test_metric or self.objective

    def mean_test(self, archs: Batch) -> NDArray[np.float64]:
        if self.test_metric is None:
            raise InvalidOption(f"{self.name} has no test metric; merge one in with: nasbed results merge")
        rows, _ = self._find_many(self.space.codes(archs))
        return self.cache.mean(self.test_metric.key, self.highest_fidelity(self.test_metric))[rows]

    def mean_objective(self, archs: Batch) -> NDArray[np.float64]:
        rows, _ = self._find_many(self.space.codes(archs))
        return self.cache.mean(self.objective.key, self.highest_fidelity(self.objective))[rows]

    def best_answer(self, fidelities: Sequence[int]) -> float:
        return self.objective.best_of(
            [
                self.cache.column(self.objective.key, fidelity)[self.cache.statuses(fidelity) == OK]
                for fidelity in fidelities
            ]
        )

    def best_mean(self, fidelities: Sequence[int]) -> float:
        return self.objective.best_of([self.cache.mean(self.objective.key, fidelity) for fidelity in fidelities])

    def highest_fidelity(self, metric: Metric) -> int:
        """The highest fidelity at which some evaluation that ended well has a metric; the table's highest if none."""
        if metric.key not in self._highest:
            measured = (
                fidelity
                for fidelity in reversed(self.cache.fidelities)
                if not np.isnan(self.cache.mean(metric.key, fidelity)).all()
            )
            self._highest[metric.key] = next(measured, self.fidelities[-1])
        return self._highest[metric.key]

    def optimum(self) -> tuple[Architecture, float]:
        metric = self.judge
        means = self.cache.mean(metric.key, self.highest_fidelity(metric))
        best = best_place(means, metric, self.name)
        return Architecture(self.space.name, tuple(self.cache.codes[best].tolist())), float(means[best])


def as_table(benchmark: Benchmark, refusal: str) -> TabularBenchmark:
    """The benchmark if it is a whole table; otherwise raises ``InvalidOption`` with this text."""
    if not isinstance(benchmark, TabularBenchmark):
        raise InvalidOption(refusal)
    return benchmark


def _flat(column: NDArray[Any]) -> memoryview:
    """A memory-mapped array as one row of plain numbers, several times faster to read singly than through numpy."""
    flat: Any = column.reshape(-1)
    return memoryview(flat)
