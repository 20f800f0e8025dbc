"""``nasbed suite`` and ``nasbed report`` over several benchmarks, as a user runs them."""

from __future__ import annotations

import csv
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from nasbed.benchmarks.suites import load_suite
from nasbed.experiments.suites import load_suite_runs
from support.commands import run_command, run_forks
from support.pages import check_page

NAMES = ("nb201-addnist-v1.0", "nb201-chesseract-v1.0")
SUITE = f"""
title = "Two & a half"
budget = "12ev"
benchmarks = ["{NAMES[0]}", "{NAMES[1]}", {{id = "nb101", name = "half"}}]
"""
MINE = """
from nasbed.optimizers import Optimizer, Proposal

class Mine(Optimizer):
    name, summary = "mine", "the same architecture for ever"

    def ask(self, n=1):
        return [Proposal(next(self.space.enumerate()))]

    def tell(self, observations):
        pass
"""
RUN = ("suite", "run", "mine.toml", "--optimizers", "rs,re,my.py:Mine", "--engine", "serial", "--skip-missing")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("suite")
    (folder / "mine.toml").write_text(SUITE)
    (folder / "my.py").write_text(MINE)
    result = run_command(*RUN, "--seeds", 3, "--out", "out", cwd=folder)
    assert result.returncode == 0, result.stderr
    assert "mine " in result.stdout and "Missing: half (nasbed fetch nb101)" in result.stdout
    return folder


def test_page_numbers_and_tables_agree(place: Path) -> None:
    numbers = json.loads((place / "out" / "numbers.json").read_text())
    assert [item["name"] for item in numbers["benchmarks"]] == list(NAMES)
    assert {method["method"] for method in numbers["methods"]} == {"rs", "re", "mine"}
    reader = check_page(place / "out" / "report.html")
    for fact in ("Two & a half", "half (nasbed fetch nb101)", "3 methods on 2 benchmarks, 3 seeds each"):
        assert fact in reader.text
    shown = {"regret", "ranks", "critical-difference", "benchmark-0", "benchmark-1"}
    assert set(reader.charts) == {f"figure-{name}" for name in shown}
    with (place / "out" / "table.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(row["benchmark"], row["method"]) for row in rows] == [
        (name, method) for name in NAMES for method in ("rs", "re", "mine")
    ]
    for row in rows:
        benchmark = numbers["benchmarks"][NAMES.index(row["benchmark"])]
        assert float(row["normalised_regret"]) == pytest.approx(benchmark["normalised_regret"][row["method"]], rel=1e-4)
        assert float(row["mean_regret"]) / float(row["random_regret"]) == pytest.approx(
            float(row["normalised_regret"]), rel=1e-4
        )
    tex = (place / "out" / "table.tex").read_text()
    assert tex.count(r"\hline") == 4 and "Two & a half" in tex.splitlines()[0] and NAMES[0] in tex
    assert not (place / "out" / "figures").exists()


@pytest.fixture
def without_page(monkeypatch: pytest.MonkeyPatch) -> None:
    """Numbers and tables without the page, which takes most of the time."""
    monkeypatch.setattr("nasbed.reports.suite.page.suite_charts", lambda *_, **__: {})
    monkeypatch.setattr("nasbed.reports.suite.page.write_page", lambda *_, **__: None)


@pytest.mark.usefixtures("without_page")
def test_same_command_runs_nothing_again_and_report_writes_the_same_numbers(place: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in (place / "out").rglob("*.npz")}
    numbers = (place / "out" / "numbers.json").read_bytes()
    assert len(before) == 3 * 3 * 2
    assert run_command(*RUN, "--seeds", 3, "--out", "out", cwd=place).returncode == 0
    assert {path: path.stat().st_mtime_ns for path in (place / "out").rglob("*.npz")} == before
    assert (place / "out" / "numbers.json").read_bytes() == numbers
    assert run_command("report", "out", cwd=place).returncode == 0
    assert (place / "out" / "numbers.json").read_bytes() == numbers


@pytest.mark.usefixtures("without_page")
def test_report_over_folders_of_two_benchmarks_is_one_page(place: Path) -> None:
    folders = [f"out/{name}" for name in NAMES]
    refused = run_command("report", *folders, cwd=place)
    assert (refused.returncode, refused.stderr) == (
        2,
        "nasbed: a page over several benchmarks goes into a folder of its own; name one with --out\n",
    )
    result = run_command("report", *folders, "--out", "both", cwd=place)
    assert result.returncode == 0 and result.stdout.endswith("Report: both/report.html\n")
    whole = json.loads((place / "out" / "numbers.json").read_text())
    parts = json.loads((place / "both" / "numbers.json").read_text())
    assert parts["methods"] == whole["methods"] and parts["friedman"] == whole["friedman"]


REFUSALS = {
    ("run", "mine.toml"): "1 of the 3 benchmarks of mine are not here: half (nasbed fetch nb101); get them, or leave "
    "them out with --skip-missing",
    ("run", "none.toml"): "none.toml is not a file; a suite is a TOML file, or one of: ",
    ("run", "quick", "--optimizers", "rs,rx"): "no optimizer is called 'rx'",
    ("run", "quick", "--format", "gif"): "a figure is saved as svg, png, pdf, got 'gif'",
    ("run", "unseen", "--out", "out"): "out holds runs of a suite with title Two & a half, not NAS-Bench-Unseen",
    ("run", "unseen", "--out", "my.py"): "a report goes into a folder, my.py is a file; name another with --out",
}


