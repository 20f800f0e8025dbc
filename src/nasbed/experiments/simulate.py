"""One run on the simulated clock."""

from __future__ import annotations

import heapq
import math
import textwrap
from array import array
from collections.abc import Callable, Sequence
from dataclasses import replace
from time import perf_counter

import numpy as np

from nasbed.benchmarks.base import Benchmark
from nasbed.benchmarks.other_families import of_another_family
from nasbed.core.architecture import Architecture
from nasbed.core.errors import InvalidOption, NasbedError, shorten
from nasbed.core.observation import Observation
from nasbed.core.status import Status
from nasbed.core.tracebacks import whole_traceback, with_place
from nasbed.experiments.budget import UNLIMITED
from nasbed.experiments.budget import Budget as Budget
from nasbed.experiments.runs import MOST_REASONS, Run
from nasbed.experiments.trainings import ContinuedTrainings, SeparateTrainings, SimulatedTraining
from nasbed.optimizers.base import Optimizer, Problem, Proposal

MOST_LETTERS = 300
"""The most letters of a reason; longer ones are cut."""
MOST_FREE = 100_000
"""A run whose budget is in seconds alone ends after this many evaluations in a row that take no time."""


def problem_of(benchmark: Benchmark) -> Problem:
    """The problem of a benchmark, as a method sees it."""
    extra_metrics = tuple(
        metric for metric in benchmark.metrics if metric != benchmark.objective and metric.split != "test"
    )
    return Problem(benchmark.space, benchmark.objective, benchmark.fidelities, extra_metrics)


def no_scoring() -> float:
    """The scoring time of a method without a proxy: zero."""
    return 0.0


def simulate(
    optimizer: Optimizer,
    benchmark: Benchmark,
    *,
    seed: int,
    budget: Budget,
    workers: int = 1,
    charge_thinking: bool = False,
    scoring_s: Callable[[], float] = no_scoring,
    continue_trainings: bool = False,
) -> Run:
    """Let a method search on a benchmark, with its costs in simulated time.

    An evaluation that would end after the budget's last second does not count. Every evaluation is a training of its
    own: an architecture that is proposed twice is trained twice, with another seed. With ``continue_trainings``, a
    higher fidelity continues an earlier training of the architecture, if its result is known by then. That still counts
    as one evaluation. A refused evaluation counts as failed and costs nothing. The run keeps the first reasons, and the
    method's own remarks when it ends.

    Args:
        optimizer: the method.
        benchmark: what evaluates its proposals.
        seed: of the run.
        budget: evaluations or simulated seconds.
        workers: parallel evaluations on the simulated clock.
        charge_thinking: whether the real seconds of ask and tell pass on the simulated clock too. The seed then no
            longer repeats the run exactly.
        scoring_s: returns the seconds spent so far on scores without training. They pass on the simulated clock.
        continue_trainings: whether trainings are paused and continued, see
            :class:`~nasbed.experiments.trainings.ContinuedTrainings`; otherwise each is from scratch.
    """
    if workers < 1:
        raise InvalidOption(f"a run has at least one worker, got {workers}")
    log = _Log(benchmark)
    trainings = ContinuedTrainings(benchmark) if continue_trainings else SeparateTrainings(benchmark)
    running: list[tuple[float, int, float, Proposal, SimulatedTraining]] = []
    meter = _Meter(scoring_s, charge_thinking)
    now, proposed, free_of_cost = 0.0, 0, 0
    error = traceback = ""
    try:
        while True:
            free = min(workers - len(running), budget.evaluations - proposed)
            if free > 0 and now < budget.seconds:
                start = perf_counter()
                proposals = _checked(optimizer.ask(free), free)
                now += meter.passed(start)
                for proposal in proposals:
                    training = _evaluate(trainings, proposal, (seed << 40) + proposed, log)
                    proposed += 1
                    end = now + (training.observation.cost_s or 0.0)
                    heapq.heappush(running, (end, proposed, now, proposal, training))
                if len(running) < workers and proposed < budget.evaluations:
                    continue
            if not running:
                break
            end, _, began, proposal, training = heapq.heappop(running)
            if end > budget.seconds:
                break
            free_of_cost = 0 if end > began else free_of_cost + 1
            if free_of_cost > MOST_FREE and budget.evaluations == UNLIMITED:
                raise InvalidOption(
                    f"a budget in seconds needs evaluations that take time, got {MOST_FREE} without; give a number of "
                    "evaluations"
                )
            now = max(now, end)
            log.add(proposal, training.observation, began, end)
            trainings.pause(training)
            start = perf_counter()
            optimizer.tell((training.observation,))
            now += meter.passed(start)
        log.add_statements(optimizer, same_model(optimizer, benchmark))
    except Exception as problem:
        # a method's own failure must not end the other runs: whatever it is, it becomes this run's error
        error, traceback = error_line(problem), whole_traceback(problem)
    name = getattr(optimizer, "name", type(optimizer).__name__)
    return replace(log.run(name, seed, error, meter), traceback=traceback)


def _checked(proposals: Sequence[Proposal], free: int) -> Sequence[Proposal]:
    """What a method was asked for. Raises where it is anything else, as it may be of a user's own method."""
    if not isinstance(proposals, Sequence) or not all(map(_is_proposal, proposals)):
        raise InvalidOption(
            f"ask returns a list of proposals, got {shorten(proposals)}; return [nasbed.Proposal(architecture)]"
        )
    if not 0 < len(proposals) <= free:
        raise InvalidOption(f"ask({free}) gives 1 to {free} proposals, got {len(proposals)}")
    return proposals


