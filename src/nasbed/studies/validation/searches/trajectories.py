"""Searches on a surrogate beside those on its table or for real (sections 3.1.7 and 3.1.8, figures 2, 3, 5 and 16)."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from nasbed.benchmarks.catalog import load
from nasbed.core.errors import InvalidOption
from nasbed.core.execution import Engine
from nasbed.core.metric import Metric
from nasbed.evaluation.anytime import Anytime, anytime, final_regrets
from nasbed.evaluation.judging import Trajectory, judge
from nasbed.evaluation.significance import pairwise
from nasbed.evaluation.trajectories import time_grid
from nasbed.experiments.compare import compare
from nasbed.experiments.runs import Runs
from nasbed.surrogates.base import Floats

METHODS = ("rs", "re", "ls", "bananas")
POINTS = 80
LEVEL = 0.05
RunProgress = Callable[[str], None]
"""Called with a text after each run or fit."""


@dataclass(frozen=True, slots=True)
class BenchmarkSide:
    """The methods on one benchmark: regrets against the best of this benchmark, of the noise-free mean or, beside
    searches for real, of the values that the searches saw."""

    name: str
    curves: Mapping[str, Anytime]
    finals: Mapping[str, Floats]  # by method, one a seed

    @property
    def order(self) -> tuple[str, ...]:
        """The methods by mean final regret, the best first."""
        return tuple(sorted(self.finals, key=lambda method: float(self.finals[method].mean())))


@dataclass(frozen=True, slots=True)
class SideAgreement:
    """How alike two sides are, over the times that all curves have.

    ``order`` is Kendall's correlation of the methods' mean final regrets. ``by_time`` is the mean over time of that of
    their medians. ``curves`` is Spearman's correlation of the medians of all methods at all times.
    ``overlap`` is the share of methods and times at which the middle halves of the runs overlap. ``settled`` counts the
    pairs of methods that differ significantly on the first side; ``kept``, those in the same order on the second.
    """

    order: float
    by_time: float
    curves: float
    overlap: float
    settled: int
    kept: int


@dataclass(frozen=True, slots=True)
class TrajectoryComparison:
    """Searches on the table or for real and those on surrogates, and their agreement by the name of the surrogate."""

    methods: tuple[str, ...]
    seeds: int
    budget: str
    metric: Metric
    real: BenchmarkSide
    surrogates: tuple[BenchmarkSide, ...]
    agreement: Mapping[str, SideAgreement]
    for_real: bool = False
    """Whether the first side was trained for real, and all regrets are of the values that searches saw."""


@dataclass(frozen=True, slots=True)
class SearchPlan:
    """The searches that are run on every benchmark of a comparison.

    Args:
        out: The folder that keeps the runs; an existing run is not repeated.
        methods: The search methods.
        seeds: Runs of each method.
        budget: The budget of each run, such as ``200ev``.
        engine: Where searches run.
        on_run: Called with a text after each run and each fit.
        workers: Parallel evaluations of each run on the simulated clock.
        settings: The settings of methods that do not have their usual ones.
    """

    out: Path
    methods: tuple[str, ...] = METHODS
    seeds: int = 10
    budget: str = "200ev"
    engine: Engine | None = None
    on_run: RunProgress | None = None
    workers: int = 1
    settings: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    def report(self, text: str) -> None:
        """Call ``on_run``, if there is one."""
        if self.on_run is not None:
            self.on_run(text)

    def on_table(self, table: Path) -> BenchmarkSide:
        """The searches on the table itself."""
        return side("the table", dict.fromkeys(self.methods, table), self, folder="table")


def trajectories(table: Path, surrogates: Mapping[str, Mapping[str, Path]], plan: SearchPlan) -> TrajectoryComparison:
    """Run methods on a table and on surrogates of it.

    ``table`` is a folder. ``surrogates`` has paths by name and by method: a method may have a surrogate that was fitted
    without its data.
    """
    real = plan.on_table(table)
    sides = tuple(side(name, paths, plan, folder=folder_of(paths)) for name, paths in surrogates.items())
    return comparison(real, sides, plan, load(table).objective)


def comparison(
    real: BenchmarkSide, surrogates: Sequence[BenchmarkSide], plan: SearchPlan, metric: Metric
) -> TrajectoryComparison:
    """The searches of a plan on surrogates beside those of the first side."""
    agreements = {surrogate.name: agreement(real, surrogate) for surrogate in surrogates}
    return TrajectoryComparison(plan.methods, plan.seeds, plan.budget, metric, real, tuple(surrogates), agreements)


def folder_of(paths: Mapping[str, Path]) -> str:
    """The name of the folder for the runs on these surrogates, which never change."""
    return hashlib.sha256("\n".join(str(path.resolve()) for path in paths.values()).encode()).hexdigest()[:12]


def side(name: str, benchmarks: Mapping[str, Path], plan: SearchPlan, *, folder: str) -> BenchmarkSide:
    """The curves of methods, each on the benchmark at its path; runs go to a folder of the plan's."""
    judged: list[Trajectory] = []
    for path, runs in runs_on(name, benchmarks, plan, folder=folder):
        judged += judge(runs, load(path)).trajectories
    return side_of(name, judged, list(benchmarks))


