"""``nasbed study local-search`` as a user meets it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from nasbed.cli import main
from support.tables import nb201_table

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """The command in this process: its status, output and errors."""

    def called(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["nasbed", "study", "local-search", *arguments])
        with pytest.raises(SystemExit) as exit_info:
            main()
        captured = capsys.readouterr()
        return int(exit_info.value.code or 0), captured.out, captured.err

    return called


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("searched") / "nb201"
    nb201_table(folder)
    return str(folder)


def test_local_search_prints_a_table_and_the_outcome(run: Run, table: str, tmp_path: Path) -> None:
    options = ("--optimizers", "rs", "--seeds", "3", "--budget", "100ev", "--processes", "1", "--format", "svg")
    status, output, messages = run(table, "--out", str(tmp_path / "out"), *options)
    assert status == 0, messages
    lines = output.splitlines()
    assert lines[0].split("  ")[0] == "evaluations" and "100 (100%)" in lines[0]
    assert "Local search is" in output and lines[-1].endswith("report.html")
    assert (tmp_path / "out" / "report.html").is_file()


def test_local_search_refuses_bad_input_in_one_line(run: Run, table: str, tmp_path: Path) -> None:
    out = tmp_path / "out"
    for options, words in (
        (("--optimizers", "rx"), "no optimizer is called 'rx'"),
        (("--optimizers", "ls"), "at least 1 other method, got ls"),
        (("--budget", "soon"), "such as 500ev or 1e6s"),
        (("--early", "1"), "above 0 and below 1, got 1"),
        (("--format", "gif"), "svg, png, pdf"),
    ):
        status, _, messages = run(table, "--out", str(out), *options)
        assert status == 2 and words in messages and len(messages.splitlines()) == 1, messages
    assert not out.exists()
