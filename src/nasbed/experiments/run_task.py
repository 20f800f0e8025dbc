"""One run of a comparison: a method with a seed on a benchmark, carried out in whatever process it lands in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from nasbed.benchmarks.base import Benchmark
from nasbed.benchmarks.catalog import load
from nasbed.core.errors import BadFile
from nasbed.core.tracebacks import whole_traceback
from nasbed.experiments.budget import Budget
from nasbed.experiments.guidance import Guidance, guided
from nasbed.experiments.named_methods import identity_of, optimizer_class, stable_number
from nasbed.experiments.provenance import Method, Provenance, benchmark_fingerprint, source_fingerprint
from nasbed.experiments.runs import Run
from nasbed.experiments.simulate import error_line, no_scoring, problem_of, simulate


@dataclass(frozen=True, slots=True)
class RunTask:
    """One run: a method with its settings and its guidance by a proxy, a seed, a benchmark by name. ``name`` is the
    name of the run."""

    name: str
    benchmark: str
    method: Method
    seed: int
    budget: Budget
    workers: int
    settings: Mapping[str, Any] = field(default_factory=dict)
    charge_thinking: bool = False
    guidance: Guidance | None = None
    made_by: Provenance | None = None
    continue_trainings: bool = False


_BENCHMARKS: dict[str, Benchmark] = {}


def _benchmark_of(task: RunTask) -> Benchmark:
    """The benchmark of a task, opened once a process and again when its content has changed."""
    fingerprint = task.made_by.benchmark if task.made_by else ""
    benchmark = _BENCHMARKS.get(task.benchmark)
    if benchmark is None or (fingerprint and benchmark_fingerprint(benchmark) != fingerprint):
        benchmark = _BENCHMARKS[task.benchmark] = load(task.benchmark)
    if fingerprint and benchmark_fingerprint(benchmark) != fingerprint:
        raise BadFile(f"{task.benchmark} was changed while runs were made on it; run again")
    return benchmark


def run_task(task: RunTask) -> Run:
    """Carry out one run. It is bound to the current source of its method, in the process that runs it."""
    benchmark = _benchmark_of(task)
    made_by = task.made_by
    if made_by is not None and made_by.origin and isinstance(task.method, str):
        made_by = replace(made_by, source=source_fingerprint(made_by.origin))
    try:
        run = _carried_out(task, benchmark)
    except Exception as error:  # a method that cannot be made must not end the other runs
        run = replace(broken_run(task, benchmark, error_line(error)), traceback=whole_traceback(error))
    return replace(run, made_by=made_by)


def _carried_out(task: RunTask, benchmark: Benchmark) -> Run:
    rng = np.random.default_rng([task.seed, stable_number(identity_of(task.method))])
    kind, problem = optimizer_class(task.method), problem_of(benchmark)
    if task.guidance is None:
        optimizer, scoring_s = kind(problem, rng, **task.settings), no_scoring
    else:
        optimizer, scoring_s = guided(
            task.guidance, kind, problem, rng, task.settings, benchmark=benchmark, seed=task.seed
        )
    return simulate(
        optimizer,
        benchmark,
        seed=task.seed,
        budget=task.budget,
        workers=task.workers,
        charge_thinking=task.charge_thinking,
        scoring_s=scoring_s,
        continue_trainings=task.continue_trainings,
    )


def broken_run(task: RunTask, benchmark: Benchmark, error: str) -> Run:
    """A run without evaluations, and why."""
    empty = np.empty(0)
    return Run(
        method=task.name,
        seed=task.seed,
        codes=np.empty((0, benchmark.space.code_length), dtype=np.int64),
        fidelity=empty.astype(np.int64),
        value=empty,
        status=empty.astype(np.int8),
        start_s=empty,
        end_s=empty,
        error=error,
        made_by=task.made_by,
    )
