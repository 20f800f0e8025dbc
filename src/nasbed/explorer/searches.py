"""Searches as paths over the overview: folders of runs, and the searches that a table recorded."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np

from nasbed.benchmarks.tabular import TabularBenchmark
from nasbed.core.errors import InvalidOption, NasbedError, UnknownName, nearest
from nasbed.core.metric import Metric
from nasbed.evaluation.trajectories import incumbent_index
from nasbed.experiments.recorded_runs import recorded_runs
from nasbed.experiments.runs import Run, Runs, load_runs, load_setup, run_files
from nasbed.explorer.catalogue import BenchmarkView, Catalogue

RECORDED = "recorded: "
"""Before the id of a table: the searches that were run for real to collect it."""


class Searches:
    """The folders of runs that were named on the command line, and the tables with recorded searches. A folder is
    called by its last part; of two with the same one the second has its whole path."""

    def __init__(self, catalogue: Catalogue, folders: Iterable[Path] = ()) -> None:
        self._catalogue = catalogue
        self._folders: dict[str, Path] = {}
        for folder in folders:
            load_setup(folder)  # raises where it holds no runs
            name = folder.resolve().name
            self._folders[name if name not in self._folders else str(folder)] = folder
        self._paths: dict[str, dict[str, Any]] = {}
        self._recorded: dict[str, BenchmarkView] | None = None
        self._lock = Lock()

    def listed(self) -> dict[str, Any]:
        """Every set of runs that can be shown."""
        folders = []
        for name, folder in self._folders.items():
            setup = load_setup(folder)
            files = list(run_files(folder))
            folders.append(
                {
                    "name": name,
                    "benchmark": setup.benchmark,
                    "shown": setup.benchmark in self._catalogue.ids,
                    "methods": list(setup.methods),
                    "runs": len(files),
                    "budget": setup.budget,
                    "recorded": False,
                }
            )
        for name, view in self._recorded_tables().items():
            searches = view.benchmark.results.searches() if view.benchmark.results is not None else None
            pairs = [] if searches is None else [(method, number) for method, number, _ in searches.each()]
            folders.append(
                {
                    "name": name,
                    "benchmark": view.id,
                    "shown": True,
                    "methods": list(dict.fromkeys(method for method, _ in pairs)),
                    "runs": len(pairs),
                    "budget": "",
                    "recorded": True,
                }
            )
        return {"folders": folders}

    def paths(self, name: str) -> dict[str, Any]:
        """The runs of a set as paths, read once."""
        with self._lock:
            if name not in self._paths:
                self._paths[name] = self._read(name)
            return self._paths[name]

    def _read(self, name: str) -> dict[str, Any]:
        recorded = self._recorded_tables()
        if name in recorded:
            view = recorded[name]
            assert view.benchmark.results is not None, "a recorded table is one"
            runs = recorded_runs(view.benchmark.results)
            methods = list(dict.fromkeys(run.method for run in runs))
            return {"folder": name, **_paths(view, runs, methods, view.benchmark.objective)}
        if name not in self._folders:
            known = {**self._folders, **recorded}
            raise UnknownName(f"no folder of runs is called {name[:80]!r} here; {nearest(name[:80], known)}")
        stored: Runs = load_runs(self._folders[name])
        if stored.setup.benchmark not in self._catalogue.ids:
            raise InvalidOption(
                f"{name} has runs on {stored.setup.benchmark}, which this explorer does not show; start it with: "
                f"nasbed explore {stored.setup.benchmark} --runs {self._folders[name]}"
            )
        view = self._catalogue.open(stored.setup.benchmark)
        return {"folder": name, **_paths(view, list(stored.runs), stored.methods, stored.setup.objective)}

    def _recorded_tables(self) -> Mapping[str, BenchmarkView]:
        """The tables that recorded searches, by the name of their set."""
        if self._recorded is None:
            recorded = {}
            for name in self._catalogue.tables():
                try:
                    view = self._catalogue.open(name)
                except NasbedError:
                    continue
                table = view.benchmark
                if isinstance(table, TabularBenchmark) and table.results.searches() is not None:
                    recorded[f"{RECORDED}{view.id}"] = view
            self._recorded = recorded
        return self._recorded


def _paths(view: BenchmarkView, runs: list[Run], methods: list[str], objective: Metric) -> dict[str, Any]:
    """Runs column by column. Architectures are listed once; a run has their numbers, -1 for a proposal that is none."""
    space = view.benchmark.space
    every = np.concatenate([run.codes for run in runs]) if runs else np.empty((0, space.code_length), dtype=np.int64)
    different, numbers = np.unique(every, axis=0, return_inverse=True)
    inside = (different >= 0).any(axis=1)
    place = np.where(inside, np.cumsum(inside) - 1, -1)[numbers.ravel()]
    codes = different[inside]
    rows = view.points.rows_of(codes)
    ends = np.cumsum([len(run) for run in runs])
    return {
        "benchmark": view.id,
        "objective": objective.key,
        "maximise": objective.direction == "maximize",
        "methods": methods,
        "architectures": space.texts(codes) if len(codes) else [],
        "rows": [None if row < 0 else row for row in rows.tolist()],
        "runs": [
            _run_columns(run, place[end - len(run) : end], objective) for run, end in zip(runs, ends, strict=True)
        ],
    }


def _run_columns(run: Run, architecture: Any, objective: Metric) -> dict[str, Any]:
    leader = incumbent_index(run.value, objective.direction, fidelity=run.fidelity)
    return {
        "method": run.method,
        "seed": run.seed,
        "architecture": architecture,
        "value": run.value,
        "time_s": run.end_s,
        "fidelity": run.fidelity,
        "incumbent": leader == np.arange(len(run)),
    }


def searched_benchmark(folders: Iterable[Path]) -> str | None:
    """The benchmark of the first folder of runs; None without folders."""
    first = next(iter(folders), None)
    return None if first is None else load_setup(first).benchmark
