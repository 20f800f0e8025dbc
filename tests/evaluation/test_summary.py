"""Runs judged and summarised: methods of known quality on a table of known values."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from nasbed import NasbedError, Observation
from nasbed.benchmarks import NoiseFree, SubSpace, TabularBenchmark
from nasbed.evaluation.judging import best_validation, judge
from nasbed.evaluation.significance import critical_difference
from nasbed.evaluation.summary import summarise
from nasbed.experiments.runs import Run, Runs, Setup
from nasbed.experiments.simulate import Budget, problem_of, simulate
from nasbed.optimizers import Optimizer, Proposal
from nasbed.optimizers.random_search import RandomSearch
from nasbed.spaces.base import Batch
from support.tables import nb201_table


class Thorough(RandomSearch):
    """Knows that the table rewards option 3: a better method."""

    name = "thorough"

    def ask(self, n: int = 1) -> list[Proposal]:
        drawn = [self.space.sample(self.rng) for _ in range(40)]
        return [Proposal(max(drawn, key=lambda arch: sum(code == 3 for code in arch.code)))]


class Breaks(RandomSearch):
    name = "breaks"

    def tell(self, observations: Sequence[Observation]) -> None:
        raise RuntimeError("on purpose")


class Counting(TabularBenchmark):
    judgements = 0

    def mean_test(self, archs: Batch) -> NDArray[np.float64]:
        self.judgements += 1
        return super().mean_test(archs)


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Counting:
    return Counting(nb201_table(tmp_path_factory.mktemp("summary") / "nb201").results)


def search(kind: type[Optimizer], table: TabularBenchmark, seed: int, evaluations: int = 30) -> Run:
    optimizer = kind(problem_of(table), np.random.default_rng([seed, len(kind.name)]))
    return simulate(optimizer, table, seed=seed, budget=Budget(evaluations=evaluations), workers=4)


@pytest.fixture(scope="module")
def runs(table: Counting) -> Runs:
    setup = Setup(table.name, "nb201", table.objective, "30ev", 4, {})
    return Runs(setup, [search(kind, table, seed) for kind in (RandomSearch, Thorough) for seed in range(20)])


def test_judge_regrets_are_the_definition_of_section_2_6(runs: Runs, table: Counting) -> None:
    before = table.judgements
    judged = judge(runs, table)
    assert table.judgements == before + 1
    _, best = table.optimum()
    for run, trajectory in zip(runs.runs, judged.trajectories, strict=True):
        for end in (0, 7, 29):
            incumbent = int(np.argmax(run.value[: end + 1]))
            assert trajectory.incumbent[end] == incumbent and trajectory.time_s[end] == run.end_s[end]
            assert trajectory.test_regret[end] == best - table.mean_test(run.codes[incumbent : incumbent + 1])[0]
        assert (trajectory.test_regret >= 0).all() and (trajectory.validation_regret >= 0).all()
        assert (np.diff(trajectory.validation_regret) <= 0).all()


def test_best_validation_is_the_tables_at_the_fidelities_used(runs: Runs, table: Counting) -> None:
    cells = table.cache.values["validation_accuracy"]
    assert best_validation(runs, table) == cells[:, 1].max() != cells.max()
    low = [replace(run, fidelity=np.full(len(run), 12)) for run in runs.runs]
    assert best_validation(Runs(runs.setup, low), table) == cells[:, 0].max()
    assert best_validation(runs, NoiseFree(table)) == table.cache.mean("validation_accuracy", 200).max()
    part = SubSpace(table, "part", lambda arch: True)
    assert best_validation(runs, part) == max(run.value.max() for run in runs.runs)


def test_summarise_tells_a_better_method_from_a_worse_one(runs: Runs, table: Counting) -> None:
    summary = summarise(runs, table, np.random.default_rng(0))
    worse, better = summary.methods
    assert (worse.method, better.method, worse.seeds, better.seeds) == ("rs", "thorough", 20, 20)
    assert better.test_regret.high < worse.test_regret.low and better.mean_rank.high < worse.mean_rank.low
    assert better.area.estimate < worse.area.estimate
    assert summary.holm[0, 1] < 0.01 and summary.friedman_p < 0.01 and summary.superiority[1, 0] > 0.8
    assert summary.critical_difference == critical_difference(2, 20) and summary.common_seeds == 20
    assert worse.evaluations == 30 and worse.thinking_s > 0 and worse.time_to_best_s > 0
    finals = [judge(runs, table).of("rs")[seed].test_regret[-1] for seed in range(20)]
    assert worse.test_regret.estimate == pytest.approx(np.mean(finals))
    assert worse.test_regret_median == pytest.approx(np.median(finals))


def test_summarise_does_not_depend_on_the_order_of_the_runs(runs: Runs, table: Counting) -> None:
    order = [*range(20)[::-1], *np.random.default_rng(1).permutation(np.arange(20, 40))]
    repeated = Runs(runs.setup, [runs.runs[position] for position in order])
    first, second = (summarise(order, table, np.random.default_rng(0)).numbers() for order in (runs, repeated))
    assert first == second


def test_summarise_is_json_and_names_the_runs_that_broke(runs: Runs, table: Counting) -> None:
    broken = [search(Breaks, table, seed) for seed in range(3)]
    empty_run = replace(broken[0], seed=3, value=np.array([np.nan]))
    summary = summarise(Runs(runs.setup, [*runs.runs, *broken, empty_run]), table, np.random.default_rng(0))
    numbers = json.loads(json.dumps(summary.numbers(), allow_nan=False))
    row = numbers["methods"][2]
    assert row["seeds"] == 4 and numbers["common_seeds"] == 4 and numbers["judged_by"] == "test_accuracy"
    assert row["errors"] == dict.fromkeys("0123", summary.broken()[0][1])
    assert row["mean_rank"] == {"estimate": 3, "low": 3, "high": 3}
    assert row["evaluations"] is row["test_regret"]["estimate"] is row["thinking_s"] is None
    ((method, error, seeds),) = summary.broken()
    assert (method, seeds) == ("breaks", [0, 1, 2, 3])
    assert re.fullmatch(r"RuntimeError: on purpose \(test_summary.py, line \d+\)", error)
    assert [standing.method for standing in summary.standings()] == ["thorough", "rs", "breaks"]


def test_summarise_leaves_a_broken_run_out_of_all_but_the_ranks_and_tests(runs: Runs, table: Counting) -> None:
    lucky = replace(runs.runs[25], error="RuntimeError: x")
    assert lucky.method == "thorough"
    mixed = Runs(runs.setup, [lucky if run is runs.runs[25] else run for run in runs.runs])
    without = Runs(runs.setup, [run for run in runs.runs if run is not runs.runs[25]])
    summary, remaining = (summarise(subset, table, np.random.default_rng(0)) for subset in (mixed, without))
    assert summary.common_seeds == 20 and remaining.common_seeds == 19
    for method, same_method in zip(summary.methods, remaining.methods, strict=True):
        for name in ("test_regret", "validation_regret", "area"):
            assert getattr(method, name).estimate == getattr(same_method, name).estimate
        for name in ("evaluations", "time_to_best_s", "thinking_s", "test_regret_median", "repeated"):
            assert getattr(method, name) == getattr(same_method, name)
    ranks = {standing.method: standing.mean_rank.estimate for standing in summary.methods}
    better = {standing.method: standing.mean_rank.estimate * 19 for standing in remaining.methods}
    assert ranks == pytest.approx({"rs": (better["rs"] + 1) / 20, "thorough": (better["thorough"] + 2) / 20})
    assert summary.methods[1].finished == 19 and summary.methods[1].errors == {lucky.seed: "RuntimeError: x"}


def test_summarise_ranks_broken_runs_equal_and_last(runs: Runs, table: Counting) -> None:
    breaks = [replace(run, method=name, error="x") for name in ("a", "b") for run in runs.runs[:20]]
    summary = summarise(Runs(runs.setup, [*breaks, *runs.runs]), table, np.random.default_rng(0))
    assert [method.mean_rank.estimate for method in summary.methods[:2]] == [3.5, 3.5]
    assert summary.holm[0, 1] == 1 and summary.superiority[0, 1] == 0.5
    assert (summary.holm[2:, :2] < 0.05).all() and (summary.superiority[2:, :2] == 1).all()
    assert not {"a", "b"} & set(summary.beats("rs")) and summary.beats("a") == []


def test_summarise_puts_a_method_that_mostly_breaks_last(runs: Runs, table: Counting) -> None:
    mostly = [replace(run, error="x" if run.seed % 4 else "") if run.method == "thorough" else run for run in runs.runs]
    summary = summarise(Runs(runs.setup, mostly), table, np.random.default_rng(0))
    worse, better = summary.methods
    assert summary.regret(better).estimate < summary.regret(worse).estimate
    assert [standing.method for standing in summary.standings()] == ["rs", "thorough"]
    assert "thorough" not in summary.beats("thorough") and summary.beats("thorough") == []


def test_summarise_one_method_and_one_seed(runs: Runs, table: Counting) -> None:
    summary = summarise(Runs(runs.setup, runs.runs[:1]), table, np.random.default_rng(0))
    assert summary.methods[0].mean_rank.estimate == 1 and np.isnan(summary.friedman_p)
    assert summary.numbers()["critical_difference"] is None
    with pytest.raises(NasbedError, match="1 run or more"):
        summarise(Runs(runs.setup, []), table, np.random.default_rng(0))


def test_summarise_without_test_results_judges_by_mean_validation(runs: Runs, table: Counting) -> None:
    class NoTest(TabularBenchmark):
        @property
        def test_metric(self) -> None:
            return None

    bare = NoTest(table.results)
    summary = summarise(runs, bare, np.random.default_rng(0))
    assert summary.judged_by == "validation_accuracy"
    assert summary.test_best == table.cache.mean("validation_accuracy", 200).max() < summary.validation_best
    assert all(method.test_regret.estimate > 0 for method in summary.methods)
    numbers = summary.numbers()
    assert numbers["compared_by"] == "mean_validation_regret" and numbers["mean_validation_best"] == summary.test_best
    for row, method in zip(numbers["methods"], summary.methods, strict=True):
        assert row["mean_validation_regret"]["estimate"] == method.test_regret.estimate
        assert row["mean_validation_regret_median"] == method.test_regret_median
    assert not [name for row in (numbers, *numbers["methods"]) for name in row if "test" in name]
    assert summarise(runs, table, np.random.default_rng(0)).numbers()["compared_by"] == "test_regret"
