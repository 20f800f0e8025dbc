"""Any CSV or Parquet file: published tables, every number, every mistake with its row, column and value."""

from __future__ import annotations

import csv
import json
import math
import random
import sys
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import nasbed
from nasbed.core.errors import BadFile, InvalidOption, NasbedError
from nasbed.results import Results
from nasbed.results.importers.table import TableImporter
from nasbed.results.importers.table.metrics import parse_metrics
from nasbed.results.importing import import_tables
from nasbed.results.summary import summarize
from support.result_samples import mutated_bytes

CELL = "|nor_conv_3x3~0|+|nor_conv_3x3~0|avg_pool_3x3~1|+|skip_connect~0|nor_conv_3x3~1|skip_connect~2|"
OTHER = "|none~0|+|none~0|none~1|+|none~0|none~1|none~2|"


def imported(path: Path, **options: str) -> Results:
    settings = {"space": "nb201", "name": "mine/x", "metrics": "test_accuracy=acc:%:maximize:0:100"} | options
    [results] = import_tables("table", path, path.parent / "tables", settings)
    return results


def write_csv(path: Path, *rows: Sequence[object]) -> Path:
    with path.open("w", newline="") as file:
        csv.writer(file).writerows(rows)
    return path


# --- published tables ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("dataset", "best"),
    [
        pytest.param("cifar10", 94.37, id="10"),
        pytest.param("cifar100", 73.51, id="100", marks=pytest.mark.thorough),
        pytest.param("imagenet16", 47.31, id="16", marks=pytest.mark.thorough),
    ],
)
def test_nb201_published_means(
    published_data: Callable[[str], Path], tmp_path: Path, dataset: str, best: float
) -> None:
    source = published_data("nb201_test_200ep.parquet")
    metrics = f"test_accuracy={dataset}_test:%:maximize:0:100"
    [results] = import_tables(
        "table",
        source,
        tmp_path,
        {"space": "nb201", "name": "x", "metrics": metrics, "architecture": "arch_str", "fidelity": "200"},
    )
    summary = summarize(results)
    assert summary["rows"] == summary["architectures"] == 15_625 and summary["fidelities"] == {"200": 15_625}
    assert round(summary["best"]["test_accuracy"]["mean"], 2) == best
    published = pq.read_table(source, columns=["arch_str", f"{dataset}_test"]).to_pydict()
    expected = dict(zip(published["arch_str"], published[f"{dataset}_test"], strict=True))
    rows = next(results.batches())
    nb201 = nasbed.space("nb201")
    texts = [nb201.format(arch) for arch in nb201.architectures(rows.codes)]
    assert dict(zip(texts, rows.values["test_accuracy"].tolist(), strict=True)) == expected


def test_transnas_micro_one_task(published_data: Callable[[str], Path], tmp_path: Path) -> None:
    source = published_data("tnb101_micro.parquet")
    options = {
        "space": "transnas-micro",
        "name": "tnb/normal",
        "architecture": "arch",
        "where": "task=normal",
        "train_time_s": "time_elapsed",
        "metrics": "validation_ssim=valid_ssim::maximize:-1:1, test_l1_loss=::minimize:0",
    }
    [results] = import_tables("table", source, tmp_path, options)
    rows = next(results.batches())
    published = pq.read_table(source, filters=[("task", "=", "normal")])
    assert results.manifest.rows == results.manifest.architectures == 4096
    assert rows.values["validation_ssim"].tolist() == published["valid_ssim"].to_pylist()
    assert rows.train_time_s.tolist() == published["time_elapsed"].to_pylist()


def test_zero_cost_scores(published_data: Callable[[str], Path], tmp_path: Path) -> None:
    source = published_data("nb201_zero_cost_cifar10.parquet")
    names = [name for name in pq.read_schema(source).names if name not in ("arch_str", "__index_level_0__")]
    options = {"space": "nb201", "name": "zero", "architecture": "arch_str", "metrics": ",".join(names)}
    [results] = import_tables("table", source, tmp_path, options)
    rows = next(results.batches())
    assert len(names) == 13 and results.manifest.rows == 9445
    parameters = nasbed.space("nb201").parameters(rows.codes)  # type: ignore[attr-defined]
    assert np.allclose(rows.values["params"] * 1e6, parameters, rtol=0, atol=0.01)


