"""The case study of the Surrogate NAS Benchmarks (section 4, figure 6): local search against others, early and late.

White et al. ran it for 10⁶ s on the DARTS space with poor results. With a budget ten times as long, it went from the
worst method, behind random search, to one of the best. This holds on the surrogate and with real training.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from nasbed.benchmarks.catalog import load
from nasbed.core.errors import InvalidOption
from nasbed.core.execution import Engine
from nasbed.core.metric import Metric
from nasbed.evaluation.anytime import Anytime, Floats, anytime, regret_of
from nasbed.evaluation.judging import Trajectory, judge
from nasbed.evaluation.ranks import mean_ranks
from nasbed.evaluation.remarks import Remark, failed_evaluations, run_remarks
from nasbed.evaluation.significance import Interval, bootstrap_interval, holm, wilcoxon
from nasbed.evaluation.trajectories import at_times, time_grid
from nasbed.experiments.budget import Budget
from nasbed.experiments.compare import compare
from nasbed.experiments.named_methods import short_name
from nasbed.experiments.runs import Runs

SUBJECT = "ls"
RIVALS = ("rs", "re", "bananas")
SHARES = (0.01, 0.03, 0.1, 0.3, 1.0)
"""The shares of the budget at which methods are compared."""
EARLY = 0.1
"""The share at which the first study stopped: an order of magnitude before the second."""
LEVEL = 0.05
GRID = 200


@dataclass(frozen=True, slots=True)
class BudgetComparison:
    """All methods after a share of the budget: mean regrets and mean ranks over seeds with 95 % bootstrap intervals.
    Wilcoxon's test compares local search with each other method; Holm's method corrects for their number."""

    share: float
    at: float  # evaluations or simulated seconds
    regrets: Mapping[str, Interval]
    ranks: Mapping[str, Interval]
    p: Mapping[str, float]

    @property
    def order(self) -> list[str]:
        """The methods by mean regret, best first."""
        return sorted(self.regrets, key=lambda method: self.regrets[method].estimate)

    @property
    def place(self) -> int:
        """The rank of local search by mean regret, 1 the best."""
        return self.order.index(SUBJECT) + 1

    @property
    def beaten(self) -> list[str]:
        """The methods that local search is significantly better than."""
        return [method for method, p in self.p.items() if p < LEVEL and self._lead(method) > 0]

    @property
    def better(self) -> list[str]:
        """The methods that are significantly better than local search."""
        return [method for method, p in self.p.items() if p < LEVEL and self._lead(method) < 0]

    def _lead(self, method: str) -> float:
        return self.ranks[method].estimate - self.ranks[SUBJECT].estimate


@dataclass(frozen=True, slots=True)
class LocalSearchStudy:
    """``passes`` has, per other method, from where on the mean regret of local search is lower; infinite for never."""

    benchmark: str
    metric: Metric
    best: float
    seeds: int
    budget: str
    unit: str  # of the moments: evaluations, or s
    early_share: float
    moments: Sequence[BudgetComparison]
    passes: Mapping[str, float]
    over_evaluations: Mapping[str, Anytime]
    over_time: Mapping[str, Anytime]
    errors: Mapping[str, str]  # by run: what broke it
    failed: tuple[int, int] = (0, 0)  # evaluations, of how many
    remarks: Sequence[Remark] = ()

    @property
    def early(self) -> BudgetComparison:
        """The first moment from the early share of the budget on."""
        return next(moment for moment in self.moments if moment.share >= self.early_share)

    @property
    def late(self) -> BudgetComparison:
        return self.moments[-1]

    @property
    def can_tell(self) -> bool:
        """Whether there are enough seeds for any difference to be significant."""
        return 2.0 ** (1 - self.seeds) * len(self.late.p) < LEVEL


def local_search_study(
    benchmark: str,
    *,
    rivals: Sequence[str] = RIVALS,
    seeds: int = 20,
    budget: str = "1500ev",
    early: float = EARLY,
    out: str | Path,
    engine: Engine | None = None,
    progress: Callable[[str, int, str], None] | None = None,
) -> LocalSearchStudy:
    """Run local search and its rivals, and compare them early and late.

    Args:
        benchmark: an id or a path.
        rivals: the other methods, by id.
        seeds: runs per method.
        budget: per run, such as ``1500ev`` or ``1e6s``.
        early: the share of the budget that counts as early.
        out: the folder of the runs; a stored run is not repeated.
        engine: carries out the runs.
        progress: as for :func:`~nasbed.experiments.compare.compare`.
    """
    out = Path(out)
    limit = Budget.parse(budget)
    if not 0 < early < 1:
        raise InvalidOption(f"early is a share of the budget above 0 and below 1, got {early:g}; 0.1 is the paper's")
    methods = list(dict.fromkeys([SUBJECT, *rivals]))
    if len(methods) < 2:
        raise InvalidOption(f"local search is compared with at least 1 other method, got {', '.join(rivals) or 'none'}")
    table = load(benchmark)
    all_runs = compare(benchmark, methods, seeds=seeds, budget=budget, out=out, engine=engine, progress=progress)
    names = [short_name(method) for method in methods]
    selection = [run for run in all_runs.runs if run.method in names and run.seed < seeds]
    errors = {f"{run.method}, seed {run.seed}": run.error for run in selection if run.error}
    runs = Runs(all_runs.setup, [run for run in selection if not run.error])
    judged = judge(runs, table)
    over_time = {name: judged.of(name) for name in names}
    over_evaluations = {name: by_evaluation(judged.of(name), runs) for name in names}
    by_count = limit.seconds == np.inf
    moments, passes = compare_moments(
        over_evaluations if by_count else over_time,
        float(limit.evaluations if by_count else limit.seconds),
        np.random.default_rng(0),
        shares=sorted({*SHARES, early}),
    )
    return LocalSearchStudy(
        benchmark=table.name,
        metric=judged.judge or runs.setup.objective,
        best=judged.test_best if judged.judge is not None else judged.validation_best,
        seeds=seeds,
        budget=budget,
        unit="evaluations" if by_count else "s",
        early_share=early,
        moments=moments,
        passes=passes,
        over_evaluations={name: anytime(own) for name, own in over_evaluations.items()},
        over_time={name: anytime(own) for name, own in over_time.items()},
        errors=errors,
        failed=failed_evaluations(selection),
        remarks=run_remarks(Runs(all_runs.setup, selection), table, names),
    )


def by_evaluation(trajectories: Sequence[Trajectory], runs: Runs) -> list[Trajectory]:
    """The same trajectories over the number of evaluations in place of time."""
    lengths = {(run.method, run.seed): len(run) for run in runs.runs}
    by_number = []
    for line in trajectories:
        total = lengths[line.method, line.seed]
        by_number.append(replace(line, time_s=np.arange(total - len(line.time_s) + 1, total + 1, dtype=np.float64)))
    return by_number


def compare_moments(
    trajectories: Mapping[str, Sequence[Trajectory]],
    budget: float,
    rng: np.random.Generator,
    *,
    shares: Sequence[float] = SHARES,
) -> tuple[list[BudgetComparison], dict[str, float]]:
    """The moments from the first at which every run has a value, and from where on local search passes the others."""
    seeds = sorted(set.intersection(*({line.seed for line in lines} for lines in trajectories.values())))
    if not seeds:
        raise InvalidOption("methods are compared seed by seed, but no seed finished with all of them; see the errors")
    first = max(float(line.time_s[0]) for lines in trajectories.values() for line in lines if line.seed in seeds)
    shares = [share for share in shares if share * budget >= first]
    if not shares:
        raise InvalidOption(f"every run must find something within the budget, one needs {first:.4g}; raise the budget")
    at = np.array(shares) * budget
    names = list(trajectories)
    losses = _losses(trajectories, seeds, at)
    ranked = mean_ranks(losses, rng)
    moments = []
    for place, share in enumerate(shares):
        regrets = losses[:, :, place]
        subject_regrets = regrets[names.index(SUBJECT)]
        rivals = [name for name in names if name != SUBJECT]
        corrected = holm([wilcoxon(subject_regrets, regrets[names.index(name)]) for name in rivals])
        ends = zip(ranked.mean[:, place], ranked.low[:, place], ranked.high[:, place], strict=True)
        moments.append(
            BudgetComparison(
                share=share,
                at=float(at[place]),
                regrets={name: bootstrap_interval(regrets[number], rng) for number, name in enumerate(names)},
                ranks={name: Interval(*map(float, interval)) for name, interval in zip(names, ends, strict=True)},
                p=dict(zip(rivals, corrected.tolist(), strict=True)),
            )
        )
    grid = time_grid(first, budget, points=GRID)
    means = dict(zip(names, _losses(trajectories, seeds, grid).mean(axis=1), strict=True))
    return moments, {name: crossing(grid, means[SUBJECT], means[name]) for name in names if name != SUBJECT}


def crossing(at: Floats, curve: Floats, rival: Floats) -> float:
    """From where on a curve stays below its rival; infinite if it is not below in the end.

    >>> crossing(np.array([1.0, 2.0, 3.0]), np.array([5.0, 4.0, 1.0]), np.array([4.0, 4.0, 2.0]))
    3.0
    """
    behind = np.flatnonzero(curve >= rival)
    if not len(behind):
        return float(at[0])
    return float(at[behind[-1] + 1]) if behind[-1] + 1 < len(at) else float("inf")


def _losses(trajectories: Mapping[str, Sequence[Trajectory]], seeds: Sequence[int], at: Floats) -> Floats:
    """Regrets ``[methods, seeds, places]``."""
    rows = [{line.seed: line for line in lines} for lines in trajectories.values()]
    return np.array([[at_times(row[seed].time_s, regret_of(row[seed]), grid_s=at) for seed in seeds] for row in rows])
