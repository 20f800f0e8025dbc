"""Zero-cost proxies in searches from the command line: methods with and without them in one comparison."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from nasbed import Metric, NasbedError, space
from nasbed.cli import app
from nasbed.experiments.runs import load_runs
from nasbed.proxies.table import ScoresInfo, table_of_rows
from nasbed.results import Rows, TableInfo, write_results
from support.tables import additive

pytestmark = pytest.mark.usefixtures("without_charts")


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A made-up table of all nb201 cells in which more parameters are better."""
    folder = tmp_path_factory.mktemp("warm") / "table"
    metrics = (Metric("accuracy", split="validation", unit="%", bounds=(0, 100)),)
    cells = space("nb201")
    codes = cells.codes(list(cells.enumerate()))
    parameters = cells.costs(codes)[:, 0]
    values = {"validation_accuracy": 50 * parameters / parameters.max() + additive(codes) / additive(codes).max()}
    rows = Rows.of(codes, values, fidelity=200, seed=0, train_time_s=10.0)
    write_results(folder, TableInfo("made-up", "nb201", metrics), [rows])
    return str(folder)


@pytest.fixture(scope="module")
def scores(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("scores") / "scores.parquet"
    codes = [arch.code for arch in space("nb201").enumerate()][::3]
    values = {"synflow": space("nb201").costs(np.array(codes))[:, 0].tolist()}
    about = ScoresInfo("nb201", "digits")
    table_of_rows(about, codes, [0] * len(codes), values, seconds={"synflow": [0.25] * len(codes)}).write(path)
    return str(path)


def output_of(*arguments: str) -> str:
    result = CliRunner().invoke(app, ("run", *arguments), catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


def test_run_compares_methods_with_and_without_proxies(table: str, scores: str, tmp_path: Path) -> None:
    common = ("--seeds", "3", "--budget", "20ev", "--engine", "serial", "--out", str(tmp_path))
    text = output_of(table, "--optimizers", "rs,re", "--set", "re.population_size=8", "--warm-start", "synflow:100",
                "--filter", "params:5", "--scores", scores, *common)  # fmt: skip
    names = {"rs", "re", "rs+synflow", "re+synflow", "rs~params", "re~params"}
    runs = load_runs(tmp_path)
    assert set(runs.methods) == names and all(len(run) == 20 and not run.error for run in runs.runs)
    for name in names:
        assert re.search(rf"^{re.escape(name)} ", text, re.MULTILINE), name
        assert all(run.scoring_s == (25 if "synflow" in name else 0) for run in runs.of(name))
    page = (tmp_path / "report.html").read_text()
    assert "settings of re+synflow" in page and "synflow:100" in page and "with the time they took" in page
    numbers = json.loads((tmp_path / "numbers.json").read_text())
    regrets = {method["method"]: method[numbers["compared_by"]]["estimate"] for method in numbers["methods"]}
    assert set(regrets) == names
    assert max(regrets["rs+synflow"], regrets["rs~params"]) < regrets["rs"]

    output_of(table, "--optimizers", "ls", "--warm-start", "params:50", "--only-guided", *common)
    assert set(load_runs(tmp_path).methods) == {*names, "ls+params"}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--warm-start", "synflow"), "--warm-start is PROXY:N or PROXY:N:START"),
        (("--warm-start", "synflow:0"), "whole numbers of at least 1"),
        (("--filter", "synflow:ten"), "--filter is PROXY:M"),
        (("--warm-start", "synflw:10"), "no proxy is called 'synflw'"),
        (("--warm-start", "synflow:10"), "give a file with --scores, or the images"),
        (("--filter", "synflow:10"), "give a file with --scores$"),
        (("--filter", "synflow:10", "--scores", "none.parquet"), "none.parquet is not a file; make one with"),
        (("--only-guided",), "--only-guided needs --warm-start or --filter"),
        (("--optimizers", "rs,smac", "--filter", "params:10"), "smac proposes by its own model"),
        (
            ("--warm-start", "params:10", "--set", "re+params.population_size=5"),
            "settings are for a method that is run",
        ),
        (("--warm-start", "params:10", "--warm-start", "params:20"), "once with each proxy"),
    ],
)
def test_run_refuses_guidance_in_one_line(
    arguments: tuple[str, ...], message: str, table: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(NasbedError, match=message) as caught:
        output_of(table, *arguments, "--seeds", "1", "--budget", "5ev", "--engine", "serial", "--out", "out")
    assert "\n" not in str(caught.value) and not Path("out").exists()