# --- every column ----------------------------------------------------------------------------------------------------

MOMENT = datetime(2024, 5, 1, 12, 30, 0, 123456, tzinfo=UTC)
COLUMNS: dict[str, list[Any]] = {
    "cell": [CELL, OTHER, CELL, CELL],
    "acc": [93.66, None, 94.1, 10.0],
    "my loss, x": [0.1, 0.2, None, 2.5],
    "run": [777, None, 2**60, 0],
    "epochs": [200, 12, None, 200],
    "who": ["rs", "", "a, b", "é"],
    "secs": [1.5, None, 0.0, 1e6],
    "how": ["ok", "diverged", "ok", "failed"],
    "at": [MOMENT, None, MOMENT, None],
}
OPTIONS = {
    "architecture": "cell",
    "metrics": 'test_accuracy=acc:%:maximize:0:100, validation_loss="my loss, x"::minimize',
    "seed": "run",
    "fidelity": "epochs",
    "method": "who",
    "train_time_s": "secs",
    "status": "how",
    "timestamp": "at",
    "dataset": "cifar10",
    "licence": "CC0",
    "citation": "me",
}


def csv_of(columns: dict[str, list[Any]], path: Path) -> Path:
    def text(value: Any) -> str:
        return "" if value is None else value.isoformat() if isinstance(value, datetime) else str(value)

    return write_csv(
        path, list(columns), *[[text(value) for value in row] for row in zip(*columns.values(), strict=True)]
    )


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_every_column_arrives(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"runs.{suffix}"
    if suffix == "csv":
        csv_of(COLUMNS, path)
    else:
        pq.write_table(pa.table(COLUMNS), path)
    results = imported(path, **OPTIONS)
    rows = next(results.batches())
    accuracy, loss = rows.values["test_accuracy"], rows.values["validation_loss"]
    assert accuracy[[0, 2, 3]].tolist() == [93.66, 94.1, 10.0] and math.isnan(accuracy[1])
    assert loss[[0, 1, 3]].tolist() == [0.1, 0.2, 2.5] and math.isnan(loss[2])
    assert rows.seed.tolist() == [777, -1, 2**60, 0] and rows.fidelity.tolist() == [200, 12, -1, 200]
    assert rows.method.tolist() == ["rs", "", "a, b", "é"] and rows.status.tolist() == [0, 1, 0, 2]
    assert rows.train_time_s[[0, 2, 3]].tolist() == [1.5, 0, 1e6] and math.isnan(rows.train_time_s[1])
    assert rows.timestamp_us.tolist() == [int(MOMENT.timestamp() * 1e6), -1, int(MOMENT.timestamp() * 1e6), -1]
    metrics = {metric.key: metric for metric in results.about.metrics}
    assert metrics["validation_loss"].direction == "minimize" and metrics["test_accuracy"].bounds == (0, 100)
    assert (results.about.dataset, results.about.licence, results.about.citation) == ("cifar10", "CC0", "me")


def test_constants_and_defaults(tmp_path: Path) -> None:
    path = write_csv(tmp_path / "x.csv", ["architecture", "acc"], [CELL, 1], [OTHER, "NaN"], [OTHER, ""])
    rows = next(imported(path, fidelity="108", method="=rs").batches())
    assert rows.fidelity.tolist() == [108] * 3 and rows.method.tolist() == ["rs"] * 3 and rows.seed.tolist() == [-1] * 3
    assert rows.status.tolist() == [0, 2, 2], "a row without a value did not end well"


@pytest.mark.parametrize("code", ["c", "c0,c1,c2,c3,c4,c5"])
def test_code_columns(tmp_path: Path, code: str) -> None:
    archs = list(nasbed.space("nb201").enumerate())[::1000]
    path = write_csv(tmp_path / "x.csv", [*(f"c{i}" for i in range(6)), "acc"], *[[*arch.code, 50] for arch in archs])
    assert [tuple(row) for row in next(imported(path, code=code).batches()).codes.tolist()] == [a.code for a in archs]


def test_configurations_in_json(tmp_path: Path) -> None:
    darts = nasbed.space("darts")
    archs = [darts.sample(np.random.default_rng(i)) for i in range(5)]
    rows = [[json.dumps(dict(darts.to_config(arch))), 90] for arch in archs]
    path = write_csv(tmp_path / "x.csv", ["architecture", "acc"], *rows)
    assert [tuple(row) for row in next(imported(path, space="darts").batches()).codes.tolist()] == [
        a.code for a in archs
    ]


def test_many_batches_keep_their_row_numbers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nasbed.results.importers.table.columns.BLOCK", 1 << 16)
    path = tmp_path / "x.csv"
    path.write_text("architecture,acc\n" + "".join(f'"{CELL}",{i % 100}\n' for i in range(12_000)) + f'"{CELL}",oops\n')
    with pytest.raises(BadFile, match="row 12001, column acc: a value is a number or empty, got 'oops'"):
        imported(path)
    path.write_text(path.read_text().replace("oops", "7"))
    results = imported(path)
    values = np.concatenate([rows.values["test_accuracy"] for rows in results.batches()])
    assert values.tolist() == [float(i % 100) for i in range(12_000)] + [7.0]


# --- the grammar of metrics ------------------------------------------------------------------------------------------

NAMES = st.from_regex(r"[a-z][a-z0-9_]{0,8}", fullmatch=True)


@given(
    st.lists(
        st.tuples(
            NAMES,
            st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=12),
            st.sampled_from(["", "%", "s"]),
            st.sampled_from(["", "minimize", "maximize"]),
            st.sampled_from(["", "0", "-1.5"]),
            st.sampled_from(["", "100", "1e6"]),
        ),
        min_size=1,
        max_size=4,
        unique_by=lambda part: part[0],
    )
)
def test_metrics_grammar_reads_what_it_describes(parts: list[tuple[str, str, str, str, str, str]]) -> None:
    text = ", ".join(
        f'{key}="{column.replace(chr(34), chr(34) * 2)}":{":".join(definition)}' for key, column, *definition in parts
    )
    for parsed, (key, column, unit, direction, low, high) in zip(parse_metrics(text), parts, strict=True):
        assert (parsed.metric.key, parsed.column, parsed.metric.unit) == (key, column, unit)
        assert parsed.metric.direction == (direction or "maximize")
        assert parsed.metric.bounds == (float(low or "-inf"), float(high or "inf"))
        assert (parsed.metric.split is not None) == key.startswith(("train_", "validation_", "test_"))


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        ",",
        "a,",
        "a,,b",
        "a=x:%:up",
        "a=x::minimize:low",
        "a=x:::5:1",
        "a,a",
        "1a",
        "a=b:c:d:e:f:g",
        'a="x',
        'a="x"y',
    ],
)
def test_metrics_grammar_refuses(text: str) -> None:
    with pytest.raises(InvalidOption) as error:
        parse_metrics(text)
    assert "\n" not in str(error.value)


