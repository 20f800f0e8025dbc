"""A comparison of methods in numbers: one row a method, and which differences are more than luck."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nasbed.benchmarks.base import Benchmark
from nasbed.core.errors import InvalidOption
from nasbed.core.json_values import plain
from nasbed.core.status import FAILED
from nasbed.evaluation.judging import Judged, Trajectory, judge, paired
from nasbed.evaluation.ranks import mean_ranks
from nasbed.evaluation.remarks import Remark, marked_seeds, remarks_on
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
from nasbed.experiments.runs import MOST_REASONS, Run, Runs
from nasbed.spaces.base import SearchSpace

LEVEL = 0.05
"""Of significance."""
NOT_KNOWN = float("nan")


@dataclass(frozen=True, slots=True)
class MethodSummary:
    """One method over its seeds. Intervals are 95 % bootstrap intervals over seeds.

    A run that broke is named in ``errors``, is behind all others in ``mean_rank``, and is left out of all else.

    ``validation_regret`` and ``test_regret`` are those of the final incumbents: the interval is of the mean, the
    median stands beside it. ``mean_rank`` is by final test regret (validation regret where nothing is known to judge
    by) over the seeds that all methods have. ``area`` is the mean regret of the same kind over logarithmic time, from
    the moment at which every run has an incumbent to the last end of any; NaN where there is no such span.
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
    hypervolume: Interval  # of Summary.second; NaN without one
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
class Summary:
    """All methods of a set of runs. Ranks and tests are about the same final regret as ``MethodSummary.mean_rank``."""

    benchmark: str
    budget: str
    workers: int
    validation_best: float
    test_best: float
    judged_by: str  # the metric of the test regret; a validation metric where there are no test results, or nothing
    unit: str  # of regrets
    methods: Sequence[MethodSummary]
    common_seeds: int
    p: NDArray[np.float64]  # Wilcoxon, paired by seed [methods, methods]
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
        """Of the regret by which methods are compared: test, or validation where no test results are known."""
        return "test" if self.judged_by.startswith("test_") else "validation"

    @property
    def best(self) -> float:
        """What that regret is the distance to."""
        return self.test_best if self.judged_by else self.validation_best

    def regret(self, each: MethodSummary) -> Interval:
        """The mean final regret by which methods are compared."""
        return each.test_regret if self.judged_by else each.validation_regret

    def median(self, each: MethodSummary) -> float:
        """The median of the same regret."""
        return each.test_regret_median if self.judged_by else each.validation_regret_median

    def standings(self) -> list[MethodSummary]:
        """The best first: by mean final regret. Those that broke in half of their runs or more come after all others,
        as the mean of the rest says little."""

        def place(each: MethodSummary) -> tuple[bool, bool, float]:
            mean = self.regret(each).estimate
            return math.isnan(mean), 2 * each.finished <= each.seeds, mean

        return sorted(self.methods, key=place)

    def beats(self, method: str) -> list[str]:
        """Which others it is significantly better than, best first: Wilcoxon's test after Holm's correction."""
        row = {each.method: i for i, each in enumerate(self.methods)}
        better = (self.holm < LEVEL) & (self.superiority > 0.5)
        return [each.method for each in self.standings() if better[row[method], row[each.method]]]

    @property
    def can_tell(self) -> bool:
        """Whether the test has seeds enough to call any difference significant."""
        pairs = len(self.methods) * (len(self.methods) - 1) // 2
        return self.common_seeds > 0 and 2.0 ** (1 - self.common_seeds) * pairs < LEVEL

    def broken(self) -> list[tuple[str, str, list[int]]]:
        """The runs that broke, in the order of the standings: method, error, seeds."""
        found: dict[tuple[str, str], list[int]] = {}
        for each in self.standings():
            for seed, error in each.errors.items():
                found.setdefault((each.method, error), []).append(seed)
        return [(method, error, seeds) for (method, error), seeds in found.items()]

    def remarked(self, method: str) -> bool:
        """Whether there is a remark on a method."""
        return any(remark.method == method for remark in self.remarks)

    def numbers(self) -> dict[str, Any]:
        """Everything here as JSON has it. The regret by which methods are compared is called what it is:
        ``compared_by`` names it, ``test_regret``, or ``mean_validation_regret`` where there are no test results, or
        ``validation_regret`` where nothing is known but what the runs measured. What does not apply is not there."""
        found: dict[str, Any] = plain(asdict(self))
        kind = "test" if self.kind == "test" else "mean_validation"
        for row in (found, *found["methods"]):
            for name in ("test_best", "test_regret", "test_regret_median"):
                if name in row:
                    value = row.pop(name)
                    row |= {name.replace("test", kind): value} if self.judged_by else {}
        return {"compared_by": f"{kind}_regret" if self.judged_by else "validation_regret", **found}


