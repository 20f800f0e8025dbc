"""Tables that hold a part of their space: refused where methods would never meet it, searched by ``:listed``."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from nasbed import NasbedError, load
from nasbed.benchmarks import TabularBenchmark
from nasbed.core.execution import SerialEngine
from nasbed.experiments.compare import compare
from nasbed.experiments.simulate import Budget, problem_of, simulate
from nasbed.optimizers import OPTIMIZERS
from nasbed.results import Rows, write_results
from nasbed.studies.local_search.page import write_local_search_report
from nasbed.studies.local_search.study import local_search_study
from support.tables import VALIDATION, nb201_table

SETTINGS = {
    "re": {"population_size": 8},
    "nre": {"population_size": 8},
    "bananas": {"initial": 10, "epochs": 3},
    "hebo": {"initial": 10, "trees": 5, "population_size": 10, "generations": 3},
    "combo": {"initial": 10, "burn_in": 2, "samples": 2, "starts": 2, "candidates": 10},
}
LISTED = [name for name in OPTIMIZERS if OPTIMIZERS.get(name).draws_from_space and name != "nsga2"]
NOT_LISTED = [name for name in OPTIMIZERS if not OPTIMIZERS.get(name).draws_from_space]


@pytest.fixture(scope="module")
def sparse(tmp_path_factory: pytest.TempPathFactory) -> TabularBenchmark:
    """One in two hundred cells of nb201, with a test metric and two fidelities."""
    return nb201_table(tmp_path_factory.mktemp("partial") / "table", share=0.005)


def run(table: str | Path, methods: list[str], out: Path) -> int:
    return len(compare(table, methods, seeds=1, budget="6ev", out=out, engine=SerialEngine()).runs)


@pytest.mark.parametrize("name", ["darts-cifar10-16-v2.0", "darts-cifar10-16-v2.0:mean"])
def test_table_of_a_huge_space_is_refused_and_its_surrogates_are_named(name: str, tmp_path: Path) -> None:
    message = r"holds 0 of 200 \(3281 in all, of about 10\^18\); search a surrogate"
    with pytest.raises(NasbedError, match=message) as refusal:
        run(name, ["rs"], tmp_path / "out")
    text = str(refusal.value)
    assert "snb-darts-cifar10-16-lgb-v2.0" in text and text.endswith("holds, darts-cifar10-16-v2.0:listed")
    assert "\n" not in text and not (tmp_path / "out").exists()
    assert run("snb-darts-cifar10-16-lgb-v2.0", ["rs"], tmp_path / "out") == 1


def test_table_of_ones_own_without_a_surrogate_is_refused_with_what_to_do(
    sparse: TabularBenchmark, tmp_path: Path
) -> None:
    folder = sparse.results.folder
    with pytest.raises(NasbedError, match="fit a surrogate with: nasbed fit") as refusal:
        run(folder, ["rs"], tmp_path / "out")
    assert str(refusal.value).endswith(f"{folder}:listed")
    assert run(f"{folder}:listed", ["rs", "re"], tmp_path / "listed") == 2
    assert run(f"{folder}:listed:mean", ["rs"], tmp_path / "means") == 1


def test_table_of_most_of_a_space_is_searched(tmp_path: Path) -> None:
    most = nb201_table(tmp_path / "table", share=0.7)
    assert run(most.results.folder, ["rs"], tmp_path / "out") == 1


@pytest.mark.parametrize("name", LISTED)
def test_methods_that_draw_from_the_space_stay_on_the_list(name: str, sparse: TabularBenchmark) -> None:
    part = load(f"{sparse.results.folder}:listed")
    method = OPTIMIZERS.get(name)(problem_of(part), np.random.default_rng(0), **SETTINGS.get(name, {}))
    run = simulate(method, part, seed=0, budget=Budget(evaluations=30))
    assert not run.error and not run.refusals and not np.isnan(run.value).any()


@pytest.mark.parametrize("name", NOT_LISTED)
def test_methods_with_parameters_of_their_own_are_refused_on_a_list(
    name: str, sparse: TabularBenchmark, tmp_path: Path
) -> None:
    with pytest.raises(NasbedError, match=f"^{name} builds architectures from its own parameters"):
        run(f"{sparse.results.folder}:listed", ["rs", name], tmp_path / "out")


def test_listed_table_has_the_optimum_of_the_table_and_finds_it(sparse: TabularBenchmark) -> None:
    part = load(f"{sparse.results.folder}:listed")
    assert part.optimum() == sparse.optimum() and part.space.size == len(sparse) == 78
    method = OPTIMIZERS.get("ls")(problem_of(part), np.random.default_rng(0))
    run = simulate(method, part, seed=0, budget=Budget(evaluations=78))
    assert len({tuple(code) for code in run.codes.tolist()}) == 78


def test_listed_is_of_tables_only() -> None:
    with pytest.raises(NasbedError, match="is not a table; omit :listed"):
        load("snb-darts-cifar10-16-lgb-v2.0:listed")


def test_budget_in_seconds_is_refused_where_nothing_has_a_time(tmp_path: Path) -> None:
    timed = nb201_table(tmp_path / "timed", share=0.9)
    about = timed.results.about
    batches = [Rows.of(timed.cache.codes, {"validation_accuracy": np.full(len(timed), 60.0)}, fidelity=200, seed=0)]
    write_results(tmp_path / "untimed", replace(about, name="generated/untimed", metrics=(VALIDATION,)), batches)
    with pytest.raises(NasbedError, match="untimed has no times; give a number of evaluations, such as 500ev"):
        compare(tmp_path / "untimed", ["rs"], seeds=1, budget="1e4s", out=tmp_path / "out", engine=SerialEngine())
    assert not (tmp_path / "out").exists()
    assert compare(tmp_path / "timed", ["rs"], seeds=1, budget="1e4s", out=tmp_path / "out", engine=SerialEngine()).runs


def test_local_search_study_says_what_failed_and_who_never_searched(tmp_path: Path) -> None:
    partial = nb201_table(tmp_path / "table", share=0.7)
    study = local_search_study(
        str(partial.results.folder), rivals=["re"], seeds=2, budget="60ev", out=tmp_path / "out", engine=SerialEngine()
    )
    failed, evaluations = study.failed
    assert evaluations == 2 * 2 * 60 and 0.15 < failed / evaluations < 0.45  # three in ten cells are not in the table
    assert {remark.kind for remark in study.remarks} >= {"failed", "start"}
    write_local_search_report(study, tmp_path / "out", formats=())
    page = (tmp_path / "out" / "report.html").read_text()
    assert f"{failed} of {evaluations}" in page and "re never left its start" in page
