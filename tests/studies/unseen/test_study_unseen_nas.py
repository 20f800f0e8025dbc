"""``study unseen --nas`` as a user meets it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner, Result

pytest.importorskip("torch", reason="needs torch")

from nasbed.core.errors import NasbedError
from nasbed.core.execution import SerialEngine
from nasbed.studies.unseen.command import unseen
from support.unseen_dataset import unseen_folder

APP = typer.Typer()
APP.command()(unseen)

SMALL = "--search-epochs 1 --epochs 1 --search-channels 4 --search-cells 2 --search-images 64 --channels 4 --cells 2 --device cpu"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return unseen_folder(tmp_path_factory.mktemp("made") / "Gutenberg")


def run(*arguments: str) -> Result:
    result = CliRunner().invoke(APP, arguments, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result


def test_methods_are_run_once_shown_beside_the_paper_and_compared(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Processes that run several at a time have a test of their own."""
    monkeypatch.setattr("nasbed.core.execution.LocalEngine", lambda processes: SerialEngine())
    file = tmp_path / "r.jsonl"
    shared = ("--datasets", str(folder), "--results", str(file), "--only-mine", *SMALL.split())
    result = run("--nas", "pc-darts, gdas", "--set", "supernet.batch=32", *shared)
    assert "2 results were added" in result.stderr and "gutenberg, pc-darts 0: search" in result.stderr
    assert (tmp_path / "r.jsonl.checkpoints").is_dir()
    assert "measure rs-darts" in result.stdout and "s1]" in result.stdout and "gdas (not in the paper)" in result.stdout
    out = tmp_path / "page"
    chance = run(
        *("--nas", "rs-darts,rs-bonsai", "--seeds", "2", "--together", "--processes", "2"),
        *("--out", str(out), "--format", "svg", *shared),
    )
    assert "2 searches and trainings, several at a time" in chance.stderr  # the two of Bonsai's space
    assert "4 results were added" in chance.stderr
    assert (
        "Found versus random architectures" in chance.stdout
        and " of 2\n" in chance.stdout
        and "Of 2 found architectures" in chance.stdout
    )
    page = (out / "report.html").read_text(encoding="utf-8")
    assert "Found versus random architectures" in page and "2 random architectures" in page
    assert (out / "figures" / "found-chance.svg").exists()
    before = file.read_bytes()
    repeated = run("--nas", "rs-darts,pc-darts", "--set", "supernet.batch=32", *shared, "--json")
    assert "has all results already" in repeated.stderr and file.read_bytes() == before
    numbers = json.loads(repeated.stdout)
    measured = {cell["model"]: cell for cell in numbers["measured"]}
    assert set(measured) == {"pc-darts", "gdas", "rs-darts", "rs-bonsai"}
    assert measured["pc-darts"]["published"] == 49.12 and measured["gdas"]["published"] is None
    assert measured["pc-darts"]["search"]["batch"] == 32 and measured["rs-darts"]["architectures"] == 2
    assert measured["pc-darts"]["skeleton"] == {"channels": 4, "cells": 2}


def test_trainings_alone_may_be_in_bfloat16_and_searches_are_recorded(folder: Path, tmp_path: Path) -> None:
    file = tmp_path / "r.jsonl"
    single = ("--precision", "bfloat16", "--set", "supernet.precision=float32", "--set", "supernet.batch=32")
    run("--nas", "gdas", "--datasets", str(folder), "--results", str(file), *single, *SMALL.split())
    result = json.loads(file.read_text())
    assert (result["search"]["precision"], result["recipe"]["precision"]) == ("float32", "bfloat16")
    (record,) = (tmp_path / "r.jsonl.searches").rglob("search.json")
    assert json.loads(record.read_text())["method"] == "gdas"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("--nas pc-dart --datasets digits --results r", "did you mean pc-darts"),
        ("--nas pc-darts --datasets digits", "--results FILE"),
        ("--nas pc-darts --results r", "--datasets DIR"),
        ("--datasets digits", "--nas"),
        ("--nas rs-darts --datasets digits --results r --set bonsai.tarjet=1", "did you mean target"),
        ("--nas rs-darts --datasets digits --results r --set darts.flip=true", "supernet or bonsai"),
        ("--nas rs-darts --datasets digits --results r --set supernet.flip=3", "true or false"),
        ("--nas rs-darts --datasets digits --results r --epochs 3", "budgets 1, 2, 4"),
        ("--nas rs-darts --datasets digits --results r --recipe nb101 --together", "a population is trained by SGD"),
        ("--preset paper", "--nas"),
        ("--learning-curve", "--nas"),
        ("--nas rs-darts --datasets digits --results r --preset papers", "did you mean paper"),
        ("--nas rs-darts --datasets digits --results r --preset paper --together", "sets drop_path"),
        (f"--nas rs-darts --datasets digits --results {__file__}", "a result is an object of JSON"),
    ],
)
def test_user_errors_are_one_line_and_come_before_any_search(
    arguments: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(NasbedError, match=message) as caught:
        run(*arguments.split())
    assert "\n" not in str(caught.value) and not list(tmp_path.iterdir())
