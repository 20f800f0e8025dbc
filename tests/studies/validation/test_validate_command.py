"""The command ``nasbed validate``."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from nasbed.cli import main
from support.pages import check_page
from support.surrogates import small_surrogate, write_evaluations

QUICK = ("--set", "lgb.rounds=20", "--set", "lgb.learning_rate=0.3", "--format", "svg", "--processes", "1")


@dataclass(frozen=True)
class CommandResult:
    status: int
    out: str
    err: str


Run = Callable[..., CommandResult]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """The command in this process: starting a process for each would take longer than the command."""

    def run_command(*arguments: str) -> CommandResult:
        monkeypatch.setattr(sys, "argv", ["nasbed", "validate", *arguments])
        with pytest.raises(SystemExit) as exit_info:
            main()
        captured = capsys.readouterr()
        return CommandResult(int(exit_info.value.code or 0), captured.out, captured.err)

    return run_command


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder: Path = write_evaluations(tmp_path_factory.mktemp("tables") / "generated", count=150).folder
    return folder


def test_validate_writes_a_page_and_prints_its_numbers(run: Run, table: Path, tmp_path: Path) -> None:
    out = tmp_path / "report"
    parts = "table,size,looo,fits,depth,free,trajectories"
    result = run(str(table), "--parts", parts, "--sizes", "50,140", "--repeats", "1", "--out", str(out), *QUICK)
    assert result.status == 0, result.err
    numbers = json.loads((out / "numbers.json").read_text())
    error = numbers["table_error"]["rotations"][0]["by_seed"][0]["mae"]
    assert f"{error:.4g}" in result.out
    assert numbers["table_error"]["seeds"] == [0, 1] and numbers["size"]["sizes"] == [50, 140]
    page = (out / "report.html").read_text()
    assert "Leaving one search method out" in page
    check_page(out / "report.html")
    for text in (page, result.err):
        assert "a method cannot search in" in text  # what was left out, and the reason
    first, *following = result.err.splitlines()  # without a terminal there are lines instead of bars
    assert first.startswith("nasbed: left out: trajectories: a method cannot search in")
    progress = ["table: 2 of 2", "size: 2 of 2", "looo: 2 of 2", "fits: 1 of 1"]
    assert following[:4] == [f"nasbed: {line}" for line in progress] and not any(
        "trajectories" in line for line in following
    )
    assert {path.suffix for path in (out / "figures").iterdir()} == {".svg"}


def test_validate_tests_a_surrogate_on_its_own_table(run: Run, tmp_path: Path) -> None:
    artefact = small_surrogate(tmp_path)
    path = artefact.save(tmp_path / "it.snb")
    table = tmp_path / "table-nb201"
    result = run(str(path), "--table", str(table), "--parts", "fits,size", "--out", str(tmp_path / "out"), *QUICK)
    assert result.status == 0, result.err
    (fit,) = json.loads((tmp_path / "out" / "numbers.json").read_text())["fits"]["fits"]
    assert fit["label"] == artefact.name
    assert fit["scores"]["r2"] == pytest.approx(artefact.manifest.figures["r2"], rel=1e-9)
    assert fit["calibration"]["coverage"] == pytest.approx(artefact.manifest.figures["coverage"])
    assert "left out: size" in result.err


def test_validate_refuses_bad_input_in_one_line_before_working(run: Run, table: Path, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("a file")
    out = tmp_path / "report"
    for arguments, word in (
        ((str(table), "--parts", "fit", "--out", str(out)), "no part of a validation is called 'fit'"),
        ((str(table), "--models", "lbg", "--out", str(out)), "'lbg'"),
        ((str(table), "--set", "lgb.speed=1", "--out", str(out)), "no setting 'speed'"),
        ((str(table), "--set", "speed=1", "--out", str(out)), "MODEL.KEY=VALUE"),
        ((str(table), "--out", str(file)), "is a file"),
        ((str(table), "--metric", "speed", "--out", str(out)), "no metric 'speed'"),
        ((str(table), "--sizes", "1,b", "--out", str(out)), "whole numbers"),
        ((str(table), "--table", str(table), "--out", str(out)), "is a table"),
        (("no/such-table", "--out", str(out)), "no/such-table does not exist"),
    ):
        result = run(*arguments)
        assert result.status == 2 and word in result.err, result.err
        assert len(result.err.splitlines()) == 1 and "Traceback" not in result.err
    assert not out.exists()
