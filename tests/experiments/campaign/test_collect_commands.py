"""``nasbed collect`` as it is typed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from nasbed.cli import app
from nasbed.core.errors import InvalidOption
from nasbed.results.store import Results
from support.campaign_space import own_space  # noqa: F401 (the campaign's space, found by name)

FILE = """
[campaign]
name = "own"
space = "support.campaign_space:own_space"
trials = 30
round = 10
[trainer]
kind = "function"
function = "functions.py:evaluate"
[shares]
rs = 0.5
re = 0.5
"""
FUNCTIONS = """
def evaluate(arch, fidelity, seed):
    if arch.code[1] == 0:
        raise ValueError("no plain ones")
    return arch.code[0] - arch.code[2] / 10
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "campaign.toml").write_text(FILE)
    (tmp_path / "functions.py").write_text(FUNCTIONS)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*arguments: str) -> str:
    result = CliRunner().invoke(app, ["collect", *arguments], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


def test_collect_runs_resumes_tells_and_exports(folder: Path) -> None:
    output = run("campaign.toml", "--engine", "serial")
    assert "failed or diverged, because" in output and "ValueError: no plain ones" in output
    assert "nasbed collect export campaign.sqlite --out own" in output
    with pytest.raises(InvalidOption, match=r"campaign.sqlite holds 30 of 30 results; resume it with --resume"):
        run("campaign.toml", "--engine", "serial")
    assert "ended                  30" in run("--resume", "--engine", "serial"), "campaign.toml is the usual name"
    status = json.loads(run("status", "campaign.sqlite", "--json"))
    assert (status["trials"], status["ended"], status["methods"]) == (30, 30, {"rs": 15, "re": 15})
    assert status["ok"] + status["failed"] == 30 and status["reasons"] == {
        "ValueError: no plain ones": status["failed"]
    }
    assert "30 rows" in run("export", "campaign.sqlite", "--out", "table")
    results = Results.open(folder / "table")
    assert (results.about.name, results.space.name) == ("own", "own_space")
    assert not (folder / "campaign.sqlite-wal").exists()


def test_collect_refuses_engines_and_options_that_there_are_not(folder: Path) -> None:
    with pytest.raises(InvalidOption, match="an engine is local, serial or ray, got 'cloud'"):
        run("campaign.toml", "--engine", "cloud")
    with pytest.raises(InvalidOption, match="--gpus-per-task is for the engine ray, got local"):
        run("run", "campaign.toml", "--gpus-per-task", "0.5")
    assert not (folder / "campaign.sqlite").exists()


def test_calibrate_is_for_populations_and_overwrites_nothing(folder: Path) -> None:
    with pytest.raises(InvalidOption, match=r"trained as populations, campaign.toml has the kind function"):
        run("calibrate", "campaign.toml", "--device", "cpu", "--out", "cpu.json")
    (folder / "cpu.json").write_text("{}")
    with pytest.raises(InvalidOption, match=r"cpu.json exists, and a calibration is never overwritten"):
        run("calibrate", "campaign.toml", "--device", "cpu", "--out", "cpu.json")
