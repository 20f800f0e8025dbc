"""Many methods, many seeds, one benchmark."""

from __future__ import annotations

import importlib.util
import platform
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

import nasbed
from nasbed.benchmarks.base import Benchmark
from nasbed.benchmarks.catalog import load
from nasbed.core.errors import BadFile, InvalidOption
from nasbed.experiments.engines import Engine, LocalEngine
from nasbed.experiments.runs import Run, Runs, Setup, load_run, load_runs, load_setup, save_run, save_setup
from nasbed.experiments.simulate import Budget, problem_of, simulate
from nasbed.optimizers import OPTIMIZERS, Optimizer


@dataclass(frozen=True, slots=True)
class Task:
    """One run: a method with its settings, a seed, a benchmark by name."""

    benchmark: str
    method: str
    seed: int
    budget: Budget
    workers: int
    settings: Mapping[str, Any] = field(default_factory=dict)
    charge_thinking: bool = False


def optimizer_class(name: str) -> type[Optimizer]:
    """A registered method by its id, or a user's own class as ``path/to/file.py:ClassName``."""
    file, colon, attribute = name.rpartition(":")
    if not colon or not file.endswith(".py"):
        return OPTIMIZERS.get(name)
    spec = importlib.util.spec_from_file_location(Path(file).stem, file)
    if spec is None or spec.loader is None or not Path(file).is_file():
        raise InvalidOption(f"a method of your own is given as file.py:ClassName, {file} is no file; check the path")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    found = getattr(module, attribute, None)
    if not (isinstance(found, type) and issubclass(found, Optimizer)):
        raise InvalidOption(f"{file} has no subclass of nasbed.optimizers.Optimizer called {attribute}; check the name")
    return found


_OPENED: dict[str, Benchmark] = {}


def run_task(task: Task) -> Run:
    """Carry out one run; the benchmark is opened once a process."""
    benchmark = _OPENED.get(task.benchmark)
    if benchmark is None:
        benchmark = _OPENED[task.benchmark] = load(task.benchmark)
    rng = np.random.default_rng([task.seed, _stable_number(task.method)])
    optimizer = optimizer_class(task.method)(problem_of(benchmark), rng, **task.settings)
    return simulate(
        optimizer,
        benchmark,
        seed=task.seed,
        budget=task.budget,
        workers=task.workers,
        charge_thinking=task.charge_thinking,
    )


def _stable_number(text: str) -> int:
    """The same on every machine, so that methods with the same seed do not share their random numbers."""
    return int.from_bytes(text.encode()[:16].ljust(16, b"\0"), "big")


def compare(
    benchmark: str,
    methods: Sequence[str],
    *,
    seeds: int,
    budget: str,
    out: Path,
    workers: int = 1,
    engine: Engine | None = None,
    settings: Mapping[str, Mapping[str, Any]] | None = None,
    timeout_s: float | None = None,
    command: str = "",
    progress: Callable[[str, int, str], None] | None = None,
) -> Runs:
    """Run every method with every seed and keep each run in a file as it ends; what is there already is not run again.

    ``progress`` is told the method, the seed and the error, if any, of each run that ended.
    """
    limit = Budget.parse(budget)
    if Path(benchmark).is_dir():
        benchmark = str(Path(benchmark).resolve())
    opened = load(benchmark)
    for method in methods:
        optimizer_class(method)
    setup = Setup(
        benchmark=benchmark,
        space=opened.space.name,
        objective=opened.objective,
        budget=budget,
        workers=workers,
        settings=dict(settings or {}),
        command=command,
        versions={"nasbed": nasbed.__version__, "numpy": np.__version__, "python": platform.python_version()},
    )
    _check_same(out, setup)
    save_setup(out, setup)
    tasks = [
        Task(benchmark, method, seed, limit, workers, (settings or {}).get(method, {}))
        for seed in range(seeds)
        for method in methods
        if not _is_done(out, method, seed)
    ]
    for outcome in (engine or LocalEngine()).map_unordered(run_task, tasks, timeout_s=timeout_s):
        task = tasks[outcome.task]
        run = outcome.result if not outcome.error else _broken(task, opened, outcome.error)
        save_run(out / "runs", replace(run, method=short_name(task.method)))
        if progress is not None:
            progress(task.method, task.seed, run.error)
    return load_runs(out)


def short_name(method: str) -> str:
    """What a run of this method is called: the id, or the class of a user's own."""
    return method.rpartition(":")[2]


def _is_done(out: Path, method: str, seed: int) -> bool:
    path = out / "runs" / f"{short_name(method)}-{seed}.npz"
    try:
        return path.is_file() and not load_run(path).error
    except BadFile:
        return False


def _broken(task: Task, benchmark: Benchmark, error: str) -> Run:
    nothing = np.empty(0)
    return Run(
        method=task.method,
        seed=task.seed,
        codes=np.empty((0, benchmark.space.code_length), dtype=np.int64),
        fidelity=nothing.astype(np.int64),
        value=nothing,
        status=nothing.astype(np.int8),
        start_s=nothing,
        end_s=nothing,
        error=error,
    )


def _check_same(out: Path, setup: Setup) -> None:
    """A folder holds runs of one benchmark and budget; others would be mixed up with them."""
    if not (out / "setup.json").is_file():
        return
    old = load_setup(out)
    for name in ("benchmark", "budget", "workers"):
        if getattr(old, name) != getattr(setup, name):
            raise InvalidOption(
                f"{out} holds runs with {name} {getattr(old, name)}, not {getattr(setup, name)}; choose another folder"
            )