@pytest.mark.parametrize("words", REFUSALS, ids=" ".join)
def test_refusals_come_before_any_run(words: tuple[str, ...], place: Path) -> None:
    out = () if "--out" in words else ("--out", "never")
    result = run_command("suite", *words, *out, cwd=place)
    assert result.returncode == 2 and result.stderr.startswith(f"nasbed: {REFUSALS[words]}"), result.stderr
    assert not (place / "never").exists()


def test_saved_suite_names_benchmarks_although_folders_of_runs_are_called_like_them(place: Path) -> None:
    saved = load_suite(place / "out" / "suite.toml")
    assert tuple(entry.id for entry in saved.benchmarks) == (*NAMES, "nb101")


def test_other_budget_is_refused_and_the_folder_stays_as_it_is(place: Path) -> None:
    before = (place / "out" / "suite.toml").read_bytes()
    (place / "longer.toml").write_text(SUITE.replace("12ev", "13ev"))
    result = run_command("suite", "run", "longer.toml", "--skip-missing", "--out", "out", cwd=place)
    assert result.returncode == 2
    assert f"with budget of {NAMES[0]} 12ev, not 13ev; choose another folder" in result.stderr
    assert (place / "out" / "suite.toml").read_bytes() == before


def test_benchmark_without_a_finished_run_is_missing(place: Path, tmp_path: Path) -> None:
    """As after a kill."""
    shutil.copytree(place / "out", tmp_path / "killed")
    shutil.rmtree(tmp_path / "killed" / NAMES[1] / "runs")
    runs = load_suite_runs(tmp_path / "killed")
    assert [part.name for part in runs.benchmarks] == [NAMES[0]]
    assert runs.missing[NAMES[1]] == "not run yet"


def test_method_that_breaks_in_every_run_is_left_out_and_the_exit_status_is_1(place: Path) -> None:
    (place / "bad.py").write_text(MINE.replace("return [Proposal", "raise ValueError('no') or [Proposal"))
    words = (*RUN[:4], "rs,bad.py:Mine", *RUN[5:], "--seeds", 1, "--out", "bad")
    result = run_command(*words, cwd=place)
    assert result.returncode == 1 and "1 method on 2 benchmarks" in result.stdout
    last = result.stderr.splitlines()[-1]
    assert last.startswith(f"mine has no finished run on {NAMES[0]}, {NAMES[1]}: ValueError: no"), result.stderr


def test_folders_of_suites_and_of_single_benchmarks_are_kept_apart(place: Path) -> None:
    joined = run_command("report", "out", f"out/{NAMES[0]}", "--out", "never", cwd=place)
    assert (joined.returncode, joined.stderr) == (
        2,
        "nasbed: out has the runs of a suite; report it alone, or the folders of runs in it\n",
    )
    inside = run_command(*RUN, "--out", f"out/{NAMES[0]}", cwd=place)
    assert inside.returncode == 2
    assert inside.stderr == f"nasbed: out/{NAMES[0]} holds runs on one benchmark; choose another folder\n"


def test_show_refuses_a_wrong_budget_and_marks_an_unknown_id(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text("title = 'x'\nbenchmarks = ['nope', 'nb201-addnist-v1.0:mean']")
    lines = run_command("suite", "show", path).stdout.splitlines()
    assert [line.split()[0] for line in lines if line.rstrip().endswith("unknown id")] == ["nope"]
    path.write_text("title = 'x'\nbudget = 'lots'\nbenchmarks = ['nb201-addnist-v1.0']")
    refused = run_command("suite", "show", path)
    assert refused.returncode == 2 and refused.stderr.endswith("such as 500ev or 1e6s, got 'lots'\n")


def test_list_and_show_teach_the_next_command() -> None:
    assert all(name in run_command("suite", "list").stdout for name in ("quick", "tabular", "surrogate", "unseen"))
    listing = json.loads(run_command("suite", "list", "--json").stdout)
    assert {suite["name"]: len(suite["benchmarks"]) for suite in listing}["unseen"] == 6
    shown = run_command("suite", "show", "unseen").stdout
    assert "nb201-chesseract-v1.0" in shown and "nasbed suite run unseen --optimizers" in shown
    assert json.loads(run_command("suite", "show", "quick", "--json").stdout)["benchmarks"][0]["budget"] == "200ev"


BLOCKED = """
import sys

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {"torch", "lightgbm", "xgboost", "ray", "optuna", "smac", "ngboost"}:
            raise ModuleNotFoundError(f"No module named {name!r}")

sys.meta_path.insert(0, Absent())
"""


@pytest.mark.thorough
def test_quick_needs_core_packages_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In processes in which neither torch nor the boosters can be imported."""
    (tmp_path / "sitecustomize.py").write_text(BLOCKED)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=os.pathsep)
    words = ("suite", "run", "quick", "--optimizers", "rs,re,ls,bananas", "--seeds", "1")
    run = subprocess.run([sys.executable, "-m", "nasbed", *words], cwd=tmp_path, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    assert (tmp_path / "suite-runs" / "report.html").is_file()
    missing = subprocess.run(
        [sys.executable, "-m", "nasbed", "suite", "run", "surrogate"], cwd=tmp_path, capture_output=True, text=True
    )
    assert (missing.returncode, missing.stdout) == (2, "")
    assert "-gin-rand-v2.0 (pip install 'nasbed[torch]'); get them, or leave them out" in missing.stderr


@pytest.mark.thorough
@pytest.mark.figures
def test_figures_are_written_on_request(place: Path) -> None:
    words = (*RUN, "--seeds", "3", "--out", "out", "--figures")
    assert run_forks([words], place)[0].returncode == 0
    names = ("regret", "ranks", "critical-difference", "benchmarks")
    assert {path.name for path in (place / "out" / "figures").iterdir()} == {
        f"{name}.{form}" for name in names for form in ("svg", "pdf")
    }
