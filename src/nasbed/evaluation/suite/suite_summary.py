"""A comparison of methods over many benchmarks in numbers."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from nasbed.core.errors import InvalidOption
from nasbed.core.json_values import plain
from nasbed.evaluation.anytime import Floats
from nasbed.evaluation.judging import Trajectory, by_seed, evaluation_numbers, judge
from nasbed.evaluation.ranks import MeanBand, ranks
from nasbed.evaluation.significance import Friedman, Interval, critical_difference, friedman
from nasbed.evaluation.suite.benchmark_tests import SignedRankPosterior, cliques, leave_one_out, signed_rank_posterior
from nasbed.evaluation.suite.normalising import normalised, random_regret
from nasbed.evaluation.suite.stratified import stratified_mean
from nasbed.evaluation.summary import LEVEL, ComparisonSummary, summarise
from nasbed.evaluation.trajectories import at_times, time_grid
from nasbed.experiments.budget import Budget

if TYPE_CHECKING:
    from nasbed.experiments.runs import Runs
    from nasbed.experiments.suites import BenchmarkRuns, SuiteRuns

POINTS = 60
FIRST_SHARE = 0.01
"""Curves begin at this share of the budget."""
NOT_EVERYWHERE = "some benchmark has no runs of it"
ROPE = 0.01
"""Normalised regrets that differ by less are practically equal: 1 % of the way from a random architecture to the
best."""


@dataclass(frozen=True, slots=True)
class SuiteBenchmark:
    """The comparison on one benchmark. Arrays follow the order of the suite's methods.

    ``scale`` is the regret of a random architecture. ``curves`` are normalised regrets over shares of the budget, those
    of each method for its own seeds, and ``common`` for the seeds that all methods have; NaN before a run has an
    incumbent, and for one that broke. ``losses`` are the mean final normalised regrets of the runs that did not break,
    infinite where half of them or more did.
    """

    name: str
    summary: ComparisonSummary
    scale: float
    curves: Sequence[Floats]  # by method: [its seeds, POINTS]
    common: Floats  # [methods, seeds, POINTS]
    losses: Floats  # [methods]

    @property
    def wins(self) -> NDArray[np.bool_]:
        """Whether the row's method is significantly better than the column's, by Wilcoxon's test over seeds with Holm's
        correction."""
        better: NDArray[np.bool_] = (self.summary.holm < LEVEL) & (self.summary.superiority > 0.5)
        return better


@dataclass(frozen=True, slots=True)
class SuiteSummary:
    """Methods over all benchmarks of a suite. ``omitted`` are methods that are not compared, and why.

    ``regret`` and ``rank`` are curves over ``shares`` of the budget with 95 % intervals over seeds; the last point is
    the final one. Ranks are within a seed and a benchmark. ``mean_ranks`` are of another kind: methods are ranked once
    a benchmark, by mean final regret, for the tests over benchmarks (Demšar 2006).
    """

    title: str
    judged_by: str
    methods: tuple[str, ...]
    benchmarks: Sequence[SuiteBenchmark]
    omitted: Mapping[str, str]
    missing: Mapping[str, str]
    shares: Floats
    regret: Mapping[str, MeanBand]
    rank: Mapping[str, MeanBand]
    mean_ranks: Floats  # [methods]
    friedman: Friedman  # NaN for one method
    critical_difference: float  # NaN for one method
    posteriors: Mapping[tuple[str, str], SignedRankPosterior]
    left_out: Floats  # mean ranks without each benchmark [benchmarks, methods]; empty for one benchmark
    sources: Mapping[str, str]  # where runs come from that were not made here, by method

    @property
    def losses(self) -> Floats:
        """Mean final normalised regrets ``[methods, benchmarks]``, infinite where half of the runs or more broke."""
        return np.stack([benchmark.losses for benchmark in self.benchmarks], axis=1)

    @property
    def wins(self) -> NDArray[np.int64]:
        """On how many benchmarks the row's method is significantly better than the column's."""
        counts: NDArray[np.int64] = np.sum([benchmark.wins for benchmark in self.benchmarks], axis=0, dtype=np.int64)
        return counts

    def record(self, first: str, second: str) -> tuple[int, int, int]:
        """On how many benchmarks the first method wins, ties and loses against the second."""
        i, j = self.methods.index(first), self.methods.index(second)
        won, lost = int(self.wins[i, j]), int(self.wins[j, i])
        return won, len(self.benchmarks) - won - lost, lost

    def total_record(self, method: str) -> tuple[int, int, int]:
        """Wins, ties and losses against all others together."""
        records = [self.record(method, other) for other in self.methods if other != method]
        won, tied, lost = (sum(record[k] for record in records) for k in range(3))
        return won, tied, lost

    def seeds(self, method: str) -> tuple[int, int]:
        """The fewest and the most seeds that a method has on a benchmark."""
        counts = [row.seeds for item in self.benchmarks for row in item.summary.methods if row.method == method]
        return min(counts), max(counts)

    @property
    def usual_seeds(self) -> tuple[int, int]:
        """The fewest and the most seeds of most methods."""
        return Counter(map(self.seeds, self.methods)).most_common(1)[0][0]

    def final_regret(self, method: str) -> Interval:
        """The mean final normalised regret over benchmarks."""
        return _last(self.regret[method])

    def final_rank(self, method: str) -> Interval:
        """The mean final rank over seeds and benchmarks."""
        return _last(self.rank[method])

    def standings(self) -> list[str]:
        """The methods by mean rank over benchmarks, the best first; equal ones by mean normalised regret."""
        regrets = {method: self.final_regret(method).estimate for method in self.methods}
        place = dict(zip(self.methods, self.mean_ranks.tolist(), strict=True))

        def order(method: str) -> tuple[float, bool, float]:
            return round(place[method], 9), math.isnan(regrets[method]), regrets[method]

        return sorted(self.methods, key=order)

    @property
    def groups(self) -> list[tuple[str, ...]]:
        """The methods that Nemenyi's test does not tell apart."""
        if not math.isfinite(self.critical_difference):
            return []
        places = cliques(self.mean_ranks, self.critical_difference)
        return [tuple(self.methods[place] for place in group) for group in places]

    def numbers(self) -> dict[str, Any]:
        """The whole summary as plain JSON values."""
        content = {
            "title": self.title,
            "judged_by": self.judged_by,
            "normalised_by": "the median regret of random architectures of the benchmark's space",
            "methods": [self._method_numbers(method) for method in self.standings()],
            "omitted_methods": list(self.omitted),
            "missing_benchmarks": self.missing,
            "friedman": {"statistic": self.friedman.statistic, "p": self.friedman.p},
            "critical_difference": self.critical_difference,
            "groups": self.groups,
            "rope": ROPE,
            "posteriors": [
                {"first": first, "second": second, **posterior._asdict()}
                for (first, second), posterior in self.posteriors.items()
            ],
            "leave_one_out": [
                {"without": benchmark.name, "mean_ranks": dict(zip(self.methods, row.tolist(), strict=True))}
                for benchmark, row in zip(self.benchmarks, self.left_out, strict=False)
            ],
            "shares_of_budget": self.shares,
            "benchmarks": [
                {
                    "name": item.name,
                    "random_regret": item.scale,
                    "normalised_regret": dict(zip(self.methods, item.losses.tolist(), strict=True)),
                    **item.summary.numbers(),
                }
                for item in self.benchmarks
            ],
        }
        numbers: dict[str, Any] = plain(content)
        return numbers

    def _method_numbers(self, method: str) -> dict[str, Any]:
        regret, rank = self.final_regret(method), self.final_rank(method)
        return {
            "method": method,
            "source": self.sources.get(method, ""),
            "normalised_regret": {"estimate": regret.estimate, "low": regret.low, "high": regret.high},
            "mean_rank_over_benchmarks": float(self.mean_ranks[self.methods.index(method)]),
            "mean_rank_over_seeds": {"estimate": rank.estimate, "low": rank.low, "high": rank.high},
            "wins_ties_losses": {other: self.record(method, other) for other in self.methods if other != method},
            "regret_over_budget": {key: getattr(self.regret[method], key) for key in ("mean", "low", "high")},
            "rank_over_budget": {key: getattr(self.rank[method], key) for key in ("mean", "low", "high")},
        }


