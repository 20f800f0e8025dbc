"""Every registered method on one benchmark: its summary, its settings, and its results beside random search."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from nasbed.benchmarks.base import Benchmark
from nasbed.benchmarks.catalog import load
from nasbed.core.errors import NasbedError
from nasbed.core.execution import Engine
from nasbed.core.metric import Metric
from nasbed.core.status import FAILED
from nasbed.evaluation.anytime import Anytime, Floats, anytime, final_regrets
from nasbed.evaluation.judging import judge
from nasbed.evaluation.remarks import Remark, run_remarks
from nasbed.experiments.compare import compare
from nasbed.experiments.runs import Runs
from nasbed.experiments.searchable import check_searchable
from nasbed.experiments.simulate import problem_of
from nasbed.optimizers import OPTIMIZERS
from nasbed.optimizers.settings import defaults_of

BASELINE = "rs"


@dataclass(frozen=True, slots=True)
class MethodResult:
    """One method: its settings and their preset, if any, its curve, its final regrets, and the errors by seed."""

    name: str
    summary: str
    settings: Mapping[str, object]
    curve: Anytime
    finals: Floats
    thinking_s: float  # mean over runs, real seconds
    errors: Mapping[int, str]
    preset: str = ""
    failed: int = 0  # evaluations, over all runs
    evaluations: int = 0
    remarks: Sequence[Remark] = ()


@dataclass(frozen=True, slots=True)
class MethodsStudy:
    """``left_out`` has the reason per method that could not be run."""

    benchmark: str
    metric: Metric
    seeds: int
    budget: str
    methods: Sequence[MethodResult]
    left_out: Mapping[str, str]

    @property
    def baseline(self) -> MethodResult:
        return next(method for method in self.methods if method.name == BASELINE)


def runnable(benchmark: Benchmark, names: Sequence[str]) -> tuple[list[str], dict[str, str]]:
    """The methods that can be run on a benchmark, and the reasons why others cannot.

    A package or a metric may be missing, or the method may be unable to stay within a list of architectures.
    """
    can, cannot = [], {}
    for name in names:
        try:
            if benchmark.space.is_listed:
                check_searchable(benchmark.name, benchmark, {name: OPTIMIZERS.get(name)})
            OPTIMIZERS.get(name)(problem_of(benchmark), np.random.default_rng(0))
        except (NasbedError, ImportError) as error:
            cannot[name] = str(error)
        else:
            can.append(name)
    return can, cannot


def methods_study(
    benchmark: str,
    names: Sequence[str] = (),
    *,
    seeds: int,
    budget: str,
    out: str | Path,
    preset: str = "",
    engine: Engine | None = None,
    timeout_s: float | None = None,
    progress: Callable[[str, int, str], None] | None = None,
) -> MethodsStudy:
    """Run methods and random search on a benchmark.

    Args:
        benchmark: an id or a path.
        names: the methods by id, all that are registered if empty.
        seeds: runs per method.
        budget: per run, such as ``300ev`` or ``1e6s``.
        out: the folder of the runs.
        preset: the paper that the settings are from, see :func:`~nasbed.experiments.compare.compare`.
        engine: carries out the runs.
        timeout_s: wall-clock timeout per run.
        progress: as for :func:`~nasbed.experiments.compare.compare`.
    """
    out = Path(out)
    table = load(benchmark)
    can, cannot = runnable(table, list(dict.fromkeys([BASELINE, *(names or OPTIMIZERS)])))
    runs = compare(
        benchmark,
        can,
        seeds=seeds,
        budget=budget,
        out=out,
        preset=preset,
        engine=engine,
        timeout_s=timeout_s,
        progress=progress,
    )
    judged = judge(Runs(runs.setup, [run for run in runs.runs if not run.error]), table)
    remarks = run_remarks(runs, table, can)
    methods = []
    for name in can:
        method_runs, trajectories = runs.of(name), judged.of(name)
        kind = OPTIMIZERS.get(name)
        methods.append(
            MethodResult(
                name=name,
                summary=kind.summary,
                settings={**defaults_of(kind), **runs.setup.settings.get(name, {})},
                preset=runs.setup.presets.get(name, ""),
                curve=anytime(trajectories),
                finals=final_regrets(trajectories),
                thinking_s=float(np.mean([run.thinking_s for run in method_runs])),
                errors={run.seed: run.error for run in method_runs if run.error},
                failed=sum(int((run.status == FAILED).sum()) for run in method_runs),
                evaluations=sum(len(run) for run in method_runs),
                remarks=[remark for remark in remarks if remark.method == name],
            )
        )
    metric = judged.judge or runs.setup.objective
    return MethodsStudy(table.name, metric, seeds, budget, methods, cannot)
