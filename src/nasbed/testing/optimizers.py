"""The rules of every search method. Only plain ``assert`` is needed, no test framework."""

from __future__ import annotations

import math
import random
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from functools import cache
from types import FrameType
from typing import Any

import numpy as np

from nasbed.benchmarks.base import Benchmark
from nasbed.core.architecture import Architecture
from nasbed.core.metric import Metric
from nasbed.core.observation import Observation
from nasbed.core.status import Status
from nasbed.optimizers.base import Optimizer, Problem, Proposal
from nasbed.spaces import SearchSpace, space
from nasbed.spaces.from_configspace import space_from_configspace

ACCURACY = Metric("accuracy", split="validation", unit="%", bounds=(0, 100))
TEST_ACCURACY = Metric("accuracy", split="test", unit="%", bounds=(0, 100))
PARAMETERS = Metric("parameters", direction="minimize", bounds=(0, math.inf))
FIDELITIES = (4, 12, 36)
OUTSTANDING = 7
LINES_PER_EVALUATION = 5_000
"""About ten times what the slowest method without a model needs here; as time, about a millisecond."""

Answer = Callable[[Proposal], Observation]


class OptimizerConformance(ABC):
    """The rules of :class:`~nasbed.optimizers.Optimizer`, as test methods over one method of search.

    ``make_optimizer`` chooses settings with which the random start ends well before ``evaluations``. ``model_free``
    says that the method fits no model, and so must be fast.
    """

    evaluations = 40
    model_free = False

    @abstractmethod
    def make_optimizer(self, problem: Problem, rng: np.random.Generator) -> Optimizer:
        """The method under test."""

    def run(self, space: SearchSpace, answer: Answer, *, count: int = 0, outstanding: int = 1) -> list[Proposal]:
        """The proposals of ``count`` evaluations; with several outstanding, the answers come in random order."""
        problem = problem_on(space)
        optimizer = self.make_optimizer(problem, np.random.default_rng(3))
        order = np.random.default_rng(4)
        proposed: list[Proposal] = []
        running: list[Proposal] = []
        while len(proposed) < (count or self.evaluations):
            while len(running) < outstanding:
                free = outstanding - len(running)
                proposals = optimizer.ask(free)
                assert 1 <= len(proposals) <= free
                for proposal in proposals:
                    space.validate(proposal.architecture)
                    assert proposal.fidelity is None or proposal.fidelity in problem.fidelities
                proposed += proposals
                running += proposals
            completed = running.pop(int(order.integers(len(running))))
            optimizer.tell((answer(completed),))
        return proposed

    def test_proposals_are_valid_on_cells_chains_and_conditions(self) -> None:
        for search_space in spaces():
            self.run(search_space, measured)

    def test_answers_may_come_in_any_order(self) -> None:
        for small_space in small_spaces():
            self.run(small_space, measured, outstanding=OUTSTANDING)

    def test_several_answers_may_come_at_once_or_none(self) -> None:
        for small_space in small_spaces():
            optimizer = self.make_optimizer(problem_on(small_space), np.random.default_rng(0))
            for _ in range(math.ceil(self.evaluations / OUTSTANDING)):
                proposals = optimizer.ask(OUTSTANDING)
                assert 1 <= len(proposals) <= OUTSTANDING
                optimizer.tell([measured(proposal) for proposal in reversed(proposals)])
                optimizer.tell(())

    def test_the_same_generator_gives_the_same_proposals(self) -> None:
        """Proposals do not depend on numpy's and Python's global generators."""
        for small_space in small_spaces():
            _seed_globally(1)
            first = self.run(small_space, measured, outstanding=3)
            _seed_globally(2)
            assert self.run(small_space, measured, outstanding=3) == first

    def test_failures_do_not_stop_it(self) -> None:
        for small_space in small_spaces():
            self.run(small_space, lambda proposal: _failed_observation(proposal, Status.FAILED), outstanding=3)

    def test_divergence_does_not_stop_it(self) -> None:
        for small_space in small_spaces():
            self.run(small_space, lambda proposal: _failed_observation(proposal, Status.DIVERGED), outstanding=3)

    def test_some_failures_do_not_stop_it(self) -> None:
        for small_space in small_spaces():
            self.run(small_space, _every_third_fails, outstanding=3)

    def test_equal_values_do_not_stop_it(self) -> None:
        for small_space in small_spaces():
            self.run(small_space, lambda proposal: _observation(proposal, 50.0, 1000.0), outstanding=3)

    def test_test_results_are_neither_reached_nor_used(self) -> None:
        """It holds no benchmark, and would propose the same if observations carried test results and these changed."""
        problem = problem_on(space("nb201"))
        optimizer = self.make_optimizer(problem, np.random.default_rng(0))
        assert not any(isinstance(value, Benchmark) for value in vars(optimizer).values())
        assert self.run(problem.space, _answer_with_test(1.0)) == self.run(problem.space, _answer_with_test(-1.0))

    def test_a_start_that_it_is_given_is_taken_up(self) -> None:
        """It proposes exactly these architectures, learns their results, and continues with its own proposals."""
        for small_space in small_spaces():
            problem = problem_on(small_space)
            optimizer = self.make_optimizer(problem, np.random.default_rng(0))
            start_rng = np.random.default_rng(1)
            count = 6 if optimizer.start_size is None else min(6, optimizer.start_size)
            start = list(dict.fromkeys(small_space.sample(start_rng) for _ in range(count)))
            proposals = [optimizer.begin_with(arch) for arch in start]
            assert [proposal.architecture for proposal in proposals] == start
            for proposal in proposals:
                assert proposal.fidelity is None or proposal.fidelity in problem.fidelities
                optimizer.tell((measured(proposal),))
            for _ in range(10):
                for proposal in optimizer.ask(2):
                    small_space.validate(proposal.architecture)
                    optimizer.tell((measured(proposal),))

    def test_two_runs_share_nothing(self) -> None:
        problem = problem_on(space("nb201"))
        alone = self.run(problem.space, measured)
        second = self.make_optimizer(problem, np.random.default_rng(5))
        second.tell([measured(proposal) for proposal in second.ask(3)])
        assert self.run(problem.space, measured) == alone

    def test_a_method_without_a_model_is_cheap(self) -> None:
        """An evaluation takes a bounded number of lines of Python, the space's own among them."""
        if self.model_free:
            optimizer = self.make_optimizer(problem_on(space("nb201")), np.random.default_rng(3))
            assert lines_run(lambda: _evaluate(optimizer, 400)) < 400 * LINES_PER_EVALUATION

    def test_a_method_without_a_model_does_not_go_over_its_history(self) -> None:
        """After 3000 answers an evaluation takes about as many lines of Python as after 500."""
        if self.model_free:
            assert self._lines_after(3_000) < 1.5 * self._lines_after(500)

    def _lines_after(self, history: int) -> int:
        """The lines of Python that 40 evaluations take after this many answers."""
        large, rng = space("fbnet"), np.random.default_rng(0)
        optimizer = self.make_optimizer(problem_on(large), rng)
        optimizer.tell([measured(Proposal(large.sample(rng))) for _ in range(history)])
        return lines_run(lambda: _evaluate(optimizer, 40))

    def test_it_says_what_it_is(self) -> None:
        optimizer = self.make_optimizer(problem_on(space("nb201")), np.random.default_rng(0))
        assert optimizer.name and "\n" not in optimizer.summary and optimizer.summary


