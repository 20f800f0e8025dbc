"""A comparison of methods in numbers: one row per method, and which differences are significant."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from nasbed.core.errors import InvalidOption
from nasbed.core.json_values import plain
from nasbed.evaluation.judging import JudgedRuns, Trajectory, judge, unpaired
from nasbed.evaluation.ranks import mean_ranks
from nasbed.evaluation.remarks import SHOWN_REASONS, Remark, failed_evaluations, marked_seeds, remarks_on
from nasbed.evaluation.repeats import repeated_share
from nasbed.evaluation.significance import (
    Interval,
    bootstrap_interval,
    critical_difference,
    friedman,
    pairwise,
    superiority,
)
from nasbed.evaluation.tradeoffs import Tradeoffs, tradeoffs
from nasbed.evaluation.trajectories import area_under_curve
from nasbed.spaces.base import SearchSpace

if TYPE_CHECKING:
    from nasbed.benchmarks.base import Benchmark
    from nasbed.experiments.runs import Run, Runs

LEVEL = 0.05
"""Of significance."""
NOT_KNOWN = float("nan")


@dataclass(frozen=True, slots=True)
class MethodSummary:
    """One method over its seeds. Intervals are 95 % bootstrap intervals over seeds.

    ``errors`` lists the runs that broke. They rank last in ``mean_rank`` and are left out of everything else.

    ``validation_regret`` and ``test_regret`` are the mean regrets of the final incumbents; the medians are separate
    fields. ``mean_rank`` is by final test regret over the seeds that all methods have; by validation regret where the
    benchmark has nothing to judge by. ``area`` is the mean of the same regret over logarithmic time, from the moment at
    which every run has an incumbent until the last run ends; NaN where there is no such span.
    """

    method: str
    seeds: int  # the broken ones included
    errors: Mapping[int, str]  # by seed: what broke a run
    evaluations: float  # mean
    validation_regret: Interval
    validation_regret_median: float
    test_regret: Interval
    test_regret_median: float
    mean_rank: Interval
    time_to_best_s: float  # median over seeds of when the final incumbent was found
    area: Interval
    thinking_s: float  # mean real seconds in the method itself
    repeated: float  # mean share of evaluations of what the run had evaluated before
    hypervolume: Interval  # of ComparisonSummary.second; NaN without one
    failed: int = 0  # evaluations that failed, over all runs
    failed_share: float = 0.0  # of all evaluations
    failed_seeds: Sequence[int] = ()  # the runs that are marked: more than MOST_FAILED of their evaluations failed
    refusals: Sequence[str] = ()  # the first different reasons for which the benchmark refused evaluations
    out_of_date: str = ""  # which stored runs no longer hold, and why; see nasbed.experiments.provenance

    @property
    def finished(self) -> int:
        """How many runs did not break."""
        return self.seeds - len(self.errors)


@dataclass(frozen=True, slots=True)
class ComparisonSummary:
    """All methods of a set of runs. Ranks and tests are about the same final regret as ``MethodSummary.mean_rank``."""

    benchmark: str
    budget: str
    workers: int
    validation_best: float
    test_best: float
    judged_by: str  # the metric of the test regret; a validation metric where there are no test results, or nothing
    unit: str  # of regrets
    methods: Sequence[MethodSummary]
    common_seeds: int  # that all methods have
    paired_seeds: int  # the most that two methods have in common
    p: NDArray[np.float64]  # Wilcoxon, paired by the seeds that two methods have in common [methods, methods]
    holm: NDArray[np.float64]
    superiority: NDArray[np.float64]  # the chance that the row's method ends with less regret than the column's
    friedman_p: float  # NaN for one method
    critical_difference: float  # of mean ranks at 0.05, Nemenyi; NaN for one method
    second: str  # the metric that hypervolumes trade the objective against, or nothing
    reference: tuple[float, float]  # of hypervolumes: the second metric, the validation regret
    best_of_runs: bool = False  # whether the best is only that of these runs
    remarks: Sequence[Remark] = ()  # what a reader should know before reading the numbers

    @property
    def kind(self) -> str:
        """The kind of regret by which methods are compared: test, or validation without test results."""
        return "test" if self.judged_by.startswith("test_") else "validation"

    @property
    def best(self) -> float:
        """The best value, from which that regret is measured."""
        return self.test_best if self.judged_by else self.validation_best

    def regret(self, method: MethodSummary) -> Interval:
        """The mean final regret by which methods are compared."""
        return method.test_regret if self.judged_by else method.validation_regret

    def median(self, method: MethodSummary) -> float:
        """The median of the same regret."""
        return method.test_regret_median if self.judged_by else method.validation_regret_median

    def standings(self) -> list[MethodSummary]:
        """The methods by mean final regret, the best first. Methods that broke in half of their runs or more come last,
        because the mean of the remaining runs says little."""

        def place(method: MethodSummary) -> tuple[bool, bool, float]:
            mean = self.regret(method).estimate
            return math.isnan(mean), 2 * method.finished <= method.seeds, mean

        return sorted(self.methods, key=place)

    def beats(self, method: str) -> list[str]:
        """The methods that it is significantly better than, best first, by Wilcoxon's test with Holm's correction. One
        that broke in every run is not beaten: it did not take part."""
        row = {summary.method: i for i, summary in enumerate(self.methods)}
        better = (self.holm < LEVEL) & (self.superiority > 0.5)
        return [
            summary.method
            for summary in self.standings()
            if summary.finished and better[row[method], row[summary.method]]
        ]

    @property
    def can_tell(self) -> bool:
        """Whether the test has seeds enough to call any difference significant."""
        pairs = len(self.methods) * (len(self.methods) - 1) // 2
        return self.paired_seeds > 0 and 2.0 ** (1 - self.paired_seeds) * pairs < LEVEL

    def broken(self) -> list[tuple[str, str, list[int]]]:
        """The runs that broke, in the order of the standings: method, error, seeds."""
        failures: dict[tuple[str, str], list[int]] = {}
        for summary in self.standings():
            for seed, error in summary.errors.items():
                failures.setdefault((summary.method, error), []).append(seed)
        return [(method, error, seeds) for (method, error), seeds in failures.items()]

    def remarked(self, method: str) -> bool:
        """Whether there is a remark on a method."""
        return any(remark.method == method for remark in self.remarks)

    def numbers(self) -> dict[str, Any]:
        """The whole summary as plain JSON values.

        ``compared_by`` names the regret by which methods are compared: ``test_regret``, or ``mean_validation_regret``
        without test results, or ``validation_regret`` where only the runs' own measurements are known. Fields that do
        not apply are left out.
        """
        numbers: dict[str, Any] = plain(asdict(self))
        kind = "test" if self.kind == "test" else "mean_validation"
        for row in (numbers, *numbers["methods"]):
            for name in ("test_best", "test_regret", "test_regret_median"):
                if name in row:
                    value = row.pop(name)
                    row |= {name.replace("test", kind): value} if self.judged_by else {}
        return {"compared_by": f"{kind}_regret" if self.judged_by else "validation_regret", **numbers}


def summarise(
    runs: Runs,
    benchmark: Benchmark,
    rng: np.random.Generator,
    *,
    judged: JudgedRuns | None = None,
    traded: Tradeoffs | None = None,
    stale: Mapping[str, str] | None = None,
) -> ComparisonSummary:
    """Compare the methods of a set of runs on their benchmark (NAS-Bench-101, section 4.2).

    Args:
        runs: The runs.
        benchmark: The benchmark that they ran on.
        rng: Draws the bootstrap resamples; the same generator gives the same intervals.
        judged: The judged finished runs, for a caller who has them.
        traded: The trade-offs of the finished runs, for a caller who has them.
        stale: Why runs of a method are out of date, by method.
    """
    if not runs.runs:
        raise InvalidOption("a summary is of 1 run or more, got none")
    judged = judged or judge(runs.finished, benchmark)
    traded = traded or tradeoffs(runs.finished, benchmark, best=judged.validation_best)
    losses = _losses(runs, judged)
    has_run = ~np.isnan(losses)
    in_common = losses[:, has_run.all(axis=0)]
    count, common = in_common.shape
    shared = np.triu(has_run.astype(np.int64) @ has_run.T, 1)
    ranked: Sequence[Interval] = [Interval(*[NOT_KNOWN] * 3)] * count
    if common:
        ranks = mean_ranks(in_common, rng)
        ranked = [Interval(*map(float, item)) for item in zip(ranks.mean, ranks.low, ranks.high, strict=True)]
    areas = _areas(judged)
    several = common > 0 and count > 1
    tested = pairwise(losses)
    summary = ComparisonSummary(
        benchmark=runs.setup.benchmark,
        budget=runs.setup.budget,
        workers=runs.setup.workers,
        validation_best=judged.validation_best,
        test_best=judged.test_best,
        judged_by=judged.judge.key if judged.judge is not None else "",
        unit=(judged.judge or runs.setup.objective).unit,
        methods=[
            _method(
                runs.of(method),
                judged.of(method),
                rng,
                mean_rank=rank,
                areas=areas,
                volumes=traded.hypervolumes(method) if traded else {},
                space=benchmark.space,
                out_of_date=(stale or {}).get(method, ""),
            )
            for method, rank in zip(runs.methods, ranked, strict=True)
        ],
        common_seeds=common,
        paired_seeds=int(shared.max()) if count > 1 else common,
        p=tested.p,
        holm=tested.holm,
        superiority=np.array(
            [[superiority(losses_of_row, losses_of_column) for losses_of_column in losses] for losses_of_row in losses]
        ),
        friedman_p=friedman(in_common).p if several else NOT_KNOWN,
        critical_difference=critical_difference(count, common) if several else NOT_KNOWN,
        second=traded.second.key if traded else "",
        reference=traded.reference if traded else (NOT_KNOWN, NOT_KNOWN),
        best_of_runs=judged.best_of_runs,
    )
    outdated = [
        Remark("out of date", item.method, item.out_of_date) for item in summary.standings() if item.out_of_date
    ]
    return replace(summary, remarks=[*outdated, *_too_few_seeds(summary), *_remarks(runs, summary, benchmark)])


def _remarks(runs: Runs, summary: ComparisonSummary, benchmark: Benchmark) -> list[Remark]:
    return remarks_on(
        runs,
        repeated={method.method: method.repeated for method in summary.methods},
        top_fidelity=benchmark.fidelities[-1],
        order=[method.method for method in summary.standings()],
    )


def _too_few_seeds(summary: ComparisonSummary) -> list[Remark]:
    count, pairs = summary.paired_seeds, len(summary.methods) * (len(summary.methods) - 1) // 2
    if not pairs or summary.can_tell:
        return []
    text = (
        f"With {count} seed{'s' if count != 1 else ''} that two methods share and {pairs} "
        f"pair{'s' if pairs != 1 else ''} of methods no difference can be significant, however large: run more seeds."
    )
    return [Remark("seeds", "", text)]


def _losses(runs: Runs, judged: JudgedRuns) -> NDArray[np.float64]:
    """The final regrets ``[methods, seeds]`` of all seeds; infinite for a run that broke or found nothing, so that it
    ranks last, and NaN where a method has no run."""
    final_regret = _final_test if judged.judge is not None else _final_validation
    rows = {method: dict.fromkeys((run.seed for run in runs.of(method)), np.inf) for method in runs.methods}
    for trajectory in judged.trajectories:
        final = final_regret(trajectory)
        rows[trajectory.method][trajectory.seed] = np.inf if math.isnan(final) else final
    return unpaired(rows)


def _method(
    runs: Sequence[Run],
    trajectories: Sequence[Trajectory],
    rng: np.random.Generator,
    *,
    mean_rank: Interval,
    areas: Callable[[Trajectory], float],
    volumes: Mapping[int, float],
    space: SearchSpace,
    out_of_date: str,
) -> MethodSummary:
    """The summary of one method.

    Args:
        runs: The runs of the method.
        trajectories: The judged trajectories of its finished runs.
        rng: Draws the bootstrap resamples.
        mean_rank: Its mean rank over seeds.
        areas: The area under the regret curve of a trajectory.
        volumes: The hypervolumes by seed.
        space: The search space.
        out_of_date: Why its stored runs are out of date; empty if they are not.
    """
    finished = [run for run in runs if not run.error]
    validation = np.array([_final_validation(trajectory) for trajectory in trajectories])
    test = np.array([_final_test(trajectory) for trajectory in trajectories])
    failed, evaluations = failed_evaluations(runs)
    return MethodSummary(
        method=runs[0].method,
        seeds=len(runs),
        errors={run.seed: run.error for run in runs if run.error},
        evaluations=_mean([run.evaluations for run in finished]),
        validation_regret=bootstrap_interval(validation, rng),
        validation_regret_median=_median(validation),
        test_regret=bootstrap_interval(test, rng),
        test_regret_median=_median(test),
        mean_rank=mean_rank,
        time_to_best_s=_median(np.array([_time_to_best(trajectory) for trajectory in trajectories])),
        area=bootstrap_interval([areas(trajectory) for trajectory in trajectories], rng),
        thinking_s=_mean([run.thinking_s for run in finished]),
        repeated=_mean([repeated_share(run, space) for run in finished if run.evaluations]),
        hypervolume=bootstrap_interval([volumes[seed] for seed in sorted(volumes)], rng),
        failed=failed,
        failed_share=failed / max(evaluations, 1),
        failed_seeds=marked_seeds(runs),
        refusals=list(dict.fromkeys(reason for run in runs for reason in run.refusals))[:SHOWN_REASONS],
        out_of_date=out_of_date,
    )


def _areas(judged: JudgedRuns) -> Callable[[Trajectory], float]:
    started = [trajectory for trajectory in judged.trajectories if len(trajectory.time_s)]
    first = max((float(trajectory.time_s[0]) for trajectory in started), default=0.0)
    last = max((float(trajectory.time_s[-1]) for trajectory in started), default=0.0)

    def area(trajectory: Trajectory) -> float:
        if not 0 < first < last or not len(trajectory.time_s):
            return NOT_KNOWN
        curve = trajectory.test_regret if judged.judge is not None else trajectory.validation_regret
        return area_under_curve(trajectory.time_s, curve, first_s=first, last_s=last)

    return area


def _final_validation(trajectory: Trajectory) -> float:
    return float(trajectory.validation_regret[-1]) if len(trajectory.validation_regret) else NOT_KNOWN


def _final_test(trajectory: Trajectory) -> float:
    return float(trajectory.test_regret[-1]) if len(trajectory.test_regret) else NOT_KNOWN


def _time_to_best(trajectory: Trajectory) -> float:
    return (
        float(trajectory.time_s[trajectory.incumbent == trajectory.incumbent[-1]][0])
        if len(trajectory.incumbent)
        else NOT_KNOWN
    )


def _mean(values: Sequence[float]) -> float:
    return float(np.mean(values)) if len(values) else NOT_KNOWN


def _median(values: NDArray[np.float64]) -> float:
    present = values[~np.isnan(values)]
    return float(np.median(present)) if len(present) else NOT_KNOWN
