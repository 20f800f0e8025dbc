"""The case study of the Surrogate NAS Benchmarks (section 4, figure 6): local search beside others, early and late.

White et al. had run it for 10⁶ s on the DARTS space and found it poor. On the surrogate, and then by real training, it
went from the worst method, behind random search, to one of the best when run ten times as long.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from nasbed.benchmarks.catalog import load
from nasbed.core.errors import InvalidOption
from nasbed.core.execution import Engine
from nasbed.core.metric import Metric
from nasbed.evaluation.anytime import Anytime, anytime, regret_of
from nasbed.evaluation.judging import Trajectory, judge
from nasbed.evaluation.ranks import mean_ranks
from nasbed.evaluation.remarks import Remark, failed_evaluations, run_remarks
from nasbed.evaluation.significance import Interval, bootstrap_interval, holm, wilcoxon
from nasbed.evaluation.trajectories import at_times, time_grid
from nasbed.experiments.compare import compare, short_name
from nasbed.experiments.runs import Runs
from nasbed.experiments.simulate import Budget

Floats = NDArray[np.float64]

SUBJECT = "ls"
RIVALS = ("rs", "re", "bananas")
SHARES = (0.01, 0.03, 0.1, 0.3, 1.0)
"""Of the budget, at which methods are compared."""
EARLY = 0.1
"""The share at which the first study had stopped: an order of magnitude before the second."""
LEVEL = 0.05
GRID = 200


@dataclass(frozen=True, slots=True)
class Moment:
    """All methods after a share of the budget: mean regrets and mean ranks over seeds with 95 % bootstrap intervals,
    and Wilcoxon's test of local search against each other method, corrected by Holm's method for their number."""

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
        """That of local search, 1 the best."""
        return self.order.index(SUBJECT) + 1

    @property
    def beaten(self) -> list[str]:
        """The methods that local search is significantly better than."""
        return [each for each in self.p if self.p[each] < LEVEL and self._lead(each) > 0]

    @property
    def better(self) -> list[str]:
        """The methods that are significantly better than local search."""
        return [each for each in self.p if self.p[each] < LEVEL and self._lead(each) < 0]

    def _lead(self, method: str) -> float:
        return self.ranks[method].estimate - self.ranks[SUBJECT].estimate


@dataclass(frozen=True, slots=True)
class LocalSearchStudy:
    """``passes`` says from where on the mean regret of local search is below another method's: infinite for never."""

    benchmark: str
    metric: Metric
    best: float
    seeds: int
    budget: str
    unit: str  # of the moments: evaluations, or s
    early_share: float
    moments: Sequence[Moment]
    passes: Mapping[str, float]
    over_evaluations: Mapping[str, Anytime]
    over_time: Mapping[str, Anytime]
    errors: Mapping[str, str]  # by run: what broke it
    failed: tuple[int, int] = (0, 0)  # evaluations, of how many
    remarks: Sequence[Remark] = ()

    @property
    def early(self) -> Moment:
        """The first moment from the early share of the budget on."""
        return next(each for each in self.moments if each.share >= self.early_share)

    @property
    def late(self) -> Moment:
        return self.moments[-1]

    @property
    def can_tell(self) -> bool:
        """Whether the test has seeds enough to call any difference significant."""
        return 2.0 ** (1 - self.seeds) * len(self.late.p) < LEVEL


def local_search_study(
    benchmark: str,
    *,
    rivals: Sequence[str] = RIVALS,
    seeds: int = 20,
    budget: str = "1500ev",
    early: float = EARLY,
    out: Path,
    engine: Engine | None = None,
    progress: Callable[[str, int, str], None] | None = None,
) -> LocalSearchStudy:
    """Run local search and its rivals; runs are kept in ``out``, where none is made twice. ``progress`` is that of
    :func:`~nasbed.experiments.compare.compare`."""
    limit = Budget.parse(budget)
    if not 0 < early < 1:
        raise InvalidOption(f"early is a share of the budget above 0 and below 1, got {early:g}; 0.1 is the paper's")
    methods = list(dict.fromkeys([SUBJECT, *rivals]))
    if len(methods) < 2:
        raise InvalidOption(f"local search is compared with at least 1 other method, got {', '.join(rivals) or 'none'}")
    opened = load(benchmark)
    found = compare(benchmark, methods, seeds=seeds, budget=budget, out=out, engine=engine, progress=progress)
    names = [short_name(method) for method in methods]
    chosen = [run for run in found.runs if run.method in names and run.seed < seeds]
    errors = {f"{run.method}, seed {run.seed}": run.error for run in chosen if run.error}
    runs = Runs(found.setup, [run for run in chosen if not run.error])
    judged = judge(runs, opened)
    over_time = {name: judged.of(name) for name in names}
    over_evaluations = {name: numbered(judged.of(name), runs) for name in names}
    counted = limit.seconds == np.inf
    moments, passes = compared(
        over_evaluations if counted else over_time,
        float(limit.evaluations if counted else limit.seconds),
        np.random.default_rng(0),
        shares=sorted({*SHARES, early}),
    )
    return LocalSearchStudy(
        benchmark=opened.name,
        metric=judged.judge or runs.setup.objective,
        best=judged.test_best if judged.judge is not None else judged.validation_best,
        seeds=seeds,
        budget=budget,
        unit="evaluations" if counted else "s",
        early_share=early,
        moments=moments,
        passes=passes,
        over_evaluations={name: anytime(own) for name, own in over_evaluations.items()},
        over_time={name: anytime(own) for name, own in over_time.items()},
        errors=errors,
        failed=failed_evaluations(chosen),
        remarks=run_remarks(Runs(found.setup, chosen), opened, names),
    )