@given(st.text('abtest_=,:" %01\n', max_size=30))
def test_metrics_grammar_never_breaks(text: str) -> None:
    try:
        assert parse_metrics(text)
    except NasbedError as error:
        assert "\n" not in str(error)


# --- mistakes --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "options", "message"),
    [
        ({"cell": "|conv~0|+|"}, {}, "row 2, column cell: an nb201 cell reads"),
        ({"cell": CELL.replace("skip", "hop")}, {}, "row 2, column cell: nb201's 3<-0 has no option"),
        ({"cell": ""}, {}, "row 2, column cell"),
        ({"acc": "x"}, {}, "row 2, column acc: a value is a number or empty, got 'x'"),
        ({"acc": "100.5"}, {}, "row 2, column acc: test_accuracy lies in [0, 100] %, got 100.5"),
        ({"acc": "-1"}, {}, "row 2, column acc"),
        ({"acc": "inf"}, {}, "row 2, column acc: a value is finite"),
        ({"acc": "1e999"}, {}, "row 2, column acc: a value is finite"),
        ({"run": "1.5"}, {}, "row 2, column run: this is a whole number"),
        ({"run": "-3"}, {}, "row 2, column run: this is a whole number"),
        ({"run": "9" * 30}, {}, "row 2, column run: this is a whole number"),
        ({"epochs": "many"}, {}, "row 2, column epochs"),
        ({"secs": "-0.5"}, {}, "row 2, column secs: a training time is not negative, got -0.5"),
        ({"how": "fine"}, {}, "row 2, column how: a status is one of ok, diverged, failed, got 'fine'"),
        ({"how": "ok", "acc": "", "my loss, x": ""}, {}, "row 2, column how: a row without any value"),
        ({"at": "yesterday"}, {}, "row 2, column at: a moment reads 2024-05-01T12:00:00Z, got 'yesterday'"),
        ({"at": "2024-05-01T12:00:00"}, {}, "row 2, column at: a moment reads"),
        ({"at": "1960-05-01T12:00:00Z"}, {}, "row 2, column at: a moment is after 1970"),
        ({"who": "a\nb"}, {}, "row 2, column who: text is printable"),
        ({"who": "a\0"}, {}, "row 2, column who: text is printable"),
        ({}, {"architecture": "arch"}, "has no column 'arch' for the architecture"),
        ({}, {"seed": "seed"}, "has no column 'seed' for seed"),
        ({}, {"metrics": "test_accuracy"}, "has no column 'test_accuracy' for test_accuracy"),
        ({}, {"metrics": "seed=run"}, "rename it"),
        ({}, {"where": "task=x"}, "has no column 'task' for where"),
        ({}, {"where": "who=nobody"}, "has no rows"),
        ({}, {"where": "who"}, "where reads COLUMN=VALUE"),
        ({}, {"code": "c"}, "leave one out"),
        ({}, {"name": "../up"}, "a table's name"),
        ({}, {"space": "nb202"}, "did you mean nb201"),
        ({}, {"metrics": ""}, "needs the option metrics"),
        ({}, {"fidelity": "9" * 40}, "at most 9 digits"),
    ],
    ids=map(str, count()),
)
def test_mistakes_are_one_line_and_nothing_is_written(
    tmp_path: Path, change: dict[str, str], options: dict[str, str], message: str
) -> None:
    columns = {name: list(values) for name, values in COLUMNS.items()}
    for name, value in change.items():
        columns[name][1] = value
    with pytest.raises(NasbedError) as error:
        imported(csv_of(columns, tmp_path / "runs.csv"), **(OPTIONS | options))
    assert message in str(error.value)
    assert "\n" not in str(error.value) and len(str(error.value)) < 500
    assert not (tmp_path / "tables").exists()


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("x.csv", b"", "cannot be read as csv"),
        ("x.csv", b"architecture,acc\n", "has no rows"),
        ("x.csv", b"architecture,acc,acc\na,1,2\n", "'acc' twice"),
        ("x.csv", b"architecture,acc\na,1,2\n", "Expected 2 columns, got 3"),
        ("x.csv", b"architecture,acc\n\xff\xfe,1\n", "invalid UTF8"),
        ("x.csv", b"\xff\xfe\n1", "cannot be read as csv"),
        ("x.csv", b'architecture,acc\n"' + b"x" * 100, "Expected 2 columns, got 1"),
        ("x.parquet", b"", "cannot be read as parquet"),
        ("x.parquet", b"PAR1" + b"\0" * 100 + b"PAR1", "cannot be read as parquet"),
        ("x.xlsx", b"PK", "a table is a .csv or .parquet file"),
    ],
    ids=map(str, count()),
)
def test_damaged_files_are_refused_in_one_line(tmp_path: Path, name: str, content: bytes, message: str) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(BadFile) as error:
        imported(tmp_path / name)
    assert message in str(error.value) and "\n" not in str(error.value)
    assert not (tmp_path / "tables").exists()


