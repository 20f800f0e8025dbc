"""A benchmark of somebody else's is judged by what it says of itself, as ours are."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from nasbed import Architecture
from nasbed.benchmarks import BENCHMARKS, NoiseFree, TabularBenchmark
from nasbed.benchmarks.base import Benchmark
from nasbed.core.errors import InvalidOption
from nasbed.core.execution import SerialEngine
from nasbed.evaluation.judging import judge
from nasbed.experiments import compare as comparing
from nasbed.experiments import run_task
from nasbed.experiments.runs import Runs, Setup
from nasbed.experiments.simulate import Budget, problem_of, simulate
from nasbed.optimizers import OPTIMIZERS
from nasbed.reports.comparison.page import write_comparison
from nasbed.results import Rows, TableInfo, write_results
from nasbed.studies.methods import study as methods
from support.third_party import Measured, Modelled, ModelledInBatches, ModelledSingly


class Sparse(Modelled):
    """Holds one architecture."""

    held_count = 1

    def holds(self, arch: Architecture, *, fidelity: int | None = None) -> bool:
        return arch.code == (3,) * 6


def searched(benchmark: Benchmark) -> Runs:
    method = OPTIMIZERS.get("rs")(problem_of(benchmark), np.random.default_rng(0))
    run = simulate(method, benchmark, seed=0, budget=Budget(evaluations=25))
    return Runs(Setup(benchmark.name, "nb201", benchmark.objective, "25ev", 1, {}), [run])


@pytest.mark.parametrize(
    "benchmark",
    [Modelled(), NoiseFree(Modelled()), ModelledSingly(), ModelledInBatches(), NoiseFree(ModelledSingly())],
    ids=["alone", "wrapped", "singly", "in batches", "singly, wrapped"],
)
def test_benchmark_without_test_results_is_judged_by_the_means_that_it_knows(benchmark: Benchmark) -> None:
    runs = searched(benchmark)
    judged = judge(runs, benchmark)
    assert judged.judge == Measured.objective and (judged.test_best, judged.best_of_runs) == (80.0, False)
    (line,) = judged.trajectories
    means = Modelled().means(runs.runs[0].codes[line.incumbent])
    np.testing.assert_array_equal(line.test_regret, 80.0 - means)
    assert judged.validation_best == runs.runs[0].value.max()


def test_benchmark_that_knows_neither_tests_nor_means_is_judged_by_nothing() -> None:
    judged = judge(searched(Measured()), Measured())
    assert judged.judge is None and np.isnan(judged.test_best)
    assert np.isnan(judged.trajectories[0].test_regret).all()


def test_benchmark_that_knows_its_best_answer_is_asked_for_it() -> None:
    class Bounded(Modelled):
        def best_answer(self, fidelities: object) -> float:
            assert fidelities == [10]
            return 85.0

    assert judge(searched(Bounded()), Bounded()).validation_best == 85.0


# --- from a comparison to its report, and a study --------------------------------------------------------------------


@pytest.fixture
def third_party(monkeypatch: pytest.MonkeyPatch) -> Benchmark:
    """A benchmark from a third party under a name, as from a plug-in; without noise."""
    benchmark = NoiseFree(Modelled())
    monkeypatch.setattr(BENCHMARKS, "_entries", {"third-party": benchmark, "sparse": Sparse})
    monkeypatch.setattr(run_task, "_BENCHMARKS", {})
    return benchmark


def compare_two(name: str, out: Path) -> Runs:
    return comparing.compare(name, ["rs", "re"], seeds=3, budget="40ev", out=out, engine=SerialEngine())


def table_of(folder: Path) -> TabularBenchmark:
    """A table without test results that answers as the other does."""
    cells = np.array(list(np.ndindex(*(5,) * 6)))
    rows = Rows.of(cells, {Measured.objective.key: Modelled().means(cells)}, fidelity=10, train_time_s=1.0)
    return TabularBenchmark(write_results(folder, TableInfo("ours", "nb201", (Measured.objective,)), [rows]))


def test_comparison_and_report_are_those_of_a_table_with_the_same_answers(
    third_party: Benchmark, tmp_path: Path
) -> None:
    foreign_runs = compare_two("third-party", tmp_path / "theirs")
    table = table_of(tmp_path / "table")
    table_runs = compare_two(str(tmp_path / "table"), tmp_path / "ours")
    assert judge(foreign_runs, third_party).judge == judge(table_runs, table).judge == Measured.objective
    for foreign, native in zip(
        judge(foreign_runs, third_party).trajectories, judge(table_runs, table).trajectories, strict=True
    ):
        np.testing.assert_array_equal(foreign.test_regret, native.test_regret)
        np.testing.assert_array_equal(foreign.incumbent, native.incumbent)
    summaries = [
        write_comparison(tmp_path / f"report-{number}", runs, benchmark, rng=np.random.default_rng(0))
        for number, (runs, benchmark) in enumerate([(foreign_runs, third_party), (table_runs, table)])
    ]
    standings = [
        [(line.method, line.test_regret, line.mean_rank) for line in summary.standings()] for summary in summaries
    ]
    assert standings[0] == standings[1] and len(standings[0]) == 2
    assert (tmp_path / "report-0" / "report.html").is_file()


def test_study_of_methods_runs_on_a_benchmark_without_test_results(third_party: Benchmark, tmp_path: Path) -> None:
    study = methods.methods_study(
        "third-party", seeds=2, budget="30ev", out=tmp_path, names=["re"], engine=SerialEngine()
    )
    assert study.metric == Measured.objective and [method.name for method in study.methods] == ["rs", "re"]
    assert all(np.isfinite(method.finals).all() for method in study.methods)


def test_benchmark_that_holds_next_to_nothing_is_not_searched(third_party: Benchmark, tmp_path: Path) -> None:
    with pytest.raises(InvalidOption, match=r"a table is searched if it holds 50 % .* third-party holds 0 of"):
        compare_two("sparse", tmp_path)
