"""Every registered method on one benchmark: what it is, its settings, and how it fares beside random search."""

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
class Method:
    """One method: its settings with their defaults, its curve, where its runs ended, and what broke, by seed."""

    name: str
    summary: str
    settings: Mapping[str, object]
    curve: Anytime
    finals: Floats
    thinking_s: float  # mean over runs, real seconds
    errors: Mapping[int, str]
    failed: int = 0  # evaluations, over all runs
    evaluations: int = 0
    remarks: Sequence[Remark] = ()


@dataclass(frozen=True, slots=True)
class MethodsStudy:
    """``left_out`` says of each method that could not be made here why."""

    benchmark: str
    metric: Metric
    seeds: int
    budget: str
    methods: Sequence[Method]
    left_out: Mapping[str, str]

    @property
    def baseline(self) -> Method:
        return next(each for each in self.methods if each.name == BASELINE)


def makeable(benchmark: Benchmark, names: Sequence[str]) -> tuple[list[str], dict[str, str]]:
    """The methods of these that can be made for a benchmark, and why the others cannot: a package or a metric is
    missing, or they cannot keep to a list of architectures."""
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
    *,
    seeds: int,
    budget: str,
    out: Path,
    names: Sequence[str] = (),
    engine: Engine | None = None,
    timeout_s: float | None = None,
    progress: Callable[[str, int, str], None] | None = None,
) -> MethodsStudy:
    """Run the methods called ``names``, all that are registered if none are, and random search; runs are kept in
    ``out``. ``progress`` is that of :func:`~nasbed.experiments.compare.compare`."""
    opened = load(benchmark)
    can, cannot = makeable(opened, list(dict.fromkeys([BASELINE, *(names or OPTIMIZERS)])))
    runs = compare(
        benchmark,
        can,
        seeds=seeds,
        budget=budget,
        out=out,
        engine=engine,
        timeout_s=timeout_s,
        progress=progress,
    )
    judged = judge(Runs(runs.setup, [run for run in runs.runs if not run.error]), opened)
    remarks = run_remarks(runs, opened, can)
    methods = []
    for name in can:
        own, found = runs.of(name), judged.of(name)
        kind = OPTIMIZERS.get(name)
        methods.append(
            Method(
                name=name,
                summary=kind.summary,
                settings=defaults_of(kind),
                curve=anytime(found),
                finals=final_regrets(found),
                thinking_s=float(np.mean([run.thinking_s for run in own])),
                errors={run.seed: run.error for run in own if run.error},
                failed=sum(int((run.status == FAILED).sum()) for run in own),
                evaluations=sum(len(run) for run in own),
                remarks=[remark for remark in remarks if remark.method == name],
            )
        )
    metric = judged.judge or runs.setup.objective
    return MethodsStudy(opened.name, metric, seeds, budget, methods, cannot)