@pytest.mark.parametrize(
    ("column", "values", "message"),
    [
        ("acc", [[1.0], [2.0]], "column acc: the column holds numbers, got 'list<"),
        ("acc", [True, False], "column acc: the column holds numbers, got 'bool'"),
        ("architecture", [1.5, 2.5], "column architecture: the column holds text, got 'double'"),
        ("architecture", [b"x", b"y"], "column architecture: the column holds text, got 'binary'"),
        ("seed", [1.5, 2.0], "row 1, column seed: this is a whole number"),
        ("seed", pa.array([2**64 - 1, 0], pa.uint64()), "row 1, column seed: this is a whole number"),
        ("at", [5, 6], "column at: the column holds moments, got 'int64'"),
    ],
)
def test_parquet_columns_of_another_type_are_refused(tmp_path: Path, column: str, values: Any, message: str) -> None:
    columns = {"architecture": [CELL, OTHER], "acc": [1.0, 2.0], "seed": [1, 2], "at": [MOMENT, None], column: values}
    path = tmp_path / "x.parquet"
    pq.write_table(pa.table(columns), path)
    with pytest.raises(BadFile) as error:
        imported(path, seed="seed", timestamp="at")
    assert message in str(error.value)


def test_dictionary_and_large_columns_are_read(tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    columns = {
        "architecture": pa.array([CELL, OTHER, CELL], pa.large_string()),
        "acc": pa.array([1, 2, 3], pa.int8()),
        "who": pa.array(["a", None, "b"]).dictionary_encode(),
        "at": pa.array([1_700_000_000_123_456_789, None, 0], pa.timestamp("ns")),
    }
    pq.write_table(pa.table(columns), path)
    rows = next(imported(path, method="who", timestamp="at").batches())
    assert rows.method.tolist() == ["a", "", "b"] and rows.values["test_accuracy"].tolist() == [1, 2, 3]
    assert rows.timestamp_us.tolist() == [1_700_000_000_123_456, -1, 0]


# --- fuzz ------------------------------------------------------------------------------------------------------------


def read_all(path: Path) -> int:
    importer = TableImporter(**({"space": "nb201", "name": "x"} | OPTIONS))
    return sum(len(rows) for draft in importer.read(path) for rows in draft.batches)


def test_fuzz_csv(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, thorough: bool) -> None:
    """Damaged files: each is read or refused in one line."""
    damaged = 10_000 if thorough else 500
    monkeypatch.setattr("nasbed.results.importers.table.columns.BLOCK", 1 << 14)
    rng, path, refusals = random.Random(2), tmp_path / "x.csv", 0
    original = csv_of(COLUMNS, path).read_bytes()
    for _ in range(damaged):
        path.unlink()
        path.write_bytes(mutated_bytes(original, rng))
        try:
            assert read_all(path) < 50
        except NasbedError as error:
            refusals += 1
            assert "\n" not in str(error) and len(str(error)) < 700
    assert refusals > damaged // 10


def test_fuzz_parquet(tmp_path: Path, thorough: bool) -> None:
    damaged = 10_000 if thorough else 800
    rng, path, refusals = random.Random(3), tmp_path / "x.parquet", 0
    pq.write_table(pa.table(COLUMNS), path)
    original = path.read_bytes()
    for _ in range(damaged):
        path.unlink()
        path.write_bytes(mutated_bytes(original, rng))
        try:
            read_all(path)
        except NasbedError as error:
            refusals += 1
            assert "\n" not in str(error) and len(str(error)) < 700
    assert refusals > damaged // 10


# --- spaces of one's own ---------------------------------------------------------------------------------------------


def test_space_of_a_file_is_written_into_the_table(tmp_path: Path) -> None:
    (tmp_path / "widths.py").write_text("WIDTHS = [8, 16, 32]\n")
    (tmp_path / "mine.py").write_text(
        "from ConfigSpace import ConfigurationSpace\n"
        "from widths import WIDTHS\n"
        "small = ConfigurationSpace({'width': WIDTHS, 'depth': (1, 3)}, seed=0)\n"
    )
    rows = [[json.dumps({"width": width, "depth": depth}), width + depth] for width in (8, 32) for depth in (1, 3)]
    path = write_csv(tmp_path / "runs.csv", ["architecture", "acc"], *rows)
    before = list(sys.path)
    results = imported(path, space=f"{tmp_path / 'mine.py'}:small")
    assert sys.path == before
    assert results.about.space == "small"
    reloaded = nasbed.load(results.folder)
    arch = reloaded.space.from_config({"width": 32, "depth": 3})
    assert reloaded.optimum() == (arch, 35)


def test_space_of_a_file_without_one_is_refused(tmp_path: Path) -> None:
    path = write_csv(tmp_path / "runs.csv", ["architecture", "acc"], ["x", 1])
    (tmp_path / "mine.py").write_text("small = 3\n")
    with pytest.raises(NasbedError, match=r"^a space is a SearchSpace, a ConfigurationSpace or a name, got .*$"):
        imported(path, space=f"{tmp_path / 'mine.py'}:small")
    with pytest.raises(NasbedError, match=r"none\.py is not a file; name your object as file\.py:name$"):
        imported(path, space=f"{tmp_path / 'none.py'}:small")


# --- bad rows --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_bad_rows_are_skipped_and_listed_and_the_others_arrive_in_order(
    tmp_path: Path, suffix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every seventh of 700 rows is bad, in turn for another reason; batches hold some of them each."""
    monkeypatch.setattr("nasbed.results.importers.table.columns.BATCH", 100)
    monkeypatch.setattr("nasbed.results.importers.table.columns.BLOCK", 4096)
    bad = [["|none~0|", "50.5", "3"], [CELL, "150", "3"], [CELL, "high", "3"], [CELL, "50.5", "-1"]]
    rows = [bad[number // 7 % 4] if number % 7 == 0 else [CELL, "50.5", str(number)] for number in range(700)]
    columns = {name: [row[place] for row in rows] for place, name in enumerate(("architecture", "acc", "run"))}
    path = tmp_path / f"runs.{suffix}"
    if suffix == "csv":
        csv_of(columns, path)
    else:
        pq.write_table(pa.table(columns), path)
    options = {"space": "nb201", "name": "mine", "metrics": "test_accuracy=acc:%:maximize:0:100", "seed": "run"}
    with pytest.raises(NasbedError, match=rf"^runs\.{suffix}, row \d+, column "):
        import_tables("table", path, tmp_path / "out", options)
    notes: list[str] = []
    [results] = import_tables("table", path, tmp_path / "out", options | {"bad_rows": "skip"}, on_note=notes.append)
    seeds = np.concatenate([batch.seed for batch in results.batches()])
    assert seeds.tolist() == [number for number in range(700) if number % 7]
    assert notes[0] == "100 bad rows skipped, 600 read; the first 5:"
    assert [line.split(": ")[0] for line in notes[1:]] == [
        f"runs.{suffix}, row {row}, column {column}"
        for row, column in ((1, "architecture"), (8, "acc"), (15, "acc"), (22, "run"), (29, "architecture"))
    ]


def test_file_of_bad_rows_alone_is_refused(tmp_path: Path) -> None:
    path = write_csv(tmp_path / "runs.csv", ["architecture", "acc"], ["x", 1], ["y", 2])
    with pytest.raises(
        NasbedError, match=r"^none of 2 rows can be read; check the options\. The first: runs\.csv, row 1"
    ):
        imported(path, bad_rows="skip")
    with pytest.raises(NasbedError, match=r"bad_rows is refuse or skip, got 'ignore'$"):
        imported(path, bad_rows="ignore")
    assert not (tmp_path / "tables").exists() or not list((tmp_path / "tables").rglob("*.parquet"))
