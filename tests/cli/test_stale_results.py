"""The same command after an edit: an old number is made again, refused or marked, never shown as if it still held."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import nasbed
from nasbed.cli import app
from nasbed.core.errors import NasbedError
from nasbed.experiments.runs import load_run
from nasbed.surrogates.making import make_surrogate
from support.stored_comparisons import METHOD, numbers, refusal, report, restore, run, write_project, write_table
from support.surrogates import QUICK, write_evaluations

pytestmark = pytest.mark.usefixtures("without_charts")


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_project(tmp_path_factory.mktemp("stored") / "project")


@pytest.fixture
def project(stored: Path) -> Path:
    return restore(stored)


def edit_step(folder: Path) -> None:
    (folder / "step.py").write_text("probability = 1.0\n")


def edit_method(folder: Path) -> None:
    (folder / "mine.py").write_text(METHOD.replace("loss < self.loss", "loss > -self.loss"))


@pytest.mark.parametrize(
    ("edit", "why"),
    [
        pytest.param(edit_step, "mine.py or a module that it imports has changed", marks=pytest.mark.thorough),
        (edit_method, "mine.py or a module that it imports has changed"),
    ],
)
def test_runs_of_an_edited_method_are_made_again(project: Path, edit: Callable[[Path], None], why: str) -> None:
    """Its own file, and one that it imports."""
    before = numbers(report(project))
    edit(project)
    marked = report(project)
    assert numbers(marked) == before and "Greedy (out of date)" in marked.stdout
    assert f"2 of 2 runs of Greedy are out of date: {why}." in marked.stdout
    assert "<small>out of date</small>" in (project / "out" / "report.html").read_text()
    summaries = json.loads((project / "out" / "numbers.json").read_text())["methods"]
    assert [method["method"] for method in summaries if method["out_of_date"]] == ["Greedy"]
    repeated, fresh = run(project), run(project, out="fresh")
    assert f"2 runs of Greedy are made again: {why}" in repeated.stderr and "rs" not in repeated.stderr
    assert numbers(repeated) == numbers(fresh) and numbers(repeated)["Greedy"] != before["Greedy"]
    assert "out of date" not in report(project).stdout and not run(project).stderr


def test_methods_that_are_not_run_now_are_marked(project: Path) -> None:
    edit_method(project)
    output = run(project, methods="rs")
    assert "Greedy (out of date)" in output.stdout and "rs (" not in output.stdout and not output.stderr
    (project / "mine.py").unlink()
    assert "2 of 2 runs of Greedy are out of date: mine.py is not here to compare with." in report(project).stdout


def test_all_stale_runs_of_a_method_are_made_again_whatever_their_seed(project: Path) -> None:
    run(project, "--seeds", "4")
    edit_method(project)
    assert "4 runs of Greedy are made again" in run(project, "--seeds", "1").stderr
    assert "out of date" not in report(project).stdout


def test_changed_settings_make_runs_again(project: Path) -> None:
    assert "2 runs of Greedy are made again: its settings have changed" in run(
        project, "--set", f"{project / 'mine.py'}:Greedy.patience=2"
    ).stderr  # fmt: skip
    path = project / "out" / "setup.json"
    path.write_text(path.read_text().replace('"patience": 2', '"patience": 3'))
    assert "2 of 2 runs of Greedy are out of date: its settings have changed." in report(project).stdout


def test_another_version_of_nasbed_makes_runs_again(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nasbed, "__version__", "9.9.9")
    why = f"nasbed {load_run(project / 'out' / 'runs' / 'rs-0.npz').made_by.nasbed} made them, this is 9.9.9"  # type: ignore[union-attr]
    marked = report(project).stdout
    assert f"2 of 2 runs of rs are out of date: {why}." in marked and "Greedy (out of date)" in marked
    repeated = run(project).stderr
    assert f"2 runs of rs are made again: {why}" in repeated and f"2 runs of Greedy are made again: {why}" in repeated
    assert "out of date" not in report(project).stdout


def test_runs_without_a_record_are_marked_and_made_again(project: Path) -> None:
    """As an older nasbed stored them."""
    for path in (project / "out" / "runs").glob("*.npz"):
        with np.load(path) as data:
            arrays = dict(data)
        facts = json.loads(str(arrays["facts"]))
        del facts["made_by"]
        np.savez(path, **arrays | {"facts": np.array(json.dumps(facts))})
    setup = json.loads((project / "out" / "setup.json").read_text())
    del setup["benchmark_sha256"]
    (project / "out" / "setup.json").write_text(json.dumps(setup))
    write_table(project / "table", seed=1)
    marked = report(project).stdout
    assert "rs (out of date)" in marked and "recorded neither its code nor its data" in marked
    repeated = run(project)
    assert "2 runs of rs are made again" in repeated.stderr and "2 runs of Greedy are made again" in repeated.stderr
    assert numbers(repeated) == numbers(run(project, out="fresh"))


@pytest.mark.parametrize("searched", ["nb201", "transnas-micro"])
def test_runs_on_a_replaced_table_are_refused(project: Path, searched: str) -> None:
    """Not judged by the new one, and no traceback for another space."""
    write_table(project / "table", seed=1, searched=searched)
    for result in (report(project), run(project)):
        line = refusal(result)
        assert "another content" in line or "space" in line
    assert run(project, out="fresh", methods="rs").exit_code == 0


def test_a_table_written_again_with_the_same_content_is_the_same(project: Path) -> None:
    write_table(project / "table", seed=0)
    assert not run(project).stderr and "out of date" not in report(project).stdout


def test_joined_folders_have_one_source_and_one_set_of_settings(project: Path) -> None:
    """Runs of two versions of a method are marked, of two settings refused."""
    edit_method(project)
    run(project, "--seeds", "4", out="other")
    for seed in (0, 1):
        for name in ("rs", "Greedy"):
            (project / "other" / "runs" / f"{name}-{seed}.npz").unlink()
    outcome = CliRunner().invoke(app, ["report", str(project / "out"), str(project / "other")])
    assert "2 of 4 runs of Greedy are out of date: mine.py or a module that it imports has changed." in outcome.stdout
    run(project, "--set", f"{project / 'mine.py'}:Greedy.patience=2", "--seeds", "4", out="other")
    outcome = CliRunner().invoke(app, ["report", str(project / "out"), str(project / "other")])
    assert isinstance(outcome.exception, NasbedError)


def test_runs_on_a_refitted_surrogate_are_refused(project: Path) -> None:
    path, table = project / "s.snb", write_evaluations(project / "rows")
    common = ["--optimizers", "rs", "--seeds", "1", "--budget", "5ev", "--engine", "serial", "--out"]
    for seed in (0, 1):
        path.unlink(missing_ok=True)
        make_surrogate(table, "lgb", members=1, settings=QUICK, seed=seed).save(path)
        result = CliRunner().invoke(app, ["run", str(path), *common, str(project / "searched")])
        if seed == 0:
            assert result.exit_code == 0, result.output
        else:
            assert "holds runs on another content of" in refusal(result)
            assert "another content" in refusal(CliRunner().invoke(app, ["report", str(project / "searched")]))
