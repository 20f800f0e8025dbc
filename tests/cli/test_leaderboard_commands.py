"""``nasbed leaderboard`` as a user runs it: run a suite, compare with a file, submit, verify."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.commands import run_command
from support.documentation import DOCS
from support.pages import check_page
from support.suite_runs import NAMES, write_methods

SUITE = f'title = "One dataset"\nname = "one"\nbudget = "20ev"\nbenchmarks = ["{NAMES[0]}"]\n'
MAKE = ("leaderboard", "make", "one.toml", "--runs", "made", "--seeds", 2, "--engine", "serial")
SLOW = ("asha", "bananas", "bohb", "combo", "de", "dehb", "hb", "hebo", "kde", "nre", "rl", "smac", "tpe")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with reference runs of rs, re and ls, and a submission."""
    folder = tmp_path_factory.mktemp("board")
    (folder / "one.toml").write_text(SUITE)
    write_methods(folder)
    fewer = [word for name in SLOW for word in ("--seeds-of", f"{name}=0")]
    making = run_command(*MAKE, *fewer, "--out", "one.nbr", cwd=folder)
    assert making.returncode == 0, making.stderr
    assert "one.nbr: 6 runs of 3 methods" in making.stdout
    assert "nsga2: cannot run on nb201-addnist-v1.0" in making.stdout and "smac: left out" in making.stdout
    words = ("suite", "run", "one.toml", "--optimizers", "my.py:Mine", "--seeds", 2, "--engine", "serial")
    with pytest.MonkeyPatch.context() as patch:  # numbers and tables without the page, which takes most of the time
        patch.setattr("nasbed.reports.suite.page.suite_charts", lambda *_, **__: {})
        patch.setattr("nasbed.reports.suite.page.write_page", lambda *_, **__: None)
        run = run_command(*words, "--against", "one.nbr", "--out", "runs", cwd=folder)
    assert run.returncode == 0, run.stderr
    assert "4 methods on 1 benchmark, 2 seeds each." in run.stdout
    assert run.stdout.count("reference\n") == 3 and run.stdout.count("here\n") == 1
    submitted = run_command("leaderboard", "submit", "runs", "--name", "Us", "--out", "mine.nbr", cwd=folder)
    assert submitted.returncode == 0, submitted.stderr
    assert "mine: 2 runs, with the source: my.py, helper.py" in submitted.stdout
    return folder


def test_submission_is_read_then_verified(place: Path) -> None:
    read = run_command("leaderboard", "verify", "mine.nbr", "--source", "to-read", cwd=place)
    assert read.returncode == 0 and (place / "to-read" / "mine" / "my.py").read_text() == (place / "my.py").read_text()
    untrusted = run_command("leaderboard", "verify", "mine.nbr", cwd=place)
    assert untrusted.returncode == 1 and untrusted.stdout.count("cannot be verified here") == 2
    trusted = run_command("leaderboard", "verify", "mine.nbr", "one.nbr", "--trust-code", "--sample", 2, cwd=place)
    assert trusted.returncode == 0, trusted.stdout
    assert trusted.stdout.count(": verified\n") == 4


REFUSED = {
    ("verify", "one.toml"): "one.toml is not a file of nasbed-runs",
    ("verify", "mine.nbr", "--methods", "min"): "no runs of 'min'",
    ("submit", "runs", "--name", " "): "a name is 1 to 60 printable letters",
    ("submit", "runs", "--name", "reference"): "a name is 1 to 60 printable letters, other than reference",
    ("--suites", "quick", "--submission", "one.nbr"): "one.nbr calls itself reference, which the package alone does",
    ("submit", "runs", "--name", "Us", "--methods", "rs"): "there are no runs of 'rs'",
    ("submit", "runs", "--name", "Us", "--code", "hidden.py"): "hidden.py is not the file that made the runs of mine",
    ("submit", "made/nothing", "--name", "Us"): "made/nothing",
    ("make", "one.toml", "--runs", "x", "--out", "one.toml/x.nbr"): "one.toml is a file; name another with --out",
    ("submit", "runs", "--name", "Us", "--out", "runs"): "the runs go into a file, runs is a folder",
    ("--suites", "tabular"): "there are no reference runs of 'tabular'",
    ("--suites", "quick", "--submission", "mine.nbr"): "has runs on the suite one, shown are quick",
    ("make", "one.toml", "--runs", "x", "--out", "x.nbr", "--seeds-of", "rs"): "given as METHOD=N, such as hebo=3",
    ("make", "one.toml", "--runs", "x", "--out", "x.nbr", "--seeds-of", "rz=1"): "no method of nasbed is called 'rz'",
}


@pytest.mark.parametrize("words", REFUSED, ids=" ".join)
def test_refusals_are_one_line(place: Path, words: tuple[str, ...]) -> None:
    result = run_command("leaderboard", *words, cwd=place)
    assert (result.returncode, result.stderr.count("\n")) == (2, 1), result.stderr
    assert REFUSED[words] in result.stderr


@pytest.mark.thorough
def test_leaderboard_of_the_package_shows_every_suite(tmp_path: Path) -> None:
    result = run_command("leaderboard", "--out", "board", "--format", "svg", cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    for name in ("quick", "unseen", "multi-fidelity", "surrogate"):
        assert f"{name}: " in result.stdout
        check_page(tmp_path / "board" / name / "report.html")
    picture = (tmp_path / "board" / "figures" / "leaderboard.svg").read_bytes()
    assert picture == (DOCS / "findings" / "data" / "leaderboard.svg").read_bytes(), (
        "draw the picture of the page again"
    )
