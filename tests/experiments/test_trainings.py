"""Trainings that are paused and continued: what they cost, whose seed they have, and when they may be continued."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nasbed import Architecture, Benchmark, Metric, NasbedError, Observation, Status, space
from nasbed.benchmarks import TabularBenchmark
from nasbed.benchmarks.listed import listed
from nasbed.benchmarks.wrappers import NoiseFree, Restricted
from nasbed.core.execution import SerialEngine
from nasbed.experiments.compare import compare
from nasbed.experiments.runs import Run, load_runs, load_setup
from nasbed.experiments.simulate import Budget, problem_of, simulate
from nasbed.optimizers import Optimizer, Proposal
from nasbed.results import Rows, TableInfo, write_results
from support.commands import run_command
from support.tables import nb201_table

NB201 = space("nb201")
LOSS = Metric("loss", split="validation", direction="minimize")
A, B, C = list(NB201.enumerate())[:3]
COSTS = {
    A: {1: (10.0, 20.0), 3: (25.0, 50.0), 9: (70.0, 140.0)},
    B: {1: (10.0, 10.0), 3: (8.0, 8.0), 9: (30.0, 30.0)},
    C: {1: (5.0, 5.0), 3: (15.0, 15.0), 9: (45.0, 45.0)},
}
"""The seconds of the trainings with seeds 5 and 6, by architecture and epochs. Three epochs of B were measured to be
faster than one. One epoch of C diverged."""


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> TabularBenchmark:
    """The loss of a training is its seed and its epochs: 509 is seed 5 after 9 epochs."""
    batches = []
    for arch, costs in COSTS.items():
        for epochs, seconds in costs.items():
            for seed, cost in zip((5, 6), seconds, strict=True):
                diverged = arch == C and epochs == 1
                batches.append(
                    Rows.of(
                        np.array([arch.code]),
                        {LOSS.key: np.array([np.nan if diverged else 100.0 * seed + epochs])},
                        fidelity=epochs,
                        seed=seed,
                        train_time_s=np.array([cost]),
                        status=np.array([Status.DIVERGED.number if diverged else Status.OK.number], dtype=np.int8),
                    )
                )
    folder = tmp_path_factory.mktemp("small") / "table"
    return TabularBenchmark(write_results(folder, TableInfo("small", "nb201", (LOSS,)), batches))


class Script(Optimizer):
    """Proposes a list, and records what it is told."""

    name, summary = "script", "for tests"

    def __init__(self, benchmark: Benchmark, *proposals: tuple[Architecture, int | None]) -> None:
        super().__init__(problem_of(benchmark), np.random.default_rng(0))
        self.proposals = [Proposal(*proposal) for proposal in proposals]
        self.observations: list[Observation] = []

    def ask(self, n: int = 1) -> list[Proposal]:
        batch, self.proposals = self.proposals[:n], self.proposals[n:]
        return batch

    def tell(self, observations: Sequence[Observation]) -> None:
        self.observations += observations


def follow(benchmark: Benchmark, *proposals: tuple[Architecture, int | None], **options: Any) -> tuple[Run, Script]:
    method = Script(benchmark, *proposals)
    budget = Budget(evaluations=len(proposals))
    run = simulate(method, benchmark, seed=0, budget=budget, continue_trainings=True, **options)
    assert not run.error
    return run, method


def seconds(run: Run) -> list[float]:
    return list(map(float, run.end_s - run.start_s))


def test_continued_training_costs_the_difference_and_keeps_its_seed(small: TabularBenchmark) -> None:
    run, method = follow(small, (A, 1), (A, 3), (A, None))
    seed = int(run.value[0] // 100)
    costs = [COSTS[A][epochs][seed - 5] for epochs in (1, 3, 9)]
    assert run.value.tolist() == [100 * seed + epochs for epochs in (1, 3, 9)]
    assert seconds(run) == [costs[0], costs[1] - costs[0], costs[2] - costs[1]] and run.end_s[-1] == costs[2]
    assert [observation.cost_s for observation in method.observations] == seconds(run)


def test_continued_training_skips_fidelities_and_continues_the_longest_that_is_paused(small: TabularBenchmark) -> None:
    """Nine epochs continue one; of two paused trainings, of three epochs and of one, they continue that of three."""
    run, _ = follow(small, (A, 1), (A, 9))
    seed = int(run.value[0] // 100)
    assert run.end_s[-1] == COSTS[A][9][seed - 5]
    run, _ = follow(small, (A, 3), (A, 1), (A, 9))
    first, second, third = (int(value // 100) for value in run.value)
    assert third == first and seconds(run) == [
        COSTS[A][3][first - 5],
        COSTS[A][1][second - 5],
        COSTS[A][9][first - 5] - COSTS[A][3][first - 5],
    ]


def test_continued_training_is_never_paid_back(small: TabularBenchmark) -> None:
    """Three epochs of B cost less than one: they are free, and nine cost what they cost more than those three."""
    run, _ = follow(small, (B, 1), (B, 3), (B, 9))
    assert seconds(run) == [10, 0, 22]


def test_training_is_continued_once_and_never_backwards(small: TabularBenchmark) -> None:
    run, _ = follow(small, (B, 1), (B, 9), (B, 9), (B, 1), (B, 3))
    assert seconds(run) == [10, 20, 30, 10, 0]


def test_diverged_training_is_not_continued(small: TabularBenchmark) -> None:
    run, _ = follow(small, (C, 1), (C, 3), (C, 9))
    assert seconds(run) == [5, 15, 30] and run.status.tolist() == [Status.DIVERGED.number, 0, 0]


def test_refused_proposal_leaves_a_paused_training_as_it_is(small: TabularBenchmark) -> None:
    run, _ = follow(small, (B, 1), (B, 5), (Architecture("nb201", (9,) * 6), 3), (B, 9))
    assert seconds(run) == [10, 0, 0, 20] and run.status.tolist() == [0, 2, 2, 0]


def test_training_is_continued_only_when_its_result_is_known(small: TabularBenchmark) -> None:
    """Two workers. Nine epochs of B begin with one epoch still running: that is a training of its own."""
    run, _ = follow(small, (B, 1), (B, 9), (B, 3), (B, 9), workers=2)
    assert list(zip(run.fidelity.tolist(), run.start_s.tolist(), run.end_s.tolist(), strict=True)) == [
        (1, 0, 10),
        (3, 10, 10),  # continues the one epoch, for nothing
        (9, 0, 30),
        (9, 10, 32),  # continues the three epochs
    ]


def test_wrappers_continue_trainings_of_what_they_wrap(small: TabularBenchmark) -> None:
    some, whole = Restricted(small, (1, 9)), listed(small)
    for seed in range(8):
        paused = small.query(A, fidelity=1, seed=seed)
        for benchmark in (small, some, whole):
            longer = benchmark.resume(A, paused=paused, fidelity=9, seed=seed)
            assert longer.seed == paused.seed and longer.cost_s == COSTS[A][9][(paused.seed or 0) - 5]
    mean = NoiseFree(small).resume(A, paused=paused, fidelity=9, seed=0)
    assert mean[LOSS] == 559 and mean.cost_s == 105
    with pytest.raises(NasbedError, match="has the fidelities 1, 9, got 3"):
        some.resume(A, paused=paused, fidelity=3, seed=0)


def test_table_without_the_same_seed_at_the_higher_fidelity_answers_as_a_query_does(small: TabularBenchmark) -> None:
    paused = Observation(A, {LOSS: 1.0}, 1, seed=77)
    for seed in range(8):
        assert small.resume(A, paused=paused, fidelity=9, seed=seed) == small.query(A, fidelity=9, seed=seed)


# --- folders of runs -------------------------------------------------------------------------------------------------

COLUMNS = ("codes", "fidelity", "value", "status", "start_s", "end_s")


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(nb201_table(tmp_path_factory.mktemp("continued") / "table", share=0.6).results.folder)


def test_folder_of_a_killed_command_continues_to_the_same_runs(table: str, tmp_path: Path) -> None:
    options: dict[str, Any] = {"seeds": 2, "budget": "4000s", "workers": 3, "engine": SerialEngine()}
    methods = ["asha", "dehb"]
    whole = compare(table, methods, out=tmp_path / "whole", continue_trainings=True, **options)

    class Killed(Exception):
        pass

    def kill_after_two(name: str, seed: int, error: str) -> None:
        if (name, seed) == ("dehb", 0):
            raise Killed

    with pytest.raises(Killed):
        compare(table, methods, out=tmp_path / "killed", continue_trainings=True, progress=kill_after_two, **options)
    assert len(load_runs(tmp_path / "killed").runs) == 2
    completed: list[tuple[str, int]] = []
    resumed = compare(
        table,
        methods,
        out=tmp_path / "killed",
        continue_trainings=True,
        progress=lambda name, seed, error: completed.append((name, seed)),
        **options,
    )
    assert completed == [("asha", 1), ("dehb", 1)] and resumed.setup.continue_trainings
    for method in methods:
        for run, same in zip(whole.of(method), resumed.of(method), strict=True):
            assert not run.error and len(set(run.fidelity.tolist())) > 1
            assert all(np.array_equal(getattr(run, name), getattr(same, name), equal_nan=True) for name in COLUMNS)


def test_folder_holds_runs_of_one_kind_of_trainings(table: str, tmp_path: Path) -> None:
    options: dict[str, Any] = {"seeds": 1, "budget": "5ev", "out": tmp_path, "engine": SerialEngine()}
    compare(table, ["asha"], **options)
    assert load_setup(tmp_path).continue_trainings is False
    with pytest.raises(NasbedError, match="continue_trainings False, not True") as caught:
        compare(table, ["asha"], continue_trainings=True, **options)
    assert "\n" not in str(caught.value)


@pytest.mark.usefixtures("without_charts")
def test_command_and_page_state_that_trainings_are_continued(table: str, tmp_path: Path) -> None:
    out = tmp_path / "continued"
    options = ("--optimizers", "asha,dehb", "--seeds", 1, "--budget", "60ev", "--engine", "serial", "--out", out)
    result = run_command("run", table, *options, "--continue-trainings")
    assert result.returncode == 0, result.stderr
    page = (out / "report.html").read_text()
    assert load_setup(out).continue_trainings
    assert "60ev a run, trainings continued" in page and "continued: an architecture that is proposed" in page
    scratch = compare(table, ["asha", "dehb"], seeds=1, budget="60ev", out=tmp_path / "b", engine=SerialEngine())
    assert not scratch.setup.continue_trainings
    assert sum(run.end_s[-1] for run in load_runs(out).runs) < sum(run.end_s[-1] for run in scratch.runs)


def test_continuing_is_refused_where_there_is_one_fidelity(tmp_path: Path) -> None:
    rows = Rows.of(np.array([A.code]), {LOSS.key: np.array([1.0])}, fidelity=200, seed=0)
    folder = write_results(tmp_path / "table", TableInfo("one", "nb201", (LOSS,)), [rows]).folder
    with pytest.raises(NasbedError, match="one has only 200; omit --continue-trainings"):
        compare(folder, ["asha"], seeds=1, budget="5ev", out=tmp_path / "out", continue_trainings=True)
    assert not (tmp_path / "out").exists()
