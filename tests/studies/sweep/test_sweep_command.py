"""The command ``nasbed study sweep``."""

from __future__ import annotations

from pathlib import Path

from typer.testing import CliRunner, Result

from nasbed.cli import app
from support.commands import run_command
from support.pages import check_page

SWEEP = ["study", "sweep", "--optimizer", "re", "--seeds", "3", "--budget", "30ev"]
VARIED = ["--vary", "population_size=10,40", "--vary", "sample_size=0,5"]


def sweep(out: Path, *arguments: str) -> Result:
    return CliRunner().invoke(app, [*SWEEP, *VARIED, "--out", str(out), *arguments])


def test_sweep_runs_each_setting_once_and_prints_what_came_out(tmp_path: Path) -> None:
    """Regularised evolution is random search until its population is full: so 40 and 100 do the same in 30 steps."""
    out = tmp_path / "sweep"
    result = sweep(out, "--processes", "1")
    assert result.exit_code == 0, result.output
    rows = {line.split("  ")[0]: line for line in result.stdout.splitlines() if "sample_size" in line}
    regrets = {name: " ".join(line.removeprefix(name).split()[:2]) for name, line in rows.items()}
    assert regrets["population_size=40, sample_size=5"] == regrets["population_size=100, sample_size=10 (default)"]
    assert "population_size=10, sample_size=5" in regrets
    assert result.stdout.count("left out, ") == 2 and "at least 1, got 0" in result.stdout
    assert result.stdout.rstrip().endswith(str(out / "report.html"))
    check_page(out / "report.html")
    runs = {path: path.stat().st_mtime_ns for path in (out / "runs").rglob("*.npz")}
    assert len(runs) == 9
    again = sweep(out, "--processes", "1")
    assert again.stdout == result.stdout
    assert {path: path.stat().st_mtime_ns for path in runs} == runs, "what was run is kept"


def test_sweep_refuses_a_value_that_no_setting_takes(tmp_path: Path) -> None:
    process = run_command(*SWEEP, "--vary", "mutations=1,2", "--out", str(tmp_path / "sweep"))
    assert process.returncode == 2 and "re has no setting 'mutations'" in process.stderr
    assert not (tmp_path / "sweep").exists()
