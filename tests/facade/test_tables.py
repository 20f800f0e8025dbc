"""Runs, results, answers and scores as data frames: the same numbers, a row each."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

import nasbed
from nasbed.core.errors import MissingDependency
from nasbed.experiments.runs import Run
from nasbed.proxies.table import ScoresInfo, ScoreTable
from nasbed.results.export import export_results
from support.runs import runs_of
from support.surrogates import write_evaluations

pd = pytest.importorskip("pandas", reason="needs pandas: pip install 'nasbed[pandas]'")
CELL = "|none~0|+|none~0|none~1|+|none~0|none~1|none~2|"


def test_runs_have_a_row_an_evaluation_with_the_incumbent() -> None:
    run = Run(
        method="rs",
        seed=7,
        codes=np.array([[0] * 6, [-1] * 6, [0] * 6, [0] * 6]),
        fidelity=np.array([12, 12, 200, 200]),
        value=np.array([np.nan, 90.0, 80.0, 85.0]),
        status=np.array([1, 0, 0, 0], dtype=np.int8),
        start_s=np.array([0.0, 1.0, 2.0, 3.0]),
        end_s=np.array([1.0, 2.0, 3.0, 4.0]),
        others={"parameters": np.array([1.0, 2.0, 3.0, 4.0])},
    )
    frame = runs_of([run]).to_pandas()
    assert frame["method"].tolist() == ["rs"] * 4 and frame["seed"].tolist() == [7] * 4
    assert frame["evaluation"].tolist() == [1, 2, 3, 4]
    assert frame["architecture"].tolist() == [CELL, None, CELL, CELL]
    assert frame["status"].tolist() == ["diverged", "ok", "ok", "ok"]
    assert frame["validation_accuracy"].tolist()[1:] == [90.0, 80.0, 85.0]
    assert frame["parameters"].tolist() == [1.0, 2.0, 3.0, 4.0] and frame["end_s"].tolist() == [1.0, 2.0, 3.0, 4.0]
    # nothing at first; then the only one; then a longer training, which counts more than a better short one
    assert frame["incumbent"].tolist()[1:] == [90.0, 80.0, 85.0] and np.isnan(frame["incumbent"][0])
    assert frame["incumbent_evaluation"].isna().tolist() == [True, False, False, False]
    assert frame["incumbent_evaluation"].tolist()[1:] == [2, 3, 4]


def test_results_are_the_exported_rows(tmp_path: Path) -> None:
    results = write_evaluations(tmp_path / "table")
    export_results(results, tmp_path / "rows.csv")
    read, frame = pd.read_csv(tmp_path / "rows.csv"), results.to_pandas()
    assert list(frame.columns) == list(read.columns) == results.to_arrow().column_names
    assert len(frame) == results.manifest.rows
    assert frame["architecture"].tolist() == read["architecture"].tolist()
    assert frame["validation_accuracy"].tolist() == read["validation_accuracy"].tolist()


def test_answers_have_a_row_each() -> None:
    benchmark = nasbed.load("nb201-chesseract-v1.0")
    texts = [CELL, CELL.replace("none~2", "nor_conv_3x3~2")]
    frame = benchmark.query_many(texts, seed=3).to_pandas()
    assert frame["architecture"].tolist() == texts
    for text, value in zip(texts, frame["validation_accuracy"], strict=True):
        assert benchmark.query(text, seed=3)["validation_accuracy"] == value
    assert frame["fidelity"].tolist() == [8, 8] and frame["status"].tolist() == ["ok", "ok"]


def test_scores_have_a_row_an_architecture_and_seed() -> None:
    scores = ScoreTable(
        ScoresInfo("nb201"), np.array([[0] * 6, [1] * 6]), (0, 1), {"params": np.array([[1.0, 2.0], [3.0, 4.0]])}
    )
    frame = scores.to_pandas()
    assert frame["seed"].tolist() == [0, 1, 0, 1] and frame["params"].tolist() == [1.0, 2.0, 3.0, 4.0]


def test_data_frames_name_the_extra_where_pandas_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    results, runs = write_evaluations(tmp_path / "table"), runs_of([])
    monkeypatch.setitem(sys.modules, "pandas", None)  # how Python marks a package that cannot be imported
    for give in (results.to_pandas, runs.to_pandas):
        with pytest.raises(MissingDependency, match=r"pip install 'nasbed\[pandas\]'"):
            give()
