"""Remarks that keep a reader from misreading a comparison, a sentence each.

All remarks are collected here: :data:`ON_METHODS` holds one function for each kind, which looks at the runs of one
method. What a method says about itself (``Optimizer.remarks``, ``Optimizer.random_start``) is stored in its runs.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from nasbed.evaluation.repeats import repeated_share
from nasbed.experiments.budget import Budget

if TYPE_CHECKING:
    from nasbed.benchmarks.base import Benchmark
    from nasbed.experiments.runs import Run, Runs

MOSTLY = 0.5
"""Above this share of repeated evaluations, or of evaluations in its start, a method gets a remark."""
_QUOTED = re.compile("'[^']*'")
"""Reasons that differ in a quoted value alone are one kind, of which the first is shown."""
MOST_FAILED = 0.1
"""A run of which more than this share of evaluations failed is marked."""
SHOWN_REASONS = 3
"""How many different reasons for refused evaluations are shown for a method."""


@dataclass(frozen=True, slots=True)
class Remark:
    """One sentence or two. ``method`` is empty for a remark on the whole comparison."""

    kind: str
    method: str
    text: str


@dataclass(frozen=True, slots=True)
class MethodRuns:
    """The runs of one method, from which its remarks are made."""

    method: str
    runs: Sequence[Run]
    budget: Budget
    settings: Mapping[str, Any]
    top_fidelity: int
    repeated: float
    """The mean share of evaluations that repeat an earlier one of the same run."""

    @property
    def evaluations(self) -> int:
        return sum(run.evaluations for run in self.runs)

    def share(self, count: Callable[[Run], int]) -> float:
        """The share of all evaluations that are counted; 0 without any evaluation."""
        return sum(map(count, self.runs)) / max(self.evaluations, 1)


def remarks_on(runs: Runs, *, repeated: Mapping[str, float], top_fidelity: int, order: Sequence[str]) -> list[Remark]:
    """All remarks on the methods of a set of runs, method by method.

    Args:
        runs: The runs.
        repeated: The mean share of repeated evaluations of each method.
        top_fidelity: The highest fidelity of the benchmark.
        order: The methods in the order in which they are shown.
    """
    budget = Budget.parse(runs.setup.budget)
    remarks: list[Remark] = []
    for method in order:
        group = MethodRuns(
            method, runs.of(method), budget, runs.setup.settings.get(method, {}), top_fidelity, repeated[method]
        )
        remarks += [Remark(kind, method, text) for kind, remark in ON_METHODS.items() for text in remark(group)]
    return remarks


def failed_share(run: Run) -> float:
    """The share of a run's evaluations that failed; 0 for a run without any."""
    return run.failed / run.evaluations if run.evaluations else 0.0


def run_remarks(runs: Runs, benchmark: Benchmark, methods: Sequence[str]) -> list[Remark]:
    """All remarks on the given methods, from their runs and the benchmark alone."""
    shares = {
        method: [repeated_share(run, benchmark.space) for run in runs.of(method) if len(run)] for method in methods
    }
    return remarks_on(
        runs,
        repeated={method: float(np.mean(values)) if values else 0.0 for method, values in shares.items()},
        top_fidelity=benchmark.fidelities[-1],
        order=methods,
    )


def failed_evaluations(runs: Sequence[Run]) -> tuple[int, int]:
    """How many evaluations failed, and of how many."""
    return sum(run.failed for run in runs), sum(run.evaluations for run in runs)


def marked_seeds(runs: Sequence[Run]) -> list[int]:
    """The seeds of the runs in which more than :data:`MOST_FAILED` of the evaluations failed."""
    return [run.seed for run in runs if failed_share(run) > MOST_FAILED]


def _own_statements(group: MethodRuns) -> Iterator[str]:
    for sentence in dict.fromkeys(sentence for run in group.runs for sentence in run.remarks):
        yield f"{group.method}: {sentence}"


def _in_start(group: MethodRuns) -> Iterator[str]:
    """A method is ranked by what it learned only if its runs continue after its start."""
    with_start = [run for run in group.runs if run.random_start is not None and run.evaluations]
    if not with_start:
        return
    start = max(run.random_start or 0 for run in with_start)
    longest = max(run.evaluations for run in with_start)
    guided = "warm_start" in group.settings or "filter" in group.settings
    ranked = "what its proxy chose" if guided else "random search"
    if all(run.evaluations <= (run.random_start or 0) for run in with_start):
        yield (
            f"{group.method} never left its start: it takes {start} evaluations and a run has {longest}. What is "
            f"ranked here is {ranked}."
        )
        return
    share = float(np.mean([min(1.0, (run.random_start or 0) / run.evaluations) for run in with_start]))
    if share > MOSTLY:
        yield f"{group.method} is mostly {ranked}: {percent(share)} of its evaluations are its start of {start}."


def _mixed_fidelities(group: MethodRuns) -> Iterator[str]:
    if np.isfinite(group.budget.seconds):
        return
    lower = group.share(lambda run: run.below(group.top_fidelity))
    if lower > 0:
        yield (
            f"Of the evaluations of {group.method}, {percent(lower)} are below the highest fidelity, "
            f"{group.top_fidelity}, and count as much as full ones in a budget of evaluations: compare it with a "
            "budget in seconds."
        )


def _without_time(group: MethodRuns) -> Iterator[str]:
    if not np.isfinite(group.budget.seconds):
        return
    free = group.share(lambda run: run.free)
    if free > 0:
        yield (
            f"Of the evaluations of {group.method}, {percent(free)} have no time in the benchmark, or add none, and "
            "were free: a budget in seconds does not limit them. Compare with a budget of evaluations."
        )


def _failure_remarks(group: MethodRuns) -> Iterator[str]:
    count, _ = failed_evaluations(group.runs)
    by_kind = {_QUOTED.sub("", reason): reason for run in reversed(group.runs) for reason in reversed(run.refusals)}
    reasons = list(reversed(by_kind.values()))[:SHOWN_REASONS]
    marked = marked_seeds(group.runs)
    if not reasons and not marked:
        return
    text = f"{count} evaluation{'s' if count != 1 else ''} of {group.method} failed"
    if marked:
        text += f", more than {percent(MOST_FAILED)} in {len(marked)} of {len(group.runs)} runs"
    yield f"{text}. The benchmark refused: {' | '.join(reasons)}" if reasons else f"{text}."


def _repeating(group: MethodRuns) -> Iterator[str]:
    if group.repeated > MOSTLY:
        yield (
            f"{group.method} repeats itself: {percent(group.repeated)} of its evaluations are of an architecture that "
            "it had evaluated before."
        )


def percent(share: float) -> str:
    """A share as text, never rounded to zero."""
    return "under 1 %" if 0 < share < 0.01 else f"{100 * share:.0f} %"


ON_METHODS: Mapping[str, Callable[[MethodRuns], Iterator[str]]] = {
    "method": _own_statements,
    "start": _in_start,
    "fidelities": _mixed_fidelities,
    "time": _without_time,
    "failed": _failure_remarks,
    "repeated": _repeating,
}