def summarise_suite(suite: SuiteRuns, rng: np.random.Generator, *, resamples: int = 1000) -> SuiteSummary:
    """Compare methods over all benchmarks of a suite.

    The methods that have runs on every benchmark are compared: by means over the seeds that each has there, by tests on
    the seeds that two of them share, and by ranks over the seeds that all of them have. A method that broke in every
    run did not take part: others are not better for it.

    Args:
        suite: the runs and the benchmarks that judge them.
        rng: draws bootstrap samples and posteriors; the same generator gives the same numbers.
        resamples: how many samples intervals over benchmarks come from.
    """
    present = [part.runs.methods for part in suite.benchmarks]
    methods = tuple(method for method in present[0] if all(method in names for names in present)) if present else ()
    if not methods:
        raise InvalidOption(
            "methods are compared over benchmarks that all have runs of them, got no such method; run one on all"
        )
    omitted = dict.fromkeys(sorted({name for names in present for name in names} - set(methods)), NOT_EVERYWHERE)
    broken = {method: error for method in methods if (error := _only_errors(suite, method))}
    if len(broken) < len(methods):
        methods = tuple(method for method in methods if method not in broken)
        omitted |= {method: f"none of its runs finished, {error}" for method, error in broken.items()}
    benchmarks = [_benchmark(part, methods, rng, by_test=suite.judged_by == "test") for part in suite.benchmarks]
    losses = np.stack([item.losses for item in benchmarks], axis=1)
    ranked = [ranks(item.common) for item in benchmarks]
    several = len(methods) > 1
    return SuiteSummary(
        title=suite.title,
        judged_by=suite.judged_by,
        methods=methods,
        benchmarks=benchmarks,
        omitted=omitted,
        missing=suite.missing,
        shares=_shares(),
        regret={
            method: stratified_mean([_started(item.curves[i]) for item in benchmarks], rng, resamples=resamples)
            for i, method in enumerate(methods)
        },
        rank={
            method: stratified_mean([table[i] for table in ranked], rng, resamples=resamples)
            for i, method in enumerate(methods)
        },
        mean_ranks=ranks(losses).mean(axis=1),
        friedman=friedman(losses) if several else Friedman(math.nan, math.nan),
        critical_difference=critical_difference(len(methods), len(benchmarks)) if several else math.nan,
        posteriors={
            (first, second): signed_rank_posterior(_differences(losses[i], losses[j]), rng, rope=ROPE)
            for (i, first), (j, second) in combinations(enumerate(methods), 2)
        },
        left_out=leave_one_out(losses) if len(benchmarks) > 1 else np.empty((0, len(methods))),
        sources={method: suite.sources[method] for method in methods if method in suite.sources},
    )


