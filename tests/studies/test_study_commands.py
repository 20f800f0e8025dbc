"""``nasbed study`` as a user meets it."""

from __future__ import annotations

import json
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from support.commands import run_command
from support.tables import nb201_table

FAST = ("--format", "svg", "--walk-steps", "100")


def run(*arguments: str) -> CompletedProcess[str]:
    return run_command("study", *arguments)


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tables") / "nb201"
    nb201_table(folder, share=0.05)
    return folder


def test_study_landscape_writes_a_report_and_prints_its_numbers(table: Path, tmp_path: Path) -> None:
    done = run("landscape", str(table), "--out", str(tmp_path / "report"), *FAST)
    assert done.returncode == 0, done.stderr
    numbers = json.loads((tmp_path / "report" / "numbers.json").read_text())
    assert f"{numbers['distance']['fitness_distance_correlation']:.3f}" in done.stdout
    assert "fitness-distance correlation" in done.stdout and "report.html" in done.stdout
    assert (tmp_path / "report" / "report.html").is_file()
    assert {path.suffix for path in (tmp_path / "report" / "figures").iterdir()} == {".svg"}


def test_study_landscape_is_decided_by_its_seed(table: Path, tmp_path: Path) -> None:
    for name in "ab":
        done = run("landscape", str(table), "--out", str(tmp_path / name), "--seed", "3", *FAST)
        assert done.returncode == 0, done.stderr
    one, same = ((tmp_path / name / "numbers.json").read_text() for name in "ab")
    assert one == same


def test_study_refuses_bad_input_in_one_line_before_working(table: Path, tmp_path: Path) -> None:
    taken = tmp_path / "taken"
    taken.write_text("a file")
    out = tmp_path / "report"
    for arguments, word in (
        (("landscape", str(table), "--out", str(out), "--format", "gif"), "svg, png, pdf"),
        (("landscape", str(table), "--out", str(taken)), "is a file"),
        (("landscape", str(table), "--out", str(out), "--metric", "speed"), "no metric 'speed'"),
        (("landscape", "no/such-table", "--out", str(out)), "no benchmark is called"),
        (("nas-hpo", "--out", str(taken)), "is a file"),
    ):
        done = run(*arguments)
        assert done.returncode == 2 and word in done.stderr
        assert len(done.stderr.splitlines()) == 1 and "Traceback" not in done.stderr
    assert not out.exists()
