"""A comparison of methods in numbers: one row a method, and which differences are more than luck."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nasbed.benchmarks.base import Benchmark
from nasbed.core.errors import InvalidOption
from nasbed.evaluation.judging import Judged, Trajectory, judge, paired
from nasbed.evaluation.ranks import mean_ranks
from nasbed.evaluation.significance import (
    Interval,
    bootstrap_interval,
    critical_difference,
    friedman,
    pairwise,
    superiority,
)
from nasbed.evaluation.studies.numbers import plain
from nasbed.evaluation.trajectories import area_under_curve
from nasbed.experiments.runs import Run, Runs


@dataclass(frozen=True, slots=True)
class MethodSummary:
    """One method over its seeds. Intervals are 95 % bootstrap intervals over seeds.

    ``validation_regret`` and ``test_regret`` are those of the final incumbents: the interval is of the mean, the
    median stands beside it. ``mean_rank`` is by final test regret (validation regret where nothing is known to judge
    by) over the seeds that all methods have. ``area`` is the mean regret of the same kind over logarithmic time, from
    the moment at which every run has an incumbent to the last end of any; NaN where there is no such span.
    """

    method: str
    seeds: int
    errors: Mapping[int, str]  # by seed: what broke a run, whose evaluations until then count
    evaluations: float  # mean
    validation_regret: Interval
    validation_regret_median: float
    test_regret: Interval
    test_regret_median: float
    mean_rank: Interval
    time_to_best_s: float  # median over seeds of when the final incumbent was found
    area: Interval
    thinking_s: float  # mean real seconds in the method itself


@dataclass(frozen=True, slots=True)
class Summary:
    """All methods of a set of runs. Ranks and tests are about the same final regret as ``MethodSummary.mean_rank``."""

    benchmark: str
    budget: str
    workers: int
    validation_best: float
    test_best: float
    judged_by: str  # the metric of the test regret; a validation metric where there are no test results, or nothing
    methods: Sequence[MethodSummary]
    common_seeds: int
    p: NDArray[np.float64]  # Wilcoxon, paired by seed [methods, methods]
    holm: NDArray[np.float64]
    superiority: NDArray[np.float64]  # the chance that the row's method ends with less regret than the column's
    friedman_p: float  # NaN for one method
    critical_difference: float  # of mean ranks at 0.05, Nemenyi; NaN for one method

    def numbers(self) -> dict[str, Any]:
        """Everything here as JSON has it."""
        found: dict[str, Any] = plain(asdict(self))
        return found


def summarise(runs: Runs, benchmark: Benchmark, rng: np.random.Generator) -> Summary:
    """Compare the methods of a set of runs on their benchmark (NAS-Bench-101, section 4.2).

    The generator is for the bootstrap; the same one gives the same intervals.
    """
    if not runs.runs:
        raise InvalidOption("a summary is of 1 run or more, got none")
    judged = judge(runs, benchmark)
    by = _final_test if judged.judge is not None else _final_validation
    losses = paired({method: {each.seed: by(each) for each in judged.of(method)} for method in runs.methods})
    losses = np.where(np.isnan(losses), np.inf, losses)  # a run that found nothing is behind all others
    count, common = losses.shape
    ranked: Sequence[Interval] = [Interval(*[float("nan")] * 3)] * count
    if common:
        found = mean_ranks(losses, rng)
        ranked = [Interval(*map(float, each)) for each in zip(found.mean, found.low, found.high, strict=True)]
    areas = _areas(judged)
    several = common > 0 and count > 1
    tested = pairwise(losses)
    return Summary(
        benchmark=runs.setup.benchmark,
        budget=runs.setup.budget,
        workers=runs.setup.workers,
        validation_best=judged.validation_best,
        test_best=judged.test_best,
        judged_by=judged.judge.key if judged.judge is not None else "",
        methods=[
            _method(runs.of(method), judged.of(method), rng, mean_rank=rank, areas=areas)
            for method, rank in zip(runs.methods, ranked, strict=True)
        ],
        common_seeds=common,
        p=tested.p,
        holm=tested.holm,
        superiority=np.array([[superiority(one, other) for other in losses] for one in losses]),
        friedman_p=friedman(losses).p if several else float("nan"),
        critical_difference=critical_difference(count, common) if several else float("nan"),
    )


def _method(
    runs: Sequence[Run],
    trajectories: Sequence[Trajectory],
    rng: np.random.Generator,
    *,
    mean_rank: Interval,
    areas: Callable[[Trajectory], float],
) -> MethodSummary:
    validation = np.array([_final_validation(each) for each in trajectories])
    test = np.array([_final_test(each) for each in trajectories])
    return MethodSummary(
        method=runs[0].method,
        seeds=len(runs),
        errors={run.seed: run.error for run in runs if run.error},
        evaluations=float(np.mean([len(run) for run in runs])),
        validation_regret=bootstrap_interval(validation, rng),
        validation_regret_median=_median(validation),
        test_regret=bootstrap_interval(test, rng),
        test_regret_median=_median(test),
        mean_rank=mean_rank,
        time_to_best_s=_median(np.array([_time_to_best(each) for each in trajectories])),
        area=bootstrap_interval([areas(each) for each in trajectories], rng),
        thinking_s=float(np.mean([run.thinking_s for run in runs])),
    )


def _areas(judged: Judged) -> Callable[[Trajectory], float]:
    begun = [each for each in judged.trajectories if len(each.time_s)]
    first = max((float(each.time_s[0]) for each in begun), default=0.0)
    last = max((float(each.time_s[-1]) for each in begun), default=0.0)

    def area(each: Trajectory) -> float:
        if not 0 < first < last or not len(each.time_s):
            return float("nan")
        curve = each.test_regret if judged.judge is not None else each.validation_regret
        return area_under_curve(each.time_s, curve, first_s=first, last_s=last)

    return area


def _final_validation(each: Trajectory) -> float:
    return float(each.validation_regret[-1]) if len(each.validation_regret) else float("nan")


def _final_test(each: Trajectory) -> float:
    return float(each.test_regret[-1]) if len(each.test_regret) else float("nan")


def _time_to_best(each: Trajectory) -> float:
    return float(each.time_s[each.incumbent == each.incumbent[-1]][0]) if len(each.incumbent) else float("nan")


def _median(values: NDArray[np.float64]) -> float:
    present = values[~np.isnan(values)]
    return float(np.median(present)) if len(present) else float("nan")
