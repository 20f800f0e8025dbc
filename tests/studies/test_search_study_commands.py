"""``nasbed study generalisation`` and ``nasbed study methods`` as a user meets them."""

from __future__ import annotations

import json
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from support.commands import run_command
from support.tables import nb201_table


def run(*arguments: str) -> CompletedProcess[str]:
    return run_command("study", *arguments)


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("searched") / "nb201"
    nb201_table(folder)
    return str(folder)


def test_study_methods_writes_a_page_and_resumes(table: str, tmp_path: Path) -> None:
    out = tmp_path / "page"
    options = ("--optimizers", "re,nsga2", "--seeds", "2", "--budget", "20ev", "--processes", "1", "--format", "svg")
    for _ in range(2):
        result = run("methods", table, "--out", str(out), *options)
        assert result.returncode == 0, result.stderr
        assert "random search" in result.stdout and "report.html" in result.stdout
        assert "left out: nsga2" in result.stderr  # the table has no parameters
        assert "\nre never left its start: it takes 100 evaluations and a run has 20." in result.stdout
    page = (out / "report.html").read_text()
    assert "<dt>remark</dt><dd>re never left its start" in page
    assert "<dt>failed evaluations</dt><dd>0 of 40</dd>" in page
    numbers = json.loads((out / "numbers.json").read_text())
    assert list(numbers["methods"]) == ["rs", "re"] and len(numbers["methods"]["re"]["final_regret"]) == 2


def test_search_study_refuses_bad_input_in_one_line(table: str, tmp_path: Path) -> None:
    out = tmp_path / "out"
    for arguments, words in (
        (("generalisation", table, "--out", str(out), "--budget", "soon"), "such as 500ev or 1e6s"),
        (("methods", table, "--out", str(out), "--optimizers", "rx"), "no optimizer is called 'rx'"),
    ):
        result = run(*arguments)
        assert result.returncode == 2 and words in result.stderr and len(result.stderr.splitlines()) == 1
    assert not out.exists()
