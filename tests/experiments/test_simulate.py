"""The simulated clock: when evaluations end, what methods receive through ``tell``, and what happens when one breaks."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from nasbed import Architecture, Benchmark, Metric, NasbedError, Observation, Status, space
from nasbed.benchmarks.observations import Observations
from nasbed.experiments import simulate as module
from nasbed.experiments.runs import load_run, save_run
from nasbed.experiments.simulate import Budget, problem_of, simulate
from nasbed.optimizers import Optimizer, Proposal
from nasbed.optimizers.random_search import RandomSearch
from nasbed.spaces.base import Batch

LOSS = Metric("loss", split="validation", direction="minimize")
SIZE = Metric("size", direction="minimize")
NB201 = space("nb201")
ARCHS = list(NB201.enumerate())[:50]


class CountingBenchmark(Benchmark):
    """Answers how many were asked for before, as the seed tells; a first choice of 4 diverges."""

    name, space, metrics, objective, fidelities = "made", NB201, (LOSS, SIZE), LOSS, (1, 9)

    def __init__(self, cost: Callable[[int], float | None] = lambda query: 1.0) -> None:
        self.cost, self.queries = cost, 0

    def _query(self, arch: Architecture, fidelity: int, seed: int) -> Observation:
        self.space.validate(arch)
        self.queries += 1
        status = Status.DIVERGED if arch.code[0] == 4 else Status.OK
        return Observation(
            arch, {LOSS: float(seed % 1000), SIZE: 7.0}, fidelity, seed, self.cost(self.queries - 1), status
        )

    def _query_many(self, archs: Batch, fidelity: int, seed: int) -> Observations:
        raise NotImplementedError

    @property
    def test_metric(self) -> Metric | None:
        return None

    def mean_test(self, archs: Batch) -> NDArray[np.float64]:
        raise NotImplementedError

    def optimum(self) -> tuple[Architecture, float]:
        raise NotImplementedError


class ScriptedOptimizer(Optimizer):
    """Proposes a list, as many at a time as asked for, and records the observations that it receives."""

    name, summary = "scripted", "for tests"

    def __init__(self, benchmark: Benchmark, proposals: Iterator[Proposal] | None = None) -> None:
        super().__init__(problem_of(benchmark), np.random.default_rng(0))
        self.proposals = proposals or (Proposal(ARCHS[i % len(ARCHS)]) for i in range(10**9))
        self.observations: list[Observation] = []

    def ask(self, n: int = 1) -> list[Proposal]:
        return [next(self.proposals) for _ in range(n)]

    def tell(self, observations: Sequence[Observation]) -> None:
        self.observations.extend(observations)


@given(st.integers(1, 40), st.integers(1, 12), st.sampled_from([0.25, 1.0, 64.0]))
def test_simulate_workers_divide_the_time(evaluations: int, workers: int, cost: float) -> None:
    """n evaluations of cost c on W workers end at ceil(n / W) * c exactly, evaluation i at ceil((i + 1) / W) * c."""
    bench = CountingBenchmark(lambda query: cost)
    run = simulate(ScriptedOptimizer(bench), bench, seed=0, budget=Budget(evaluations=evaluations), workers=workers)
    ends = [math.ceil((i + 1) / workers) * cost for i in range(evaluations)]
    assert run.end_s.tolist() == ends and (run.end_s - run.start_s).tolist() == [cost] * evaluations


@given(st.lists(st.integers(1, 9), min_size=1, max_size=30), st.integers(1, 5), st.integers(1, 60))
def test_simulate_is_the_list_scheduling_of_its_costs(costs: list[int], workers: int, seconds: int) -> None:
    """Each evaluation starts on the worker that is free first; those that end in time are reported in order of their end."""
    bench = CountingBenchmark(lambda query: float(costs[query]))
    method = ScriptedOptimizer(bench)
    run = simulate(method, bench, seed=0, budget=Budget(len(costs), float(seconds)), workers=workers)
    free, expected = [0] * workers, []
    for number, cost in enumerate(costs):
        start = min(free)
        if start < seconds:
            free[free.index(start)] = start + cost
            if start + cost <= seconds:
                expected.append((start + cost, number, start))
    expected.sort()
    assert run.end_s.tolist() == [end for end, _, _ in expected]
    assert run.start_s.tolist() == [start for _, _, start in expected]
    assert run.value.tolist() == [number for _, number, _ in expected]
    assert [observation[LOSS.key] for observation in method.observations] == run.value.tolist()


def test_simulate_tells_in_the_order_of_the_clock_not_of_asking() -> None:
    bench = CountingBenchmark(lambda query: [5.0, 1.0, 1.0, 9.0][query])
    run = simulate(ScriptedOptimizer(bench), bench, seed=0, budget=Budget(evaluations=4), workers=2)
    assert run.value.tolist() == [1, 2, 0, 3] and run.end_s.tolist() == [1, 2, 5, 11]


def test_simulate_an_evaluation_that_ends_after_the_last_second_does_not_count() -> None:
    bench = CountingBenchmark(lambda query: 3.0)
    assert simulate(ScriptedOptimizer(bench), bench, seed=0, budget=Budget.parse("9s")).end_s.tolist() == [3, 6, 9]
    assert simulate(ScriptedOptimizer(bench), bench, seed=0, budget=Budget.parse("8.9s")).end_s.tolist() == [3, 6]
    assert len(simulate(ScriptedOptimizer(bench), bench, seed=0, budget=Budget.parse("2s"))) == 0


def test_simulate_refused_proposals_cost_nothing_and_count_as_failed() -> None:
    foreign, outside = Architecture("nb101", (1, 2)), Architecture("nb201", (9,) * 6)
    script = [
        Proposal(foreign),
        Proposal(ARCHS[0]),
        Proposal(outside),
        Proposal(ARCHS[1], fidelity=5),
        Proposal(ARCHS[1]),
    ]
    bench = CountingBenchmark()
    method = ScriptedOptimizer(bench, iter(script))
    run = simulate(method, bench, seed=0, budget=Budget(evaluations=5))
    assert not run.error and run.status.tolist() == [2, 0, 2, 2, 0] and run.end_s.tolist() == [0, 1, 1, 1, 2]
    assert [observation.status for observation in method.observations] == [
        Status.FAILED if number else Status.OK for number in run.status
    ]
    assert np.isnan(run.value[[0, 2, 3]]).all()
    assert run.codes[[0, 2]].tolist() == [[-1] * 6] * 2, "neither is in the space"
    assert run.codes[3].tolist() == list(ARCHS[1].code), "the architecture is, only the fidelity is not"


def test_simulate_keeps_the_first_reasons_of_what_is_refused(tmp_path: Path) -> None:
    """Each reason once, three at most, and again after a round trip through the file."""
    bench = CountingBenchmark()
    fidelities = (5, 5, 6, 1, 7, 8)
    method = ScriptedOptimizer(bench, (Proposal(ARCHS[0], fidelity=fidelity) for fidelity in fidelities))
    run = simulate(method, bench, seed=0, budget=Budget(evaluations=6))
    messages = [f"made has the fidelities 1, 9, got {fidelity}; choose one of them" for fidelity in (5, 6, 7)]
    assert list(run.refusals) == messages and run.status.tolist() == [2, 2, 2, 0, 2, 2]
    save_run(tmp_path, run)
    assert load_run(tmp_path / "scripted-0.npz").refusals == run.refusals


def test_simulate_diverged_evaluations_cost_time_and_have_no_value() -> None:
    bench = CountingBenchmark()
    script = [Proposal(Architecture("nb201", (4, 0, 0, 0, 0, 0))), Proposal(ARCHS[0], fidelity=1)]
    run = simulate(ScriptedOptimizer(bench, iter(script)), bench, seed=0, budget=Budget(evaluations=2))
    assert run.status.tolist() == [1, 0] and np.isnan(run.value[0]) and run.end_s.tolist() == [1, 2]
    assert run.fidelity.tolist() == [9, 1] and run.others["size"].tolist() == [7, 7]


@pytest.mark.parametrize("place", ["ask", "tell"])
def test_simulate_keeps_the_evaluations_of_a_method_that_breaks(place: str) -> None:
    bench = CountingBenchmark()
    method: Any = ScriptedOptimizer(bench)
    original, calls = getattr(method, place), [0]

    def breaking(argument: Any) -> Any:
        calls[0] += 1
        if calls[0] == 4:
            raise ZeroDivisionError("one\ntwo")
        return original(argument)

    setattr(method, place, breaking)
    run = simulate(method, bench, seed=3, budget=Budget(evaluations=10))
    assert run.error.startswith("ZeroDivisionError: ") and "\n" not in run.error
    assert run.end_s.tolist() == ([1, 2, 3] if place == "ask" else [1, 2, 3, 4])


@pytest.mark.parametrize("given_back", [0, 3])
def test_simulate_a_method_gives_between_one_and_as_many_as_asked_for(given_back: int) -> None:
    bench = CountingBenchmark()
    method: Any = ScriptedOptimizer(bench)
    method.ask = lambda n: [Proposal(ARCHS[0])] * given_back
    run = simulate(method, bench, seed=0, budget=Budget(evaluations=10), workers=2)
    assert run.error.startswith("InvalidOption: ") and f"got {given_back}" in run.error and len(run) == 0


def test_simulate_asks_again_while_workers_are_free() -> None:
    query = []

    class SingleProposals(ScriptedOptimizer):
        def ask(self, n: int = 1) -> list[Proposal]:
            query.append(n)
            return super().ask(1)

    bench = CountingBenchmark()
    run = simulate(SingleProposals(bench), bench, seed=0, budget=Budget(evaluations=5), workers=3)
    assert query == [3, 2, 1, 1, 1] and run.end_s.tolist() == [1, 1, 1, 2, 2]


def test_simulate_same_seed_same_bytes(tmp_path: Path) -> None:
    def arrays(seed: int) -> list[bytes]:
        bench = CountingBenchmark(lambda query: 1.0 + query % 7)
        optimizer = RandomSearch(problem_of(bench), np.random.default_rng(seed))
        run = simulate(optimizer, bench, seed=seed, budget=Budget(evaluations=200), workers=3)
        save_run(tmp_path, run)
        reloaded = load_run(tmp_path / f"rs-{seed}.npz")
        columns = [
            (
                observation.codes,
                observation.fidelity,
                observation.value,
                observation.status,
                observation.start_s,
                observation.end_s,
            )
            for observation in (run, reloaded)
        ]
        assert [c.tobytes() for c in columns[0]] == [c.tobytes() for c in columns[1]]
        assert reloaded.others["size"].tobytes() == run.others["size"].tobytes() and reloaded.error == run.error
        return [column.tobytes() for column in columns[0]]

    assert arrays(5) == arrays(5) != arrays(6)


def test_simulate_every_evaluation_is_a_training_of_its_own() -> None:
    bench = CountingBenchmark()
    method = ScriptedOptimizer(bench, (Proposal(ARCHS[0]) for _ in range(9)))
    simulate(method, bench, seed=2, budget=Budget(evaluations=9))
    assert len({observation.seed for observation in method.observations}) == 9
    second = ScriptedOptimizer(bench, (Proposal(ARCHS[0]) for _ in range(9)))
    simulate(second, bench, seed=3, budget=Budget(evaluations=9))
    assert not {observation.seed for observation in method.observations} & {
        observation.seed for observation in second.observations
    }


def test_simulate_charges_thinking_only_on_request() -> None:
    class SlowOptimizer(ScriptedOptimizer):
        def ask(self, n: int = 1) -> list[Proposal]:
            time.sleep(0.01)
            return super().ask(n)

        def tell(self, observations: Sequence[Observation]) -> None:
            time.sleep(0.01)

    bench = CountingBenchmark()
    free = simulate(SlowOptimizer(bench), bench, seed=0, budget=Budget(evaluations=5))
    charged = simulate(SlowOptimizer(bench), bench, seed=0, budget=Budget(evaluations=5), charge_thinking=True)
    assert free.end_s.tolist() == [1, 2, 3, 4, 5] and free.thinking_s >= 0.095
    assert 5.085 <= charged.end_s[-1] <= 5 + charged.thinking_s
    assert (charged.start_s[1:] - charged.end_s[:-1] >= 0.019).all()


def test_simulate_ends_where_nothing_takes_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_FREE", 50)
    bench = CountingBenchmark(lambda query: None)
    assert (
        "needs evaluations that take time"
        in simulate(ScriptedOptimizer(bench), bench, seed=0, budget=Budget(seconds=9.0)).error
    )
    assert len(simulate(ScriptedOptimizer(bench), bench, seed=0, budget=Budget(evaluations=80))) == 80
    with pytest.raises(NasbedError, match="at least one worker"):
        simulate(ScriptedOptimizer(bench), bench, seed=0, budget=Budget(evaluations=1), workers=0)


@pytest.mark.parametrize("text", ["", "5", "ev", "1.5ev", "-3s", "0ev", "infs", "nans", "5 minutes"])
def test_budget_refuses(text: str) -> None:
    with pytest.raises(NasbedError, match="500ev or 1e6s"):
        Budget.parse(text)
