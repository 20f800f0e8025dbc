"""What the page of a comparison shows, as plain numbers: evaluation's results in the shape of tables and curves."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nasbed.benchmarks.base import Benchmark
from nasbed.core.architecture import Architecture
from nasbed.core.metric import Metric
from nasbed.evaluation.judging import JudgedRuns, Trajectory, judge
from nasbed.evaluation.ranks import mean_ranks
from nasbed.evaluation.summary import ComparisonSummary, summarise
from nasbed.evaluation.tradeoffs import Tradeoffs, tradeoffs
from nasbed.evaluation.trajectories import at_times, bands, time_grid
from nasbed.experiments.runs import Runs
from nasbed.spaces.base import SearchSpace

POINTS = 70
"""Places at which a curve is drawn."""

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Curve:
    """One method over time or evaluations; NaN where some of its runs have no value yet."""

    method: str
    at: Floats
    low: Floats
    middle: Floats
    high: Floats


@dataclass(frozen=True, slots=True)
class Best:
    """The incumbent with the smallest final regret of all runs."""

    architecture: Architecture
    method: str
    seed: int
    evaluation: int
    value: float
    regret: float


@dataclass(frozen=True, slots=True)
class Visited:
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
    over_time: Sequence[Curve]
    over_evaluations: Sequence[Curve]
    rank_over_time: Sequence[Curve]
    """Mean ranks over seeds with 95 % bootstrap intervals; none for a single method."""
    second: Metric | None
    over_second: Sequence[Curve]
    """The least validation regret of any architecture that costs at most so much: of parameters, latency …"""
    visited: Sequence[Visited]
    explained: tuple[float, float]
    """The shares of the variance that the two components of ``visited`` have."""
    best: Best | None


def comparison(
    runs: Runs,
    benchmark: Benchmark,
    *,
    rng: np.random.Generator,
    points_a_method: int = 120,
    stale: Mapping[str, str] | None = None,
) -> Comparison:
    """The numbers behind the page; ``rng`` draws the bootstrap samples first, as for the summary alone, and then the
    evaluations of which the plane shows a sample. ``stale`` says why runs of a method are out of date."""
    whole = runs.finished
    judged = judge(whole, benchmark)
    traded = tradeoffs(whole, benchmark, best=judged.validation_best)
    summary = summarise(runs, benchmark, rng, judged=judged, traded=traded, stale=stale)
    by_test = judged.judge is not None
    regrets = {id(each): each.test_regret if by_test else each.validation_regret for each in judged.trajectories}
    lines = [(each, regrets[id(each)]) for each in judged.trajectories if np.isfinite(regrets[id(each)]).any()]
    visited, explained = _visited(whole, benchmark.space, rng, points_a_method)
    place = {each.method: i for i, each in enumerate(summary.standings())}
    return Comparison(
        summary=summary,
        finals={method: _finals(lines, method) for method in runs.methods},
        over_time=_curves(runs.methods, [(line.method, line.time_s, values) for line, values in lines]),
        over_evaluations=_curves(
            runs.methods, [(line.method, _evaluations(whole, line), values) for line, values in lines], whole=True
        ),
        rank_over_time=_ranks(runs, lines, rng),
        second=traded.second if traded else None,
        over_second=_curves(runs.methods, _steps(traded)) if traded else [],
        visited=sorted(visited, key=lambda part: place[part.method]),
        explained=explained,
        best=_best(whole, judged, by_test, benchmark),
    )


def _finals(lines: Sequence[tuple[Trajectory, Floats]], method: str) -> Floats:
    return np.array([values[-1] for line, values in lines if line.method == method and math.isfinite(values[-1])])


def _ranks(runs: Runs, lines: Sequence[tuple[Trajectory, Floats]], rng: np.random.Generator) -> list[Curve]:
    starts = [float(line.time_s[0]) for line, _ in lines if line.time_s[0] > 0]
    if len(runs.methods) < 2 or not starts:
        return []
    grid = time_grid(min(starts), max(float(line.time_s[-1]) for line, _ in lines), points=POINTS)
    table = _by_seed(runs, [(line, at_times(line.time_s, values, grid_s=grid)) for line, values in lines])
    if not table.size:
        return []
    found = mean_ranks(table, rng, resamples=300)
    return [
        Curve(method, grid, found.low[i], found.mean[i], found.high[i])
        for i, method in enumerate(runs.methods)
        if np.isfinite(table[i]).any()
    ]


def _by_seed(runs: Runs, rows: Sequence[tuple[Trajectory, Floats]]) -> Floats:
    """``[methods, seeds, places]`` of the seeds that all methods have, NaN for a run that broke or found nothing."""
    methods = runs.methods
    seeds = sorted(set.intersection(*({run.seed for run in runs.of(method)} for method in methods)))
    table = np.full((len(methods), len(seeds), len(rows[0][1])), np.nan)
    for line, values in rows:
        if line.seed in seeds:
            table[methods.index(line.method), seeds.index(line.seed)] = values
    return table


def _evaluations(runs: Runs, line: Trajectory) -> Floats:
    """The numbers of the evaluations that a trajectory has, which begins with the first that has a value."""
    total = next(len(run) for run in runs.runs if (run.method, run.seed) == (line.method, line.seed))
    return np.arange(total - len(line.time_s) + 1, total + 1, dtype=np.float64)


def _curves(methods: Sequence[str], lines: Sequence[tuple[str, Floats, Floats]], *, whole: bool = False) -> list[Curve]:
    """Quartiles on a common grid up to the end of each method's last run."""
    starts = [at[0] for _, at, _ in lines if at[0] > 0]
    if not starts:
        return []
    grid = time_grid(float(min(starts)), float(max(at[-1] for _, at, _ in lines)), points=POINTS)
    if whole:
        grid = np.unique(np.round(grid))
    curves = []
    for method in methods:
        own = [(at, values) for name, at, values in lines if name == method]
        if own:
            last = max(at[-1] for at, _ in own)
            places = np.append(grid[grid < last], last)
            found = bands([at_times(at, values, grid_s=places) for at, values in own])
            curves.append(Curve(method, places, found.low, found.median, found.high))
    return curves