def _is_proposal(item: object) -> bool:
    return isinstance(item, Proposal) and isinstance(item.architecture, Architecture)


def same_model(optimizer: Optimizer, benchmark: Benchmark) -> list[str]:
    """A remark if a method's own model is of the family that predicts the benchmark's answers (Surrogate NAS
    Benchmarks, section 6), with a surrogate of another family if one is present."""
    family = benchmark.model_family
    if not family or optimizer.own_model != family:
        return []
    others = of_another_family(benchmark)
    if others:
        name, other_family = next(iter(others.items()))
        advice = f"{name} is present ({other_family})"
    else:
        advice = "a graph network, gin" if family == "trees" else "trees, lgb or xgb"
    return [
        f"Its own model is of the family that predicts here, {family}, which may flatter it; compare on a surrogate of "
        f"another family as well: {advice}."
    ]


def error_line(error: Exception) -> str:
    """The error of a broken run in one line: the exception, and the line of the user's file that raised it."""
    text = " ".join(f"{type(error).__name__}: {error}".split()).removesuffix(":")
    return with_place(text if len(text) <= MOST_LETTERS else f"{text[: MOST_LETTERS - 2]} …", error)


def _evaluate(trainings: SeparateTrainings, proposal: Proposal, seed: int, log: _Log) -> SimulatedTraining:
    try:
        return trainings.evaluate(proposal, seed=seed)
    except NasbedError as refusal:
        log.add_refusal(str(refusal))
        failed = Observation(proposal.architecture, fidelity=proposal.fidelity, cost_s=0.0, status=Status.FAILED)
        return SimulatedTraining(failed, proposal.fidelity or 0, seed, 0.0)


class _Meter:
    """The time of a method other than for evaluations: real seconds of thinking, recorded seconds of scoring."""

    def __init__(self, scoring_s: Callable[[], float], charge_thinking: bool) -> None:
        self._scoring_s = scoring_s
        self._charge_thinking = charge_thinking
        self.thinking = self.scoring = 0.0

    def passed(self, start: float) -> float:
        """The simulated seconds of a call that began at ``start`` and ends now."""
        spent = perf_counter() - start
        old_scoring, self.scoring = self.scoring, self._scoring_s()
        self.thinking += spent
        return self.scoring - old_scoring + (spent if self._charge_thinking else 0.0)


class _Log:
    """The evaluations so far, as growing columns."""

    def __init__(self, benchmark: Benchmark) -> None:
        self._space = benchmark.space
        self._top_fidelity = benchmark.fidelities[-1]
        self._objective = benchmark.objective
        self._codes: list[tuple[int, ...]] = []
        self._fidelity, self._status = array("q"), array("b")
        self._value, self._start_s, self._end_s = array("d"), array("d"), array("d")
        self._extra_columns = [(metric, array("d")) for metric in problem_of(benchmark).others]
        self._refusals: list[str] = []
        self._random_start: int | None = None
        self._remarks: tuple[str, ...] = ()

    def add_refusal(self, reason: str) -> None:
        """Keep the reason of a refused evaluation, if it is new and one of the first."""
        reason = textwrap.shorten(reason, MOST_LETTERS, placeholder=" …")
        if len(self._refusals) < MOST_REASONS and reason not in self._refusals:
            self._refusals.append(reason)

    def add_statements(self, optimizer: Optimizer, more: Sequence[str]) -> None:
        """Keep the method's own remarks, and more about it on this benchmark."""
        remarks = optimizer.remarks()
        sentences = [*((remarks,) if isinstance(remarks, str) else remarks), *more]
        self._remarks = tuple(textwrap.shorten(str(sentence), 300, placeholder=" …") for sentence in sentences)
        start = optimizer.random_start
        self._random_start = None if start is None else int(start)

    def add(self, proposal: Proposal, observation: Observation, start: float, end: float) -> None:
        values = observation.values
        inside = observation.status is not Status.FAILED or self._is_inside(proposal.architecture)
        self._codes.append(proposal.architecture.code if inside else (-1,) * self._space.code_length)
        self._fidelity.append(self._top_fidelity if proposal.fidelity is None else proposal.fidelity)
        self._status.append(observation.status.number)
        self._value.append(values.get(self._objective, math.nan) if observation.status is Status.OK else math.nan)
        self._start_s.append(start)
        self._end_s.append(end)
        for metric, column in self._extra_columns:
            column.append(values.get(metric, math.nan))

    def _is_inside(self, arch: Architecture) -> bool:
        try:
            self._space.validate(arch)
        except NasbedError:
            return False
        return True

    def run(self, method: str, seed: int, error: str, meter: _Meter) -> Run:
        return Run(
            method=method,
            seed=seed,
            codes=np.array(self._codes, dtype=np.int64).reshape(len(self._codes), self._space.code_length),
            fidelity=np.array(self._fidelity, dtype=np.int64),
            value=np.array(self._value, dtype=np.float64),
            status=np.array(self._status, dtype=np.int8),
            start_s=np.array(self._start_s, dtype=np.float64),
            end_s=np.array(self._end_s, dtype=np.float64),
            others={metric.key: np.array(column, dtype=np.float64) for metric, column in self._extra_columns},
            error=error,
            thinking_s=meter.thinking,
            scoring_s=meter.scoring,
            refusals=tuple(self._refusals),
            random_start=self._random_start,
            remarks=self._remarks,
        )
