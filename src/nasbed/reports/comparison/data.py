"""The numbers on the page of a comparison: results of evaluation as tables and curves."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nasbed.benchmarks.base import Benchmark
from nasbed.core.architecture import Architecture
from nasbed.core.metric import Metric
from nasbed.evaluation.anytime import Floats
from nasbed.evaluation.judging import JudgedRuns, Trajectory, by_seed, evaluation_numbers, judge
from nasbed.evaluation.ranks import mean_ranks
from nasbed.evaluation.summary import ComparisonSummary, summarise
from nasbed.evaluation.tradeoffs import Tradeoffs, tradeoffs
from nasbed.evaluation.trajectories import Centre, at_times, bands, mean_bands, time_grid
from nasbed.experiments.runs import Runs
from nasbed.spaces.base import SearchSpace

POINTS = 70
"""Points per curve."""


@dataclass(frozen=True, slots=True)
class MethodCurve:
    """One method over time or evaluations; NaN where some of its runs have no value yet."""

    method: str
    x: Floats
    low: Floats
    middle: Floats
    high: Floats

    @classmethod
    def of(cls, method: str, x: Floats, curves: ArrayLike, centre: Centre) -> MethodCurve:
        """From curves ``[seeds, places]`` at the places ``x``."""
        if centre == "mean":
            means = mean_bands(curves, np.random.default_rng(0))
            return cls(method, x, means.low, means.mean, means.high)
        band = bands(curves)
        return cls(method, x, band.low, band.median, band.high)


@dataclass(frozen=True, slots=True)
class BestArchitecture:
    """The incumbent with the smallest final regret of all runs."""

    architecture: Architecture
    method: str
    seed: int
    evaluation: int
    value: float
    regret: float


@dataclass(frozen=True, slots=True)
class VisitedArchitectures:
    """Architectures that a method evaluated, on the plane of their two main components; ``when`` runs from 0 to 1."""

    method: str
    xy: Floats  # [n, 2]
    when: Floats
    value: Floats
    codes: NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Comparison:
    """Everything on the page; runs that broke are in ``summary`` alone, and rank last."""

    summary: ComparisonSummary
    finals: Mapping[str, Floats]
    over_time: Sequence[MethodCurve]
    over_evaluations: Sequence[MethodCurve]
    rank_over_time: Sequence[MethodCurve]
    """Mean ranks over seeds with 95 % bootstrap intervals; none for a single method."""
    second: Metric | None
    over_second: Sequence[MethodCurve]
    """The smallest validation regret within a limit on parameters, latency …"""
    visited: Sequence[VisitedArchitectures]
    explained: tuple[float, float]
    """The shares of the variance explained by the two components of ``visited``."""
    best: BestArchitecture | None
    centre: Centre = "median"
    """Of ``over_time``, ``over_evaluations`` and ``over_second``."""


def comparison(
    runs: Runs,
    benchmark: Benchmark,
    *,
    rng: np.random.Generator,
    points_a_method: int = 120,
    stale: Mapping[str, str] | None = None,
    centre: Centre = "median",
) -> Comparison:
    """The numbers behind the page.

    Args:
        runs: the runs to compare.
        benchmark: judges the runs.
        rng: draws the bootstrap samples first, as for the summary alone, and then the evaluations on the plane.
        points_a_method: the most evaluations per method on the plane.
        stale: the reason per method whose runs are out of date.
        centre: what a curve shows of all seeds.
    """
    finished = runs.finished
    judged = judge(finished, benchmark)
    traded = tradeoffs(finished, benchmark, best=judged.validation_best)
    summary = summarise(runs, benchmark, rng, judged=judged, traded=traded, stale=stale)
    by_test = judged.judge is not None
    regrets = {id(line): line.test_regret if by_test else line.validation_regret for line in judged.trajectories}
    lines = [(line, regrets[id(line)]) for line in judged.trajectories if np.isfinite(regrets[id(line)]).any()]
    visited, explained = _visited_architectures(finished, benchmark.space, rng, points_a_method)
    place = {standing.method: i for i, standing in enumerate(summary.standings())}
    return Comparison(
        summary=summary,
        finals={method: _finals(lines, method) for method in runs.methods},
        over_time=_curves(runs.methods, [(line.method, line.time_s, values) for line, values in lines], centre),
        over_evaluations=_curves(
            runs.methods,
            [(line.method, evaluation_numbers(finished, line), values) for line, values in lines],
            centre,
            integers=True,
        ),
        rank_over_time=_ranks(runs, lines, rng),
        second=traded.second if traded else None,
        over_second=_curves(runs.methods, _steps(traded), centre) if traded else [],
        visited=sorted(visited, key=lambda part: place[part.method]),
        explained=explained,
        best=_best(finished, judged, by_test, benchmark),
        centre=centre,
    )


def _finals(lines: Sequence[tuple[Trajectory, Floats]], method: str) -> Floats:
    return np.array([values[-1] for line, values in lines if line.method == method and math.isfinite(values[-1])])


def _ranks(runs: Runs, lines: Sequence[tuple[Trajectory, Floats]], rng: np.random.Generator) -> list[MethodCurve]:
    starts = [float(line.time_s[0]) for line, _ in lines if line.time_s[0] > 0]
    if len(runs.methods) < 2 or not starts:
        return []
    grid = time_grid(min(starts), max(float(line.time_s[-1]) for line, _ in lines), points=POINTS)
    table = by_seed(runs, [(line, at_times(line.time_s, values, grid_s=grid)) for line, values in lines])
    if not table.size:
        return []
    ranks = mean_ranks(table, rng, resamples=300)
    return [
        MethodCurve(method, grid, ranks.low[i], ranks.mean[i], ranks.high[i])
        for i, method in enumerate(runs.methods)
        if np.isfinite(table[i]).any()
    ]


def _curves(
    methods: Sequence[str],
    lines: Sequence[tuple[str, Floats, Floats]],
    centre: Centre,
    *,
    integers: bool = False,
) -> list[MethodCurve]:
    """All seeds on a common grid up to the end of each method's last run."""
    starts = [xs[0] for _, xs, _ in lines if xs[0] > 0]
    if not starts:
        return []
    grid = time_grid(float(min(starts)), float(max(xs[-1] for _, xs, _ in lines)), points=POINTS)
    if integers:
        grid = np.unique(np.round(grid))
    curves = []
    for method in methods:
        method_lines = [(xs, values) for name, xs, values in lines if name == method]
        if method_lines:
            last = max(xs[-1] for xs, _ in method_lines)
            places = np.append(grid[grid < last], last)
            rows = [at_times(xs, values, grid_s=places) for xs, values in method_lines]
            curves.append(MethodCurve.of(method, places, rows, centre))
    return curves


