"""The command ``nasbed study zero-cost``."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import typer
from typer.testing import CliRunner, Result

from nasbed import NasbedError
from nasbed.benchmarks import TabularBenchmark
from nasbed.proxies.table import ScoresInfo, ScoreTable
from nasbed.studies.nas_bench_unseen import NAS_BENCH_UNSEEN
from nasbed.studies.zero_cost.command import _tasks as tasks_of
from nasbed.studies.zero_cost.command import zero_cost
from support.tables import additive, nb201_table

FAST = ("--top-percent", "10", "--resamples", "30", "--repeats", "2", "--format", "svg")


def run(*arguments: str) -> Result:
    app = typer.Typer(pretty_exceptions_enable=False)
    app.command("zero-cost")(zero_cost)
    return CliRunner().invoke(app, list(arguments))


def refusal(*arguments: str) -> str:
    """The error message, which is one line."""
    result = run(*arguments)
    assert isinstance(result.exception, NasbedError), result.output
    text = str(result.exception)
    assert "\n" not in text
    return text


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    """A file of scores, and the table that has the truth."""
    folder = tmp_path_factory.mktemp("scored")
    table: TabularBenchmark = nb201_table(folder / "nb201", share=0.012)
    codes = np.array(table.cache.codes)
    rng = np.random.default_rng(0)
    true = additive(codes)
    values = {name: (true + 5 * rng.normal(size=len(codes)))[:, None] for name in ("params", "synflow", "nwot")}
    scores = ScoreTable(ScoresInfo("nb201", dataset="others"), codes, (0,), values)
    scores.write(folder / "scores.parquet")
    return str(folder / "scores.parquet"), str(folder / "nb201")


@pytest.mark.thorough
def test_zero_cost_prints_verdicts_and_writes_a_report(pair: tuple[str, str], tmp_path: Path) -> None:
    out = tmp_path / "out"
    result = run(*pair, *pair, "--out", str(out), *FAST)
    assert result.exit_code == 0, result.exception
    lines = result.output.splitlines()
    assert lines[0].split() == ["statement", "verdict", "why"] and lines[-1].endswith("report.html")
    assert "S4 spearman" in result.output and "Adding scores to the encoding of a surrogate" in result.output
    numbers = json.loads((out / "numbers.json").read_text())
    assert [task["task"] for task in numbers["tasks"]] == ["generated/nb201", "generated/nb201 (2)"]
    assert numbers["tasks"][0]["remark"] == "taken on images of others; the truth is of generated"
    assert numbers["tasks"][0]["ceiling"]["trainings"] == 3
    assert (out / "report.html").is_file()


def test_zero_cost_takes_by_default_tasks_that_have_all_proxies_of_the_paper() -> None:
    """Those of its figure 1, so that no statement stays open for want of scores."""
    twelve = "params grad_norm fisher jacov snip grasp synflow ntk zen zico meco swap"
    tasks, remarks = tasks_of([])
    assert [task.name for task in tasks] == list(NAS_BENCH_UNSEEN) and remarks == {}
    assert all(set(twelve.split()) <= task.scores.keys() for task in tasks)


def test_zero_cost_refuses_bad_input_in_one_line_before_working(pair: tuple[str, str], tmp_path: Path) -> None:
    out = tmp_path / "out"
    scores, table = pair
    for arguments, words in (
        ((scores,), "scores and tables come in pairs"),
        ((table, table), "scores are a file or, in the package, darts-chesseract-v1.0, "),
        ((scores, "no/such"), "no/such does not exist"),
        ((scores, table, "--top-percent", "0"), "more than 0 and at most 100 percent"),
        ((scores, table, "--top-percent", "0.1"), "ask for a larger --top-percent"),
        ((scores, table, "--weight", "1"), "above 0 and below 1"),
        ((scores, table, "--format", "gif"), "svg, png, pdf"),
    ):
        assert words in refusal(*arguments, "--out", str(out))
    assert not out.exists()