def numbered(trajectories: Sequence[Trajectory], runs: Runs) -> list[Trajectory]:
    """The same with the number of the evaluation for the time."""
    length = {(run.method, run.seed): len(run) for run in runs.runs}
    found = []
    for each in trajectories:
        total = length[each.method, each.seed]
        found.append(replace(each, time_s=np.arange(total - len(each.time_s) + 1, total + 1, dtype=np.float64)))
    return found


def compared(
    trajectories: Mapping[str, Sequence[Trajectory]],
    budget: float,
    rng: np.random.Generator,
    *,
    shares: Sequence[float] = SHARES,
) -> tuple[list[Moment], dict[str, float]]:
    """The moments, without those at which some run has found nothing yet, and where local search passes the others."""
    seeds = sorted(set.intersection(*({each.seed for each in own} for own in trajectories.values())))
    if not seeds:
        raise InvalidOption(
            "methods are compared seed by seed, but no seed ended well with all of them; see the errors"
        )
    first = max(float(each.time_s[0]) for own in trajectories.values() for each in own if each.seed in seeds)
    shares = [share for share in shares if share * budget >= first]
    if not shares:
        raise InvalidOption(f"every run must find something within the budget, one needs {first:.4g}; give more")
    at = np.array(shares) * budget
    names = list(trajectories)
    losses = _losses(trajectories, seeds, at)
    ranked = mean_ranks(losses, rng)
    moments = []
    for place, share in enumerate(shares):
        now = losses[:, :, place]
        own = now[names.index(SUBJECT)]
        rivals = [name for name in names if name != SUBJECT]
        corrected = holm([wilcoxon(own, now[names.index(name)]) for name in rivals])
        ends = zip(ranked.mean[:, place], ranked.low[:, place], ranked.high[:, place], strict=True)
        moments.append(
            Moment(
                share=share,
                at=float(at[place]),
                regrets={name: bootstrap_interval(now[number], rng) for number, name in enumerate(names)},
                ranks={name: Interval(*map(float, each)) for name, each in zip(names, ends, strict=True)},
                p=dict(zip(rivals, corrected.tolist(), strict=True)),
            )
        )
    grid = time_grid(first, budget, points=GRID)
    means = dict(zip(names, _losses(trajectories, seeds, grid).mean(axis=1), strict=True))
    return moments, {name: passed(grid, means[SUBJECT], means[name]) for name in names if name != SUBJECT}


def passed(at: Floats, own: Floats, other: Floats) -> float:
    """From where on one curve lies below another for good; infinite if it does not in the end.

    >>> passed(np.array([1.0, 2.0, 3.0]), np.array([5.0, 4.0, 1.0]), np.array([4.0, 4.0, 2.0]))
    3.0
    """
    behind = np.flatnonzero(own >= other)
    if not len(behind):
        return float(at[0])
    return float(at[behind[-1] + 1]) if behind[-1] + 1 < len(at) else float("inf")


def _losses(trajectories: Mapping[str, Sequence[Trajectory]], seeds: Sequence[int], at: Floats) -> Floats:
    """Regrets ``[methods, seeds, places]``."""
    rows = {name: {each.seed: each for each in own} for name, own in trajectories.items()}
    return np.array(
        [[at_times(own[seed].time_s, regret_of(own[seed]), grid_s=at) for seed in seeds] for own in rows.values()]
    )
