"""Files of scores: what is written is read back, errors are reported; published scores become such files."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import csv, parquet

import nasbed
from nasbed.core.errors import BadFile, InvalidOption, UnknownName
from nasbed.proxies.published import published_scores
from nasbed.proxies.table import ScoresInfo, ScoreTable, table_of_rows

CELLS = [
    "|avg_pool_3x3~0|+|skip_connect~0|none~1|+|nor_conv_1x1~0|avg_pool_3x3~1|nor_conv_1x1~2|",
    "|nor_conv_3x3~0|+|avg_pool_3x3~0|skip_connect~1|+|skip_connect~0|nor_conv_1x1~1|nor_conv_3x3~2|",
    "|nor_conv_1x1~0|+|none~0|nor_conv_3x3~1|+|none~0|nor_conv_3x3~1|nor_conv_1x1~2|",
]
KEYS = ["(4, 0, 3, 1, 4, 3)", "(2, 4, 0, 0, 3, 2)", "(3, 1, 1, 2, 2, 3)"]
PUBLISHED = {"flops": [19.248832, 85.235392, 88.307392], "params": [0.129306, 0.587386, 0.615386]}
"""What NAS-Bench-Suite-Zero gives for these cells, in millions."""


def codes() -> list[tuple[int, ...]]:
    return [nasbed.space("nb201").parse(cell).code for cell in CELLS]


def table(**columns: list[float]) -> ScoreTable:
    return table_of_rows(ScoresInfo("nb201", "digits", batch=8), codes(), [0, 0, 0], columns)


finite = st.floats(allow_nan=False, allow_infinity=False) | st.just(float("nan"))


@given(st.lists(st.tuples(finite, finite), min_size=3, max_size=3))
def test_what_is_written_is_read_back(
    tmp_path_factory: pytest.TempPathFactory, pairs: list[tuple[float, float]]
) -> None:
    path = tmp_path_factory.mktemp("scores") / "scores.parquet"
    table = table_of_rows(
        ScoresInfo("nb201", "digits", "abc", "small", 8, "somebody"),
        codes(),
        [3, 3, 1],
        {"synflow": [synflow for synflow, _ in pairs], "snip": [snip for _, snip in pairs]},
        seconds={"snip": [0.5, 0.25, 2.0]},
        no_score=["snip: none; synflow: neither", "", "a"],
        remarks=["", "snip: some left out", "b"],
    )
    table.write(path)
    read = ScoreTable.read(path)
    assert read.about == table.about
    order = [table.codes.tolist().index(code) for code in read.codes.tolist()]
    assert sorted(order) == [0, 1, 2] or not np.isfinite(np.array(pairs)).all()
    assert read.seeds == (1, 3)
    for name in ("synflow", "snip"):
        np.testing.assert_array_equal(read.of(name), table.of(name)[order])
    np.testing.assert_array_equal(read.seconds["snip"], table.seconds["snip"][order])
    assert read.reasons()["snip: none"] == 1


def test_any_tool_reads_the_file(tmp_path: Path) -> None:
    table(synflow=[1.0, float("nan"), 3.0]).write(tmp_path / "scores.parquet")
    rows = parquet.read_table(tmp_path / "scores.parquet").to_pylist()
    assert [row["synflow"] for row in rows if row["architecture"] == CELLS[0]] == [1.0]
    assert len(rows) == 2  # nothing is known of the second


def test_means_are_over_the_seeds_that_have_a_score() -> None:
    table = table_of_rows(
        ScoresInfo("nb201"), [codes()[0], codes()[0], codes()[1]], [0, 1, 1], {"snip": [1.0, 3.0, float("nan")]}
    )
    np.testing.assert_array_equal(table.mean("snip"), [2.0, np.nan])
    assert table.missing() == {"snip": 2}


def test_what_is_wrong_is_reported(tmp_path: Path) -> None:
    with pytest.raises(BadFile, match="occurs twice with seed 4"):
        table_of_rows(ScoresInfo("nb201"), [codes()[0]] * 2, [4, 4], {"snip": [1.0, 2.0]})
    with pytest.raises(BadFile, match="infinite one of snip"):
        table(snip=[1.0, float("inf"), 2.0])
    with pytest.raises(BadFile, match="at least one architecture"):
        table_of_rows(ScoresInfo("nb201"), [], [], {"snip": []})
    with pytest.raises(UnknownName, match="did you mean snip"):
        table(snip=[1.0, 2.0, 3.0]).of("snipp")
    with pytest.raises(InvalidOption, match=r"NAME\.parquet"):
        table(snip=[1.0, 2.0, 3.0]).write(tmp_path / "scores.csv")
    with pytest.raises(BadFile, match="is not a file; make one"):
        ScoreTable.read(tmp_path / "none.parquet")
    (tmp_path / "text.parquet").write_text("no")
    with pytest.raises(BadFile, match="not a Parquet file"):
        ScoreTable.read(tmp_path / "text.parquet")
    parquet.write_table(pa.table({"a": [1]}), tmp_path / "other.parquet")
    with pytest.raises(BadFile, match="nasbed proxies import"):
        ScoreTable.read(tmp_path / "other.parquet")


@pytest.mark.parametrize("space", ["nb2o1", 7, None])
def test_a_file_of_another_space_is_refused(tmp_path: Path, space: object) -> None:
    table(snip=[1.0, 2.0, 3.0]).write(tmp_path / "scores.parquet")
    stored = parquet.read_table(tmp_path / "scores.parquet")
    changed = stored.replace_schema_metadata({"nasbed.scores": json.dumps({"space": space})})
    parquet.write_table(changed, tmp_path / "changed.parquet")
    with pytest.raises(BadFile, match="cannot be read as scores"):
        ScoreTable.read(tmp_path / "changed.parquet")


# --- published scores ---------------------------------------------------------------------------------------------


def test_suite_zero_json(tmp_path: Path) -> None:
    entries = {
        key: {
            "params": {"score": PUBLISHED["params"][row], "time": 0.5},
            "flops": {"score": PUBLISHED["flops"][row], "time": 0.1},
            "id": "7",
            "val_accuracy": 90.0,
        }
        for row, key in enumerate(KEYS)
    }
    path = tmp_path / "zc_nasbench201.json"
    path.write_text(json.dumps({"cifar10": entries, "cifar100": entries}))
    scores = published_scores(path, dataset="cifar100")
    assert scores.about.space == "nb201" and scores.about.dataset == "cifar100"
    assert [tuple(code) for code in scores.codes.tolist()] == codes()
    assert scores.proxies == ("flops", "params")  # the accuracy is not a proxy
    np.testing.assert_allclose(scores.of("flops")[:, 0], PUBLISHED["flops"])
    np.testing.assert_array_equal(scores.seconds["params"][:, 0], 0.5)
    counted = nasbed.space("nb201").costs(np.array(codes()))[:, 0]
    np.testing.assert_allclose(scores.of("params")[:, 0] * 1e6, counted)
    with pytest.raises(InvalidOption, match="choose one with --dataset"):
        published_scores(path)
    with pytest.raises(InvalidOption, match="got 'svhn'"):
        published_scores(path, dataset="svhn")
    with pytest.raises(InvalidOption, match="did you mean flops"):
        published_scores(path, dataset="cifar10", proxies=["flop"])


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_a_table_of_scores(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"mine{suffix}"
    columns = pa.table(
        {"arch": CELLS, "ntk": [5.0, 2.0, float("inf")], "val_accuracy": [90.0, 91.0, 92.0], "mine": [1, 2, 3]}
    )
    (csv.write_csv if suffix == ".csv" else parquet.write_table)(columns, path)
    scores = published_scores(path, searched="nb201", negated=["ntk"])
    assert scores.proxies == ("ntk",)  # what is no known proxy has to be named
    np.testing.assert_array_equal(scores.of("ntk")[:, 0], [-5.0, -2.0, np.nan])
    assert published_scores(path, searched="nb201", proxies=["mine"]).proxies == ("mine",)
    with pytest.raises(InvalidOption, match="name it with --space"):
        published_scores(path)
    with pytest.raises(InvalidOption, match="a negated proxy is in the table, got 'snip'"):
        published_scores(path, searched="nb201", negated=["snip"])
    with pytest.raises(InvalidOption, match="name that of the architectures with --architecture"):
        published_scores(path, searched="nb201", column="cell")
    with pytest.raises(BadFile, match="row 1"):
        published_scores(path, searched="nb101")


def test_a_table_without_proxies_and_other_files_are_refused(tmp_path: Path) -> None:
    csv.write_csv(pa.table({"arch": CELLS, "accuracy": [1.0, 2.0, 3.0]}), tmp_path / "mine.csv")
    with pytest.raises(InvalidOption, match="its numbers are accuracy"):
        published_scores(tmp_path / "mine.csv", searched="nb201")
    (tmp_path / "mine.txt").write_text("")
    with pytest.raises(InvalidOption, match=r"\.json, \.csv or \.parquet"):
        published_scores(tmp_path / "mine.txt")
    with pytest.raises(BadFile, match="check the path"):
        published_scores(tmp_path / "none.csv")
    (tmp_path / "zc_else.json").write_text("{}")
    with pytest.raises(InvalidOption, match="the keys of"):
        published_scores(tmp_path / "zc_else.json")
    (tmp_path / "zc_nasbench201.json").write_text("{}")
    with pytest.raises(BadFile, match="at least one architecture"):
        published_scores(tmp_path / "zc_nasbench201.json")


def test_the_published_table(published_data: Callable[[str], Path]) -> None:
    scores = published_scores(published_data("nb201_zero_cost_cifar10.parquet"), searched="nb201")
    assert len(scores) == 9_445 and len(scores.proxies) == 13
    counted = nasbed.space("nb201").costs(scores.codes)[:, 0]
    np.testing.assert_allclose(scores.of("params")[:, 0] * 1e6, counted)