def summarise(
    runs: Runs,
    benchmark: Benchmark,
    rng: np.random.Generator,
    *,
    judged: Judged | None = None,
    traded: Tradeoffs | None = None,
    stale: Mapping[str, str] | None = None,
) -> Summary:
    """Compare the methods of a set of runs on their benchmark (NAS-Bench-101, section 4.2).

    The generator is for the bootstrap; the same one gives the same intervals. ``judged`` and ``traded`` are of the
    finished runs, for a caller who has them at hand; ``stale`` says why runs of a method are out of date.
    """
    if not runs.runs:
        raise InvalidOption("a summary is of 1 run or more, got none")
    judged = judged or judge(runs.finished, benchmark)
    traded = traded or tradeoffs(runs.finished, benchmark, best=judged.validation_best)
    losses = _losses(runs, judged)
    count, common = losses.shape
    ranked: Sequence[Interval] = [Interval(*[NOT_KNOWN] * 3)] * count
    if common:
        found = mean_ranks(losses, rng)
        ranked = [Interval(*map(float, each)) for each in zip(found.mean, found.low, found.high, strict=True)]
    areas = _areas(judged)
    several = common > 0 and count > 1
    tested = pairwise(losses)
    summary = Summary(
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
        p=tested.p,
        holm=tested.holm,
        superiority=np.array([[superiority(one, other) for other in losses] for one in losses]),
        friedman_p=friedman(losses).p if several else NOT_KNOWN,
        critical_difference=critical_difference(count, common) if several else NOT_KNOWN,
        second=traded.second.key if traded else "",
        reference=traded.reference if traded else (NOT_KNOWN, NOT_KNOWN),
        best_of_runs=judged.best_of_runs,
    )
    outdated = [
        Remark("out of date", each.method, each.out_of_date) for each in summary.standings() if each.out_of_date
    ]
    return replace(summary, remarks=[*outdated, *_too_few_seeds(summary), *_remarks(runs, summary, benchmark)])


def _remarks(runs: Runs, summary: Summary, benchmark: Benchmark) -> list[Remark]:
    return remarks_on(
        runs,
        repeated={each.method: each.repeated for each in summary.methods},
        top_fidelity=benchmark.fidelities[-1],
        order=[each.method for each in summary.standings()],
    )


def _too_few_seeds(summary: Summary) -> list[Remark]:
    count, pairs = summary.common_seeds, len(summary.methods) * (len(summary.methods) - 1) // 2
    if not pairs or summary.can_tell:
        return []
    text = (
        f"With {count} seed{'s' if count != 1 else ''} that all methods have and {pairs} "
        f"pair{'s' if pairs != 1 else ''} of methods no difference can be significant, however large: run more seeds."
    )
    return [Remark("seeds", "", text)]


def _losses(runs: Runs, judged: Judged) -> NDArray[np.float64]:
    """The final regrets ``[methods, seeds]`` of the seeds that all methods have; infinite, behind all others, for a run
    that broke or found nothing."""
    by = _final_test if judged.judge is not None else _final_validation
    rows = {method: dict.fromkeys((run.seed for run in runs.of(method)), np.inf) for method in runs.methods}
    for each in judged.trajectories:
        rows[each.method][each.seed] = by(each)
    table = paired(rows)
    return np.where(np.isnan(table), np.inf, table)


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
    finished = [run for run in runs if not run.error]
    validation = np.array([_final_validation(each) for each in trajectories])
    test = np.array([_final_test(each) for each in trajectories])
    failed = sum(int((run.status == FAILED).sum()) for run in runs)
    return MethodSummary(
        method=runs[0].method,
        seeds=len(runs),
        errors={run.seed: run.error for run in runs if run.error},
        evaluations=_mean([len(run) for run in finished]),
        validation_regret=bootstrap_interval(validation, rng),
        validation_regret_median=_median(validation),
        test_regret=bootstrap_interval(test, rng),
        test_regret_median=_median(test),
        mean_rank=mean_rank,
        time_to_best_s=_median(np.array([_time_to_best(each) for each in trajectories])),
        area=bootstrap_interval([areas(each) for each in trajectories], rng),
        thinking_s=_mean([run.thinking_s for run in finished]),
        repeated=_mean([repeated_share(run, space) for run in finished if len(run)]),
        hypervolume=bootstrap_interval([volumes[seed] for seed in sorted(volumes)], rng),
        failed=failed,
        failed_share=failed / max(sum(len(run) for run in runs), 1),
        failed_seeds=marked_seeds(runs),
        refusals=list(dict.fromkeys(reason for run in runs for reason in run.refusals))[:MOST_REASONS],
        out_of_date=out_of_date,
    )


def _areas(judged: Judged) -> Callable[[Trajectory], float]:
    begun = [each for each in judged.trajectories if len(each.time_s)]
    first = max((float(each.time_s[0]) for each in begun), default=0.0)
    last = max((float(each.time_s[-1]) for each in begun), default=0.0)

    def area(each: Trajectory) -> float:
        if not 0 < first < last or not len(each.time_s):
            return NOT_KNOWN
        curve = each.test_regret if judged.judge is not None else each.validation_regret
        return area_under_curve(each.time_s, curve, first_s=first, last_s=last)

    return area


def _final_validation(each: Trajectory) -> float:
    return float(each.validation_regret[-1]) if len(each.validation_regret) else NOT_KNOWN


def _final_test(each: Trajectory) -> float:
    return float(each.test_regret[-1]) if len(each.test_regret) else NOT_KNOWN


def _time_to_best(each: Trajectory) -> float:
    return float(each.time_s[each.incumbent == each.incumbent[-1]][0]) if len(each.incumbent) else NOT_KNOWN


def _mean(values: Sequence[float]) -> float:
    return float(np.mean(values)) if len(values) else NOT_KNOWN


def _median(values: NDArray[np.float64]) -> float:
    present = values[~np.isnan(values)]
    return float(np.median(present)) if len(present) else NOT_KNOWN