def _seed_globally(seed: int) -> None:
    random.seed(seed)
    np.random.seed(seed)


def _evaluate(optimizer: Optimizer, count: int) -> None:
    for _ in range(count):
        optimizer.tell([measured(proposal) for proposal in optimizer.ask()])


def lines_run(call: Callable[[], object]) -> int:
    """How many lines of Python a call runs, counting every iteration of a loop; a call into numpy counts as one line.
    Unlike the time, the count is the same on every machine, however busy."""
    count = 0

    def trace(frame: FrameType, event: str, argument: Any) -> Any:
        nonlocal count
        count += event == "line"
        return trace

    old_trace = sys.gettrace()
    sys.settrace(trace)
    try:
        call()
    finally:
        sys.settrace(old_trace)
    return count


def problem_on(space: SearchSpace) -> Problem:
    """A problem with three fidelities and two objectives."""
    return Problem(space, ACCURACY, FIDELITIES, (PARAMETERS,))


@cache
def conditional_space() -> SearchSpace:
    """A space of 14 architectures, with a condition, an order and a forbidden clause."""
    from ConfigSpace import (
        ConfigurationSpace,
        EqualsCondition,
        ForbiddenAndConjunction,
        ForbiddenEqualsClause,
        OrdinalHyperparameter,
    )

    source = ConfigurationSpace({"block": ["conv", "pool", "skip"], "depth": [1, 2, 3]})
    source.add(kernel := OrdinalHyperparameter("kernel", [1, 3, 5]))
    source.add(EqualsCondition(kernel, source["block"], "conv"))
    clauses = ForbiddenEqualsClause(source["block"], "skip"), ForbiddenEqualsClause(source["depth"], 3)
    source.add(ForbiddenAndConjunction(*clauses))
    return space_from_configspace(source, "conditional")


def spaces() -> Iterator[SearchSpace]:
    """One of each kind: one cell, two cells, a chain of layers, and one with conditions."""
    yield from map(space, ("nb201", "darts", "fbnet"))
    yield conditional_space()


def small_spaces() -> Iterator[SearchSpace]:
    """For rules about the order and the kind of answers: a space with more architectures than a run evaluates, and one
    with fewer."""
    yield space("nb201")
    yield conditional_space()


def measured(proposal: Proposal) -> Observation:
    """A smooth landscape: low entries of the code are better and cost more."""
    total, worst = _code_sum(proposal.architecture), 8 * len(proposal.architecture.code)
    fidelity = proposal.fidelity or FIDELITIES[-1]
    return _observation(proposal, 90.0 * (1 - total / worst) * fidelity / FIDELITIES[-1], 1e6 / (1 + total))


def _code_sum(arch: Architecture) -> int:
    return sum(entry % 8 for entry in arch.code if entry >= 0)


def _observation(proposal: Proposal, accuracy: float, parameters: float) -> Observation:
    values = {ACCURACY: accuracy, PARAMETERS: parameters}
    return Observation(proposal.architecture, values, proposal.fidelity or FIDELITIES[-1], seed=0, cost_s=1.0)


def _failed_observation(proposal: Proposal, status: Status) -> Observation:
    return Observation(proposal.architecture, fidelity=proposal.fidelity, cost_s=0.0, status=status)


def _every_third_fails(proposal: Proposal) -> Observation:
    remainder = _code_sum(proposal.architecture) % 6
    if remainder < 2:
        return _failed_observation(proposal, (Status.FAILED, Status.DIVERGED)[remainder])
    return measured(proposal)


def _answer_with_test(sign: float) -> Answer:
    def answer(proposal: Proposal) -> Observation:
        observation = measured(proposal)
        values = {**observation.values, TEST_ACCURACY: 50 + sign * (observation["validation_accuracy"] / 4)}
        return Observation(proposal.architecture, values, observation.fidelity, seed=0, cost_s=1.0)

    return answer
