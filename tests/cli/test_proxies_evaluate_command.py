"""``nasbed proxies evaluate`` as a user meets it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import typer
from typer.testing import CliRunner, Result

from nasbed.cli.proxies.evaluate import evaluate
from nasbed.core.errors import NasbedError
from nasbed.proxies.table import ScoresInfo, ScoreTable
from support.tables import additive, nb201_table

Run = Callable[..., Result]


@pytest.fixture
def run() -> Run:
    app = typer.Typer()
    app.command()(evaluate)
    return lambda *arguments: CliRunner().invoke(app, list(map(str, arguments)), env={"COLUMNS": "100"})


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A file of scores, and the folder of the table with the truth."""
    folder = tmp_path_factory.mktemp("evaluated")
    table = nb201_table(folder / "table", share=0.1)
    codes = np.array(table.cache.codes)
    noise = np.random.default_rng(0).normal(size=(2, len(codes), 2))
    values = {"params": additive(codes)[:, None] + 6 * noise[0], "nwot": additive(codes)[:, None] + 2 * noise[1]}
    ScoreTable(ScoresInfo("nb201"), codes, (0, 1), values).write(folder / "scores.parquet")
    return folder / "scores.parquet", folder / "table"


def test_evaluate_prints_a_table_and_writes_the_report(run: Run, pair: tuple[Path, Path], tmp_path: Path) -> None:
    out = tmp_path / "judged"
    outcome = run(*pair, "--out", out, "--resamples", 100, "--format", "svg", "--top-percent", 5)
    assert outcome.exit_code == 0, outcome.output
    lines = outcome.stdout.splitlines()
    assert lines[0].startswith("generated/nb201: 1562 architectures, test_accuracy")
    assert lines[1].split("  ")[0] == "proxy" and "top 5 %" in lines[1] and lines[2].startswith("nwot")
    assert all(len(line) <= 100 for line in lines[:5])
    assert lines[-1] == str(out / "report.html") and (out / "report.html").is_file()
    assert sorted(path.name for path in (out / "figures").iterdir()) == [
        "global-against-top.svg",
        "overlap.svg",
        "spearman.svg",
        "top.svg",
    ]


def test_evaluate_judges_by_default_what_comes_with_the_package(run: Run, tmp_path: Path) -> None:
    """One architecture connects nothing, so ten proxies have no score for it: one remark, not ten."""
    outcome = run("--out", tmp_path / "judged", "--resamples", 20, "--format", "svg")
    assert outcome.exit_code == 0, outcome.output
    assert outcome.stdout.startswith("nb201-cifar10-16-v1.0: 4954 architectures, test_accuracy")
    (remark,) = [line for line in outcome.stderr.splitlines() if "no score" in line]
    assert remark.endswith("synflow, zen, zico have no score for 1 architecture: ranked last")


def test_evaluate_takes_several_tasks_and_prints_json(run: Run, pair: tuple[Path, Path], tmp_path: Path) -> None:
    out = tmp_path / "judged"
    options = ("--out", out, "--resamples", 20, "--format", "svg", "--json", "--metric", "validation_accuracy")
    outcome = run(*pair, *pair, *options, "--baseline", "nwot", "--k", 3)
    assert outcome.exit_code == 0, outcome.output
    numbers = json.loads(outcome.stdout)
    assert numbers == json.loads((out / "numbers.json").read_text())
    first, second = numbers["tasks"]
    assert second["task"] == "generated/nb201 (2)" and second["proxies"] == first["proxies"]
    assert (first["baseline"], first["k"], first["metric"]) == ("nwot", 3, "validation_accuracy")


def test_evaluate_tells_what_is_left_out(run: Run, pair: tuple[Path, Path], tmp_path: Path) -> None:
    full = ScoreTable.read(pair[0])
    codes = {tuple(code) for code in full.codes.tolist()}
    outside: np.ndarray = np.array([code for code in np.ndindex(5, 5, 5, 5, 5, 5) if code not in codes][:4])
    values = {"nwot": np.concatenate([full.values["nwot"], np.zeros((4, 2))])}
    values["nwot"][0] = np.nan
    extra_scores = ScoreTable(
        full.about,
        np.concatenate([full.codes, outside]),
        full.seeds,
        values,
        no_score=np.full((len(full) + 4, 2), "nwot: odd", dtype=object),
    )
    extra_scores.write(tmp_path / "more.parquet")
    outcome = run(
        tmp_path / "more.parquet", pair[1], "--out", tmp_path / "judged", "--resamples", 20, "--format", "svg"
    )
    assert outcome.exit_code == 0, outcome.output
    assert "4 scored architectures are not in the table" in outcome.stderr
    assert "nwot has no score for 1 architecture: ranked last" in outcome.stderr
    assert "no scores by params; the baseline is nwot" in outcome.stderr


def test_evaluate_refuses_bad_input_in_one_line(run: Run, pair: tuple[Path, Path], tmp_path: Path) -> None:
    out, scores, table = tmp_path / "out", *pair
    file = tmp_path / "file"
    file.write_text("")
    for arguments, words in (
        ((scores,), "come in pairs, SCORES TABLE, got 1"),
        ((scores, table, scores), "got 3"),
        ((table, scores), "is neither"),
        ((scores, "no/table"), "no/table"),
        ((scores, table, "--top-percent", "-1"), "more than 0 and at most 100 percent, got -1"),
        ((scores, table, "--weight", "2"), "above 0 and below 1, got 2"),
        ((scores, table, "--k", "0"), "got k = 0"),
        ((scores, table, "--resamples", "0"), "1 resample or more"),
        ((scores, table, "--metric", "accuracy"), "has no metric 'accuracy'"),
        ((scores, table, "--baseline", "zen"), "no scores by the baseline 'zen'"),
        ((scores, table, "--format", "gif"), "svg, png, pdf"),
        ((scores, table, "--out", file), "is a file"),
    ):
        options = () if "--out" in arguments else ("--out", out)
        outcome = run(*arguments, *options)
        assert isinstance(outcome.exception, NasbedError | OSError), outcome.output
        assert words in str(outcome.exception) and len(str(outcome.exception).splitlines()) == 1, str(outcome.exception)
    assert not out.exists()