def _steps(traded: Tradeoffs) -> list[tuple[str, Floats, Floats]]:
    """Each front up to the highest cost on any: what is found for less is there for more."""
    return [
        (each.method, np.append(each.cost, traded.reference[0]), np.append(each.regret, each.regret[-1]))
        for each in traded.fronts
        if len(each.cost)
    ]


def _best(runs: Runs, judged: JudgedRuns, by_test: bool, benchmark: Benchmark) -> Best | None:
    best: Best | None = None
    for line in judged.trajectories:
        if not len(line.incumbent):
            continue
        regret = float((line.test_regret if by_test else line.validation_regret)[-1])
        if math.isfinite(regret) and (best is None or regret < best.regret):
            run = next(run for run in runs.runs if (run.method, run.seed) == (line.method, line.seed))
            index = int(line.incumbent[-1])
            (found,) = benchmark.space.architectures(run.codes[index : index + 1])
            best = Best(found, run.method, run.seed, index + 1, float(run.value[index]), regret)
    return best


def _visited(
    runs: Runs, space: SearchSpace, rng: np.random.Generator, most: int
) -> tuple[list[Visited], tuple[float, float]]:
    parts: list[tuple[str, NDArray[np.int64], Floats, Floats]] = []
    for method in runs.methods:
        own = [run for run in runs.of(method) if len(run)]
        if not own:
            continue
        codes = np.concatenate([run.codes for run in own])
        when = np.concatenate([(np.arange(len(run)) + 1) / len(run) for run in own])
        value = np.concatenate([run.value for run in own])
        kept = np.sort(rng.choice(len(codes), size=min(most, len(codes)), replace=False))
        parts.append((method, codes[kept], when[kept], value[kept]))
    if not parts:
        return [], (0.0, 0.0)
    features = space.encode(np.concatenate([codes for _, codes, _, _ in parts])).astype(np.float64)
    plane, explained = principal_plane(np.nan_to_num(features))
    cuts = np.cumsum([len(codes) for _, codes, _, _ in parts])[:-1]
    return [
        Visited(method, xy, when, value, codes)
        for (method, codes, when, value), xy in zip(parts, np.split(plane, cuts), strict=True)
    ], explained


def principal_plane(features: Floats) -> tuple[Floats, tuple[float, float]]:
    """Rows on the plane of their two main components, and the shares of the variance that these have.

    The sign of a component is that which makes its largest loading positive: the plane is the same on every machine.

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
