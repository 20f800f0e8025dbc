"""A campaign whose function is edited: no result is lost, and none passes for one of the new function."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest
from typer.testing import CliRunner

import nasbed
from nasbed.cli import app
from nasbed.core.errors import InvalidOption
from nasbed.results.store import Results

FILE = """
[campaign]
name = "own"
space = "spaces.py:cells"
trials = {trials}
round = 10
[trainer]
kind = "function"
function = "functions.py:evaluate"
[shares]
rs = 0.5
"{method}:Mine" = 0.5
"""
FILES = {
    "functions.py": "from helper import value\n\ndef evaluate(arch, fidelity, seed):\n    return value(arch)\n",
    "helper.py": "def value(arch):\n    return arch.code[0]\n",
    "spaces.py": "from ConfigSpace import ConfigurationSpace\ncells = ConfigurationSpace({'a': (1, 40), 'b': (1, 40)})\n",
    "mine.py": "from nasbed.optimizers.random_search import RandomSearch\n\nclass Mine(RandomSearch):\n    pass\n",
}
EDITED = {
    "functions.py": ("value(arch)", "-value(arch)"),
    "helper.py": ("code[0]", "code[1]"),
    "spaces.py": ("ConfigSpace import", "ConfigSpace  import"),
    "mine.py": ("pass", "first = 1"),
}
CALLED = {
    "functions.py": "function functions.py:evaluate",
    "helper.py": "function functions.py:evaluate",
    "spaces.py": "space spaces.py:cells",
    "mine.py": "method {folder}/mine.py:Mine",
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    plan(tmp_path, 20)
    return tmp_path


def plan(folder: Path, trials: int) -> None:
    (folder / "campaign.toml").write_text(FILE.format(trials=trials, method=folder / "mine.py"))


def run(*arguments: str) -> str:
    result = CliRunner().invoke(app, ["collect", *arguments], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


def stop_after(count: int, journal: Path) -> None:
    """The journal of a campaign that was killed after ``count`` results."""
    with sqlite3.connect(journal) as connection:
        for table in ("results", "made_by"):
            connection.execute(f"DELETE FROM {table} WHERE number >= ?", (count,))
    connection.close()


def edit(folder: Path, name: str) -> None:
    text = (folder / name).read_text()
    assert EDITED[name][0] in text
    (folder / name).write_text(text.replace(*EDITED[name]))


@pytest.mark.parametrize("name", FILES)
def test_changed_code_is_refused_by_name_and_can_be_accepted(folder: Path, name: str) -> None:
    run("campaign.toml", "--engine", "serial")
    stop_after(12, folder / "campaign.sqlite")
    edit(folder, name)
    called = CALLED[name].format(folder=folder)
    assert f"note: {called} has changed since the last result" in run("status", "campaign.sqlite")
    with pytest.raises(InvalidOption) as caught:
        run("campaign.toml", "--engine", "serial", "--resume")
    assert str(caught.value) == (
        f"campaign.sqlite holds 12 results made before {called} was changed; put it back, name another journal, or continue "
        "with both kinds of results: --accept-changes"
    )
    assert "ended                  12" in run("status", "campaign.sqlite"), "no result is lost"
    output = run("campaign.toml", "--engine", "serial", "--resume", "--accept-changes")
    note = f"12 of 20 results were made before {called} was changed"
    assert "ended                  20" in output and f"note: {note}" in output
    status = json.loads(run("status", "campaign.sqlite", "--json"))
    assert note in status["notes"]
    run("export", "campaign.sqlite", "--out", "table")
    assert note in Results.open(folder / "table").about.notes
    run("campaign.toml", "--engine", "serial", "--resume")  # as it was accepted


def test_put_back_code_resumes(folder: Path) -> None:
    run("campaign.toml", "--engine", "serial")
    stop_after(12, folder / "campaign.sqlite")
    edit(folder, "helper.py")
    (folder / "helper.py").write_text(FILES["helper.py"])
    output = run("campaign.toml", "--engine", "serial", "--resume")
    assert "ended                  20" in output and "note:" not in output


def test_results_say_which_version_made_them(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Trainings cost too much to be repeated for a version, so a campaign continues and reports it."""
    run("campaign.toml", "--engine", "serial")
    stop_after(12, folder / "campaign.sqlite")
    before = nasbed.__version__
    monkeypatch.setattr(nasbed, "__version__", "9.9.9")
    output = run("campaign.toml", "--engine", "serial", "--resume")
    assert f"nasbed {before} (12), nasbed 9.9.9 (8)" in output
    assert f"note: 12 of 20 results were made by nasbed {before}, the last by 9.9.9" in output
    run("export", "campaign.sqlite", "--out", "table")
    assert f"collected by nasbed {before}, 9.9.9" in Results.open(folder / "table").about.source


def test_journal_of_an_older_nasbed_resumes_and_says_what_it_lacks(folder: Path) -> None:
    run("campaign.toml", "--engine", "serial")
    stop_after(12, folder / "campaign.sqlite")
    with sqlite3.connect(folder / "campaign.sqlite") as connection:
        connection.executescript("DROP TABLE made_by; DROP TABLE makers")
    connection.close()
    note = "results: the nasbed that made them recorded neither version nor code"
    assert f"note: 12 of 12 {note}" in run("status", "campaign.sqlite")
    output = run("campaign.toml", "--engine", "serial", "--resume")
    assert f"note: 12 of 20 {note}" in output and "no record (12)" in output


def test_journals_of_two_contents_are_not_exported_together(folder: Path) -> None:
    run("campaign.toml", "--engine", "serial")
    edit(folder, "helper.py")
    run("campaign.toml", "--engine", "serial", "--journal", "other.sqlite")
    with pytest.raises(InvalidOption, match=r"have one content of function functions.py:evaluate, other.sqlite has"):
        run("export", "campaign.sqlite", "other.sqlite", "--out", "both")
