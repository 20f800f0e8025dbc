"""Searches as the explorer shows them: a folder of runs that was really made."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import jsonschema
import numpy as np
import pytest
from typer.testing import CliRunner

import nasbed
from nasbed import load_runs
from nasbed.benchmarks.places import table_path
from nasbed.cli import app
from nasbed.core.errors import BadFile
from nasbed.experiments.recorded_runs import recorded_runs
from nasbed.explorer.catalogue import Catalogue
from nasbed.explorer.openapi import PATHS
from nasbed.explorer.searches import Searches, searched_benchmark
from nasbed.results.store import Results
from support.explorers import Explorer, serving

TABLE, RECORDED = "nb201-cifar10-16-v1.0", "darts-cifar10-16-v2.0"


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory, without_charts: None) -> Path:
    """Two seeds of two methods on a table."""
    out = tmp_path_factory.mktemp("explored") / "searched"
    words = [
        "run",
        TABLE,
        "--optimizers",
        "rs,re",
        "--seeds",
        "2",
        "--budget",
        "30ev",
        "--engine",
        "serial",
        "--out",
        str(out),
    ]
    result = CliRunner().invoke(app, words)
    assert result.exit_code == 0, result.output
    return out


@pytest.fixture(scope="module")
def explorer(runs: Path) -> Iterator[Explorer]:
    with serving(Catalogue(searched_benchmark([runs])), runs=(runs,)) as running:
        yield running


def test_folder_is_listed_with_its_methods(explorer: Explorer, runs: Path) -> None:
    folder, recorded = explorer.get("/api/runs")["folders"]
    assert recorded["recorded"] and recorded["name"] == f"recorded: {RECORDED}"
    assert folder == {
        "name": "searched", "benchmark": TABLE, "shown": True, "methods": ["rs", "re"], "runs": 4, "budget": "30ev",
        "recorded": False,
    }  # fmt: skip
    assert explorer.catalogue.default == TABLE


def test_paths_are_the_evaluations_of_the_runs_with_their_incumbents(explorer: Explorer, runs: Path) -> None:
    answer = explorer.get("/api/runs/paths", folder="searched")
    jsonschema.validate(answer, PATHS)
    stored = {(run.method, run.seed): run for run in load_runs(runs).runs}
    points = explorer.catalogue.open(TABLE).points
    space = points.space
    assert answer["methods"] == ["rs", "re"] and len(answer["runs"]) == 4
    for path in answer["runs"]:
        run = stored[path["method"], path["seed"]]
        assert path["value"] == run.value.tolist() and path["time_s"] == run.end_s.tolist()
        texts = [answer["architectures"][number] for number in path["architecture"]]
        assert texts == space.texts(run.codes)
        rows = [answer["rows"][number] for number in path["architecture"]]
        assert points.codes[rows].tolist() == run.codes.tolist()
        rises = run.value > np.concatenate([[-np.inf], np.maximum.accumulate(run.value)[:-1]])
        assert path["incumbent"] == rises.tolist()


def test_unknown_folders_and_folders_without_runs_are_refused(explorer: Explorer, tmp_path: Path) -> None:
    assert explorer.refusal("/api/runs/paths", folder="../searched")[0] == 404
    assert explorer.refusal("/api/runs/paths")[0] == 400
    with pytest.raises(BadFile, match="holds no runs"):
        Searches(explorer.catalogue, [tmp_path])


def test_folders_of_the_same_name_are_told_apart(explorer: Explorer, runs: Path) -> None:
    searches = Searches(explorer.catalogue, [runs, runs])
    assert [folder["name"] for folder in searches.listed()["folders"]] == [
        "searched",
        str(runs),
        f"recorded: {RECORDED}",
    ]


def test_searches_that_a_table_recorded_are_shown_in_their_order(explorer: Explorer) -> None:
    answer = explorer.get("/api/runs/paths", folder=f"recorded: {RECORDED}")
    jsonschema.validate(answer, PATHS)
    recorded = {(run.method, run.seed): run for run in recorded_runs(Results.open(table_path(RECORDED)))}
    space = nasbed.space("darts")
    assert answer["benchmark"] == RECORDED and len(answer["runs"]) == len(recorded) == 12
    for path in answer["runs"]:
        run = recorded[path["method"], path["seed"]]
        assert len(path["value"]) == 208 and path["value"] == run.value.tolist()
        assert [answer["architectures"][number] for number in path["architecture"]] == space.texts(run.codes)
        assert all(answer["rows"][number] is not None for number in path["architecture"])
