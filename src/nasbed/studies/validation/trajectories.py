"""Whether methods fare on a surrogate as they do on the table that it was fitted on (sections 3.1.7 and 3.1.8, figures
2, 3 and 16)."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

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
from nasbed.studies.validation.data import Floats

METHODS = ("rs", "re", "ls", "bananas")
POINTS = 80
LEVEL = 0.05
RunProgress = Callable[[str], None]
"""Called with what was done, once for each run or fit."""


@dataclass(frozen=True, slots=True)
class Side:
    """The methods on one benchmark: regrets of the noise-free mean against the best that this benchmark knows."""

    name: str
    curves: Mapping[str, Anytime]
    finals: Mapping[str, Floats]  # by method, one a seed

    @property
    def order(self) -> tuple[str, ...]:
        """The methods by mean final regret, the best first."""
        return tuple(sorted(self.finals, key=lambda method: float(self.finals[method].mean())))


@dataclass(frozen=True, slots=True)
class SideAgreement:
    """How alike two sides are, over what all methods have in common.

    ``order`` is Kendall's correlation of the methods' mean final regrets, and ``by_time`` the mean of that of their
    medians at each time; ``curves`` is Spearman's of the medians of all methods at all times; ``overlap`` is the share
    of methods and times at which the middle halves of the runs overlap. ``settled`` counts the pairs of methods that
    differ significantly on the first side, and ``kept`` those of them whose means are in the same order on the other.
    """

    order: float
    by_time: float
    curves: float
    overlap: float
    settled: int
    kept: int


@dataclass(frozen=True, slots=True)
class Trajectories:
    """Real runs beside those on surrogates, and how they agree, by the name of the surrogate."""

    methods: tuple[str, ...]
    seeds: int
    budget: str
    metric: Metric
    real: Side
    surrogates: tuple[Side, ...]
    agreement: Mapping[str, SideAgreement]


def trajectories(
    table: Path,
    surrogates: Mapping[str, Mapping[str, Path]],
    *,
    methods: Sequence[str] = METHODS,
    seeds: int,
    budget: str,
    out: Path,
    engine: Engine | None = None,
    on_run: RunProgress | None = None,
) -> Trajectories:
    """Run methods on a table and on surrogates of it.

    Args:
        table: The folder of the table.
        surrogates: Paths by name and by method: a method may have one that was fitted without its data.
        methods: The search methods.
        seeds: Runs of each method.
        budget: Of each run, such as ``200ev``.
        out: The folder that keeps the runs, of which none is run again.
        engine: Where searches run.
        on_run: Called with a text after each run.
    """
    real = side("the table", dict.fromkeys(methods, table), seeds, budget, out / "table", engine, on_run)
    sides = tuple(
        side(name, paths, seeds, budget, out / _folder(paths), engine, on_run) for name, paths in surrogates.items()
    )
    agreements = {surrogate.name: agreement(real, surrogate) for surrogate in sides}
    return Trajectories(tuple(methods), seeds, budget, load(table).objective, real, sides, agreements)


def _folder(paths: Mapping[str, Path]) -> str:
    """A name for the runs on these surrogates, of which none is ever changed."""
    return hashlib.sha256("\n".join(str(path.resolve()) for path in paths.values()).encode()).hexdigest()[:12]


def side(
    name: str,
    benchmarks: Mapping[str, Path],
    seeds: int,
    budget: str,
    out: Path,
    engine: Engine | None,
    on_run: RunProgress | None,
) -> Side:
    """The curves of methods, each on a benchmark of its own.

    Args:
        name: What the side is called.
        benchmarks: The path of each method's benchmark.
        seeds: Runs of each method.
        budget: Of each run, such as ``200ev``.
        out: The folder that keeps the runs.
        engine: Where searches run.
        on_run: Called with a text after each run.
    """
    judged: list[Trajectory] = []
    for number, path in enumerate(dict.fromkeys(benchmarks.values())):
        methods = [method for method, benchmark in benchmarks.items() if benchmark == path]
        folder = out if len(set(benchmarks.values())) == 1 else out / str(number)

        def report_run(method: str, seed: int, error: str) -> None:
            if on_run is not None:
                on_run(f"{name}: {method}, seed {seed}{': ' + error if error else ''}")

        runs = compare(
            str(path.resolve()), methods, seeds=seeds, budget=budget, out=folder, engine=engine, progress=report_run
        )
        broken = [run for run in runs.runs if run.error]
        if broken:
            raise InvalidOption(f"{broken[0].method} broke on {name} with seed {broken[0].seed}: {broken[0].error}")
        judged += judge(runs, load(path)).trajectories
    by_method = {method: [run for run in judged if run.method == method] for method in benchmarks}
    return Side(
        name,
        {method: anytime(runs, points=POINTS) for method, runs in by_method.items()},
        {method: final_regrets(runs) for method, runs in by_method.items()},
    )


def agreement(real: Side, surrogate: Side) -> SideAgreement:
    """How alike the methods do on two benchmarks, over the time that all curves have."""
    methods = list(real.finals)
    finals = [[float(side.finals[method].mean()) for method in methods] for side in (real, surrogate)]
    settled = _settled(real, methods)
    pairs = [(a, b) for a, b in combinations(range(len(methods)), 2) if settled[a, b]]
    same_order = sum((finals[0][a] < finals[0][b]) == (finals[1][a] < finals[1][b]) for a, b in pairs)
    by_time, curves, overlap = _over_time(real, surrogate, methods)
    return SideAgreement(_kendall(*finals), by_time, curves, overlap, len(pairs), same_order)


def _settled(side: Side, methods: Sequence[str]) -> NDArray[np.bool_]:
    """Which pairs of methods differ by Wilcoxon's test over seeds, with Holm's correction."""
    if len(methods) < 2:
        return np.zeros((len(methods), len(methods)), dtype=bool)
    significant: NDArray[np.bool_] = pairwise([side.finals[method] for method in methods]).holm < LEVEL
    return significant


def _over_time(real: Side, surrogate: Side, methods: Sequence[str]) -> tuple[float, float, float]:
    """Of the agreement, what the curves say; NaN where they have no time in common."""
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
    """Median and quartiles at other times: those at or before each."""
    position = np.searchsorted(curve.time_s, grid, side="right") - 1
    return curve.median[position], curve.low[position], curve.high[position]


def _kendall(first: Sequence[float], second: Sequence[float]) -> float:
    if len(set(first)) < 2 or len(set(second)) < 2:
        return float("nan")
    return float(stats.kendalltau(first, second).statistic)