def _only_errors(suite: SuiteRuns, method: str) -> str:
    """The first error of a method that broke in every run on every benchmark; empty if one run finished."""
    errors = [run.error for part in suite.benchmarks for run in part.runs.of(method)]
    return errors[0] if all(errors) else ""


def _shares() -> Floats:
    return time_grid(FIRST_SHARE, 1.0, points=POINTS)


def _last(band: MeanBand) -> Interval:
    return Interval(float(band.mean[-1]), float(band.low[-1]), float(band.high[-1]))


def _started(table: Floats) -> Floats:
    """The runs that have a value somewhere: those that broke or found nothing are left out of means."""
    return table[np.isfinite(table).any(axis=1)]


def _differences(first: Floats, second: Floats) -> Floats:
    """Losses of the first minus those of the second; 0 where both are infinite, as both methods failed."""
    both_failed = np.isinf(first) & np.isinf(second)
    return np.where(both_failed, 0.0, first) - np.where(both_failed, 0.0, second)


def _benchmark(
    part: BenchmarkRuns, methods: Sequence[str], rng: np.random.Generator, *, by_test: bool
) -> SuiteBenchmark:
    setup = replace(part.runs.setup, methods=tuple(methods))
    without_costs = [replace(run, others={}) for run in part.runs.runs if run.method in methods]
    runs = replace(part.runs, setup=setup, runs=without_costs)  # a page over a suite shows no trade-offs
    judged = judge(runs.finished, part.benchmark)
    if not by_test:
        judged = replace(judged, judge=None, test_best=math.nan)
    summary = summarise(runs, part.benchmark, rng, judged=judged, stale=part.stale)
    lines = [
        (line, line.test_regret if judged.judge is not None else line.validation_regret)
        for line in judged.trajectories
        if len(line.time_s)
    ]
    if not lines:
        raise InvalidOption(f"no run on {part.name} found an architecture; leave this benchmark out")
    scale = random_regret(part.benchmark, judged, [float(values[0]) for _, values in lines])
    grid = _shares()
    rows = [
        (line, at_times(_share_of_budget(runs, line), normalised(values, scale), grid_s=grid)) for line, values in lines
    ]
    common = by_seed(runs, rows)
    if not common.shape[1]:
        raise InvalidOption(f"the methods on {part.name} have no seed in common; run the same seeds of each")
    curves = [_own_curves(runs, method, rows) for method in methods]
    return SuiteBenchmark(part.name, summary, scale, curves, common, _losses(summary, methods, curves))


def _own_curves(runs: Runs, method: str, rows: Sequence[tuple[Trajectory, Floats]]) -> Floats:
    """``[seeds, places]`` of one method, NaN for a run that broke or found nothing."""
    values = {line.seed: row for line, row in rows if line.method == method}
    return np.stack([values.get(run.seed, np.full(POINTS, np.nan)) for run in runs.of(method)])


def _share_of_budget(runs: Runs, line: Trajectory) -> Floats:
    """When each point of a trajectory was reached: evaluations or seconds, as shares of the budget."""
    budget = Budget.parse(runs.setup.budget)
    if math.isfinite(budget.seconds):
        shares: Floats = line.time_s / budget.seconds
        return shares
    return evaluation_numbers(runs, line) / budget.evaluations


def _losses(summary: ComparisonSummary, methods: Sequence[str], curves: Sequence[Floats]) -> Floats:
    finished = {method.method: 2 * method.finished > method.seeds for method in summary.methods}
    losses = np.full(len(methods), np.inf)
    for i, method in enumerate(methods):
        finals = _started(curves[i])[:, -1]
        if finished[method] and len(finals):
            losses[i] = finals.mean()
    return losses