def runs_on(name: str, benchmarks: Mapping[str, Path], plan: SearchPlan, *, folder: str) -> Iterator[tuple[Path, Runs]]:
    """The runs on each benchmark, of the methods that it is for; arguments as for :func:`side`."""
    out = plan.out / folder
    for number, path in enumerate(dict.fromkeys(benchmarks.values())):
        methods = [method for method, benchmark in benchmarks.items() if benchmark == path]
        own_out = out if len(set(benchmarks.values())) == 1 else out / str(number)

        def report_run(method: str, seed: int, error: str) -> None:
            plan.report(f"{name}: {method}, seed {seed}{': ' + error if error else ''}")

        runs = compare(
            str(path.resolve()),
            methods,
            seeds=plan.seeds,
            budget=plan.budget,
            out=own_out,
            workers=plan.workers,
            engine=plan.engine,
            settings={method: own for method, own in plan.settings.items() if method in methods},
            progress=report_run,
        )
        broken = [run for run in runs.runs if run.error]
        if broken:
            raise InvalidOption(f"{broken[0].method} failed on {name} with seed {broken[0].seed}: {broken[0].error}")
        yield path, runs


def side_of(name: str, judged: Sequence[Trajectory], methods: Sequence[str]) -> BenchmarkSide:
    """The curves and final regrets of judged runs."""
    by_method = {method: [run for run in judged if run.method == method] for method in methods}
    return BenchmarkSide(
        name,
        {method: anytime(runs, points=POINTS) for method, runs in by_method.items()},
        {method: final_regrets(runs) for method, runs in by_method.items()},
    )


def agreement(real: BenchmarkSide, surrogate: BenchmarkSide) -> SideAgreement:
    """How alike the methods perform on two benchmarks, over the times that all curves have."""
    methods = list(real.finals)
    finals = [[float(side.finals[method].mean()) for method in methods] for side in (real, surrogate)]
    settled = _significant_pairs(real, methods)
    pairs = [(a, b) for a, b in combinations(range(len(methods)), 2) if settled[a, b]]
    same_order = sum((finals[0][a] < finals[0][b]) == (finals[1][a] < finals[1][b]) for a, b in pairs)
    by_time, curves, overlap = _over_time(real, surrogate, methods)
    return SideAgreement(_kendall(*finals), by_time, curves, overlap, len(pairs), same_order)


def _significant_pairs(side: BenchmarkSide, methods: Sequence[str]) -> NDArray[np.bool_]:
    """The pairs of methods that differ by Wilcoxon's test over seeds, with Holm's correction."""
    if len(methods) < 2:
        return np.zeros((len(methods), len(methods)), dtype=bool)
    significant: NDArray[np.bool_] = pairwise([side.finals[method] for method in methods]).holm < LEVEL
    return significant


def _over_time(real: BenchmarkSide, surrogate: BenchmarkSide, methods: Sequence[str]) -> tuple[float, float, float]:
    """The agreement of the curves (by time, all times, overlap); NaN where they have no time in common."""
    curves = [side.curves[method] for side in (real, surrogate) for method in methods]
    unknown = float("nan"), float("nan"), float("nan")
    if not all(len(curve.time_s) and curve.time_s[-1] > 0 for curve in curves):
        return unknown
    first, last = max(curve.time_s[0] for curve in curves), min(curve.time_s[-1] for curve in curves)
    if first >= last:
        return unknown
    grid = time_grid(float(first), float(last), points=POINTS)
    on_table, on_surrogate = (
        {method: _on_grid(side.curves[method], grid) for method in methods} for side in (real, surrogate)
    )
    middles = [np.stack([quartiles[method][0] for method in methods]) for quartiles in (on_table, on_surrogate)]
    overlaps = [
        (on_table[method][1] <= on_surrogate[method][2]) & (on_surrogate[method][1] <= on_table[method][2])
        for method in methods
    ]
    by_time = [_kendall(a.tolist(), b.tolist()) for a, b in zip(middles[0].T, middles[1].T, strict=True)]
    finite = [value for value in by_time if np.isfinite(value)]
    return (
        float(np.mean(finite)) if finite else float("nan"),
        float(stats.spearmanr(middles[0].ravel(), middles[1].ravel()).statistic),
        float(np.mean(overlaps)),
    )


def _on_grid(curve: Anytime, grid: Floats) -> tuple[Floats, Floats, Floats]:
    """Median and quartiles on a grid of times: the last at or before each."""
    position = np.searchsorted(curve.time_s, grid, side="right") - 1
    return curve.median[position], curve.low[position], curve.high[position]


def _kendall(first: Sequence[float], second: Sequence[float]) -> float:
    if len(set(first)) < 2 or len(set(second)) < 2:
        return float("nan")
    return float(stats.kendalltau(first, second).statistic)