def _steps(traded: Tradeoffs) -> list[tuple[str, Floats, Floats]]:
    """Each front extended to the highest cost of all, as a cheaper architecture also meets a higher limit."""
    return [
        (front.method, np.append(front.cost, traded.reference[0]), np.append(front.regret, front.regret[-1]))
        for front in traded.fronts
        if len(front.cost)
    ]


def _best(runs: Runs, judged: JudgedRuns, by_test: bool, benchmark: Benchmark) -> BestArchitecture | None:
    best: BestArchitecture | None = None
    for line in judged.trajectories:
        if not len(line.incumbent):
            continue
        regret = float((line.test_regret if by_test else line.validation_regret)[-1])
        if math.isfinite(regret) and (best is None or regret < best.regret):
            run = next(run for run in runs.runs if (run.method, run.seed) == (line.method, line.seed))
            index = int(line.incumbent[-1])
            (architecture,) = benchmark.space.architectures(run.codes[index : index + 1])
            best = BestArchitecture(architecture, run.method, run.seed, index + 1, float(run.value[index]), regret)
    return best


def _visited_architectures(
    runs: Runs, space: SearchSpace, rng: np.random.Generator, most: int
) -> tuple[list[VisitedArchitectures], tuple[float, float]]:
    parts: list[tuple[str, NDArray[np.int64], Floats, Floats]] = []
    for method in runs.methods:
        method_runs = [run for run in runs.of(method) if len(run)]
        if not method_runs:
            continue
        codes = np.concatenate([run.codes for run in method_runs])
        progress = np.concatenate([(np.arange(len(run)) + 1) / len(run) for run in method_runs])
        value = np.concatenate([run.value for run in method_runs])
        sample = np.sort(rng.choice(len(codes), size=min(most, len(codes)), replace=False))
        parts.append((method, codes[sample], progress[sample], value[sample]))
    if not parts:
        return [], (0.0, 0.0)
    features = space.encode(np.concatenate([codes for _, codes, _, _ in parts])).astype(np.float64)
    plane, explained = principal_plane(np.nan_to_num(features))
    cuts = np.cumsum([len(codes) for _, codes, _, _ in parts])[:-1]
    return [
        VisitedArchitectures(method, xy, progress, value, codes)
        for (method, codes, progress, value), xy in zip(parts, np.split(plane, cuts), strict=True)
    ], explained


def principal_plane(features: Floats) -> tuple[Floats, tuple[float, float]]:
    """Rows on the plane of their two main components, and the shares of the variance that these explain.

    The sign of a component makes its largest loading positive, so that the plane is the same on every machine.

    >>> plane, shares = principal_plane(np.array([[0.0, 0.0], [2.0, 0.0], [4.0, 0.0]]))
    >>> plane.tolist(), shares
    ([[-2.0, 0.0], [0.0, 0.0], [2.0, 0.0]], (1.0, 0.0))
    """
    centred = features - features.mean(axis=0)
    _, spread, loadings = np.linalg.svd(centred, full_matrices=False)
    axes = np.zeros((2, features.shape[1]))
    axes[: len(loadings[:2])] = loadings[:2]
    largest = np.abs(axes).argmax(axis=1)
    axes *= np.where(axes[[0, 1], largest] < 0, -1.0, 1.0)[:, None]
    power = np.append(spread, [0.0, 0.0]) ** 2
    total = power.sum() or 1.0
    return centred @ axes.T + 0.0, (float(power[0] / total), float(power[1] / total))
