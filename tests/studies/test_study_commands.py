"""The commands ``nasbed study landscape`` and ``nasbed study nas-hpo``."""

from __future__ import annotations

import json
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from nasbed.studies.nas_hpo.command import NAS_HPO_TABLES
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


@pytest.fixture(scope="module")
def landscape(table: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[CompletedProcess[str], Path]:
    """What the command printed, and the folder that it wrote."""
    out = tmp_path_factory.mktemp("landscape") / "report"
    return run("landscape", str(table), "--out", str(out), "--seed", "3", *FAST), out


def test_study_landscape_writes_a_report_and_prints_its_numbers(
    landscape: tuple[CompletedProcess[str], Path],
) -> None:
    process, out = landscape
    assert process.returncode == 0, process.stderr
    numbers = json.loads((out / "numbers.json").read_text())
    assert f"{numbers['distance']['fitness_distance_correlation']:.3f}" in process.stdout
    assert "fitness-distance correlation" in process.stdout and "report.html" in process.stdout
    assert (out / "report.html").is_file()
    assert {path.suffix for path in (out / "figures").iterdir()} == {".svg"}


def test_study_landscape_is_decided_by_its_seed(
    landscape: tuple[CompletedProcess[str], Path], table: Path, tmp_path: Path
) -> None:
    process = run("landscape", str(table), "--out", str(tmp_path / "again"), "--seed", "3", *FAST)
    assert process.returncode == 0, process.stderr
    assert (tmp_path / "again" / "numbers.json").read_text() == (landscape[1] / "numbers.json").read_text()


def test_study_nas_hpo_compares_with_the_published_correlation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, thorough: bool
) -> None:
    """Section 5.1 of NAS-Bench-101 has 0.9155 for protein; the page has four readings of what an architecture is."""
    tables = NAS_HPO_TABLES if thorough else ("fcnet/protein",)
    monkeypatch.setattr("nasbed.studies.nas_hpo.command.NAS_HPO_TABLES", tables)
    process = run("nas-hpo", "--out", str(tmp_path / "report"))
    assert process.returncode == 0, process.stderr
    *readings, _, verdict, page = process.stdout.splitlines()
    assert all(any(line.startswith(f"{name}, architecture = ") for line in readings) for name in tables)
    assert verdict == "published for protein: 0.9155; nearest: units, activations, 0.9280"
    assert Path(page).is_file()


def test_study_refuses_bad_input_in_one_line_before_working(table: Path, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("a file")
    out = tmp_path / "report"
    for arguments, word in (
        (("landscape", str(table), "--out", str(out), "--format", "gif"), "svg, png, pdf"),
        (("landscape", str(table), "--out", str(file)), "is a file"),
        (("landscape", str(table), "--out", str(out), "--metric", "speed"), "no metric 'speed'"),
        (("landscape", "no/such-table", "--out", str(out)), "no/such-table does not exist"),
        (("nas-hpo", "--out", str(file)), "is a file"),
    ):
        process = run(*arguments)
        assert process.returncode == 2 and word in process.stderr
        assert len(process.stderr.splitlines()) == 1 and "Traceback" not in process.stderr
    assert not out.exists()
