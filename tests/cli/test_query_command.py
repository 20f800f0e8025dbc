"""Asking a benchmark from the shell: a table says which of its repeats a seed draws."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from nasbed import Metric, load, space
from nasbed.cli import app
from nasbed.results import Rows, TableInfo, write_results

ACCURACY = Metric("accuracy", split="validation", unit="%", bounds=(0, 100))
CELL = "|nor_conv_3x3~0|+|nor_conv_3x3~0|nor_conv_3x3~1|+|skip_connect~0|nor_conv_3x3~1|nor_conv_3x3~2|"
SEEDS = (777, 888, 999)


def _table(folder: Path, *, with_seeds: bool) -> str:
    code = space("nb201").codes([space("nb201").parse(CELL)])
    rows = [Rows.of(code, {ACCURACY.key: np.array([seed / 10])}, seed=seed if with_seeds else -1) for seed in SEEDS]
    write_results(folder, TableInfo("three", "nb201", (ACCURACY,)), rows)
    return str(folder)


def output_of(*arguments: str) -> str:
    result = CliRunner().invoke(app, ["query", *arguments], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


@pytest.mark.parametrize("part", ["", ":no-pooling"])
def test_query_says_which_repeat_a_seed_draws(tmp_path: Path, part: str) -> None:
    """Whether a stored seed is asked for or one that the table has never seen."""
    name = _table(tmp_path / "table", with_seeds=True) + part
    benchmark = load(name)
    for seed in (0, 5, 777, 888, 123456):
        answer = benchmark.query(benchmark.space.parse(CELL), seed=seed)
        assert answer.seed in SEEDS
        repeat = SEEDS.index(answer.seed) + 1
        text = " ".join(output_of(name, CELL, "--seed", str(seed)).split())
        assert f" seed {answer.seed} " in text
        assert f"repeat {repeat} of 3, drawn by seed {seed}; stored seeds: 777, 888, 999" in text
        numbers = json.loads(output_of(name, CELL, "--seed", str(seed), "--json"))
        assert numbers["seed"] == answer.seed and numbers[ACCURACY.key] == answer[ACCURACY.key]
        assert (numbers["asked_seed"], numbers["repeat"], numbers["stored_seeds"]) == (seed, repeat, list(SEEDS))


def test_query_of_a_table_without_seeds_says_the_repeat_alone(tmp_path: Path) -> None:
    text = output_of(_table(tmp_path / "table", with_seeds=False), CELL, "--seed", "5")
    assert "of 3, drawn by seed 5\n" in text and "stored seed" not in text


def test_query_of_a_mean_draws_no_repeat(tmp_path: Path) -> None:
    name = _table(tmp_path / "table", with_seeds=True)
    text = output_of(f"{name}:mean", CELL, "--seed", "5")
    assert "88.8" in text and "repeat" not in text
