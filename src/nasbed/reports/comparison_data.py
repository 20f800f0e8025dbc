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
from nasbed.evaluation.judging import Judged, Trajectory, judge
from nasbed.evaluation.ranks import mean_ranks
from nasbed.evaluation.significance import Interval, bootstrap_interval, pairwise
from nasbed.evaluation.trajectories import at_times, bands, time_grid
from nasbed.experiments.runs import Run, Runs
from nasbed.spaces.base import SearchSpace

POINTS = 70
"""Places at which a curve is drawn."""

LEVEL = 0.05
"""Of significance."""

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
class Standing:
    """A method's place: its mean final regret and mean rank over seeds with 95 % bootstrap intervals."""

    method: str
    finished: int
    broken: int
    regret: Interval
    median: float
    rank: Interval
    beats: tuple[str, ...]
    """The methods with a larger mean that it differs from by Wilcoxon's test at 5 % after Holm's correction."""


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
    """Runs that broke are in ``broken``; they rank last, and are left out of all other numbers."""

    metric: Metric
    """What a regret is a difference of."""
    kind: str
    """Of regret: test, or validation where no test results are known."""
    reference: float
    finals: Mapping[str, Floats]
    over_time: Sequence[Curve]
    over_evaluations: Sequence[Curve]
    rank_over_time: Sequence[Curve]
    """Mean ranks over seeds with 95 % bootstrap intervals; none for a single method."""
    standings: Sequence[Standing]
    holm: NDArray[np.float64]
    """P-values of every two methods, in the order of the standings."""
    visited: Sequence[Visited]
    explained: tuple[float, float]
    """The shares of the variance that the two components of ``visited`` have."""
    best: Best | None
    broken: Sequence[Run]


def comparison(runs: Runs, benchmark: Benchmark, *, rng: np.random.Generator, points_a_method: int = 120) -> Comparison:
    """The numbers behind the page; ``rng`` picks the evaluations of which the plane shows a sample."""
    whole = Runs(runs.setup, [run for run in runs.runs if not run.error])
    judged = judge(whole, benchmark)
    by_test = judged.judge is not None
    metric = judged.judge or runs.setup.objective
    regrets = {id(each): each.test_regret if by_test else each.validation_regret for each in judged.trajectories}
    lines = [(each, regrets[id(each)]) for each in judged.trajectories if np.isfinite(regrets[id(each)]).any()]
    standings, holm = _standings(runs, lines, rng)
    visited, explained = _visited(whole, benchmark.space, rng, points_a_method)
    return Comparison(
        metric=metric,
        kind="test" if metric.split == "test" else "validation",
        reference=judged.test_best if by_test else judged.validation_best,
        finals={method: _finals(lines, method) for method in runs.methods},
        over_time=_curves(runs.methods, [(line.method, line.time_s, values) for line, values in lines]),
        over_evaluations=_curves(
            runs.methods, [(line.method, _evaluations(whole, line), values) for line, values in lines], whole=True
        ),
        rank_over_time=_ranks(runs, lines, rng),
        standings=standings,
        holm=holm,
        visited=visited,
        explained=explained,
        best=_best(whole, judged, by_test, benchmark),
        broken=[run for run in runs.runs if run.error],
    )


def _finals(lines: Sequence[tuple[Trajectory, Floats]], method: str) -> Floats:
    return np.array([values[-1] for line, values in lines if line.method == method and math.isfinite(values[-1])])


def _standings(
    runs: Runs, lines: Sequence[tuple[Trajectory, Floats]], rng: np.random.Generator
) -> tuple[list[Standing], Floats]:
    """Sorted by mean final regret, methods without any last, and the corrected p-values in that order."""
    methods, table = runs.methods, _by_seed(runs, [(line, values[-1:]) for line, values in lines])[:, :, 0]
    if not table.size:
        return [], np.empty((0, 0))
    placed, tested = mean_ranks(table, rng), pairwise(table).holm
    regrets = [bootstrap_interval(row, rng) for row in table]
    order = sorted(range(len(methods)), key=lambda i: (math.isnan(regrets[i].estimate), regrets[i].estimate, i))
    standings = []
    for position, i in enumerate(order):
        present = table[i][~np.isnan(table[i])]
        standings.append(
            Standing(
                method=methods[i],
                finished=len(present),
                broken=sum(1 for run in runs.of(methods[i]) if run.error),
                regret=regrets[i],
                median=float(np.median(present)) if len(present) else math.nan,
                rank=Interval(float(placed.mean[i]), float(placed.low[i]), float(placed.high[i])),
                beats=tuple(methods[j] for j in order[position + 1 :] if tested[i, j] < LEVEL),
            )
        )
    return standings, tested[np.ix_(order, order)]


def _ranks(runs: Runs, lines: Sequence[tuple[Trajectory, Floats]], rng: np.random.Generator) -> list[Curve]:
    starts = [float(line.time_s[0]) for line, _ in lines if line.time_s[0] > 0]
    if len(runs.methods) < 2 or not starts:
        return []
    grid = time_grid(min(starts), max(float(line.time_s[-1]) for line, _ in lines), points=POINTS)
    table = _by_seed(runs, [(line, at_times(line.time_s, values, grid_s=grid)) for line, values in lines])
    found = mean_ranks(table, rng, resamples=300)
    return [
        Curve(method, grid, found.low[i], found.mean[i], found.high[i])
        for i, method in enumerate(runs.methods)
        if np.isfinite(table[i]).any()
    ]


def _by_seed(runs: Runs, rows: Sequence[tuple[Trajectory, Floats]]) -> Floats:
    """``[methods, seeds, places]``, NaN for a run that is not there or broke."""
    methods, seeds = runs.methods, sorted({run.seed for run in runs.runs})
    table = np.full((len(methods), len(seeds), len(rows[0][1]) if rows else 1), np.nan)
    for line, values in rows:
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


def _best(runs: Runs, judged: Judged, by_test: bool, benchmark: Benchmark) -> Best | None:
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
