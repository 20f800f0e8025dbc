"""Merging is a union of rows, and an export read back is the table it came from."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

import numpy as np
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from nasbed.core.errors import BadFile, InvalidOption
from nasbed.core.metric import Metric
from nasbed.results import Results, Rows, write_results
from nasbed.results.export import export_results
from nasbed.results.importing import import_tables
from nasbed.results.merge import merge_results
from nasbed.results.rows import concatenate
from nasbed.results.summary import summarize
from nasbed.spaces import space
from support.examples import examples
from support.result_samples import ACCURACY, LOSS, TEST_ACCURACY, Row, about, random_rows, rows_of

shared_folder = examples(6, thorough=80, suppress_health_check=[HealthCheck.function_scoped_fixture])


def fresh(tmp_path: Path) -> Path:
    return tmp_path / os.urandom(8).hex()


def table(
    tmp_path: Path, batches: list[Rows], metrics: tuple[Metric, ...] = (ACCURACY, LOSS), **options: str
) -> Results:
    return write_results(fresh(tmp_path), about(metrics=metrics, **options), batches)


def widened(rows: list[Row], keys: list[str]) -> Counter[Row]:
    """Rows with every metric of the merged table, as a multiset."""
    counted: Counter[Row] = Counter()
    for code, values, *facts in rows:
        wide = dict.fromkeys(keys) | dict(values)
        counted[code, tuple(sorted(wide.items())), *facts] += 1
    return counted


# --- export ----------------------------------------------------------------------------------------------------------


@shared_folder
@given(name=st.sampled_from(["nb201", "nb101"]), rows=st.integers(1, 40), seed=st.integers(0, 2**32))
@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_export_then_import_gives_the_same_rows(tmp_path: Path, suffix: str, name: str, rows: int, seed: int) -> None:
    original = write_results(
        fresh(tmp_path), about(name), [random_rows(name, rows, seed), random_rows(name, 3, seed + 1)]
    )
    path = tmp_path / f"{os.urandom(8).hex()}.{suffix}"
    assert export_results(original, path) == rows + 3
    options = {"space": name, "name": "test/table", "status": "status", "timestamp": "timestamp", "seed": "seed"}
    options |= {"fidelity": "fidelity", "method": "method", "train_time_s": "train_time_s"}
    options["metrics"] = "validation_accuracy=:%:maximize:0:100, test_loss=::minimize:0"
    [repeated] = import_tables("table", path, fresh(tmp_path), options)
    assert rows_of(repeated) == rows_of(original)
    assert repeated.about == original.about


def test_export_writes_what_other_tools_read(tmp_path: Path) -> None:
    original = table(tmp_path, [random_rows("nb201", 30, 0)])
    counts: list[int] = []
    export_results(original, tmp_path / "x.csv", counts.append)
    export_results(original, tmp_path / "x.parquet")
    names = ["architecture", "method", "seed", "fidelity", "status", "train_time_s", "timestamp"]
    for read in (pa_csv.read_csv(tmp_path / "x.csv"), pq.read_table(tmp_path / "x.parquet")):
        assert read.column_names == [*names, "validation_accuracy", "test_loss"] and len(read) == 30
        assert space("nb201").parse(read["architecture"][0].as_py()).code == rows_of(original)[0][0]
    assert counts == [30]


@pytest.mark.parametrize("name", ["x.json", "x", "folder.csv"])
def test_export_refuses_other_targets(tmp_path: Path, name: str) -> None:
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(InvalidOption, match="exported"):
        export_results(table(tmp_path, [random_rows("nb201", 3, 0)]), tmp_path / name)


def test_a_failed_export_leaves_the_old_file(tmp_path: Path) -> None:
    original = table(tmp_path, [random_rows("nb201", 3, 0)])
    (tmp_path / "x.csv").write_text("old")
    (original.data / "rows.parquet").write_bytes(b"damaged")
    with pytest.raises(BadFile):
        export_results(original, tmp_path / "x.csv")
    assert (tmp_path / "x.csv").read_text() == "old"
    assert not list(tmp_path.glob(".*.partial"))


# --- merge -----------------------------------------------------------------------------------------------------------


@shared_folder
@given(seeds=st.lists(st.integers(0, 5), min_size=2, max_size=4), order=st.randoms(use_true_random=False))
def test_merge_is_a_union_in_any_order(tmp_path: Path, seeds: list[int], order: object) -> None:
    """Tables that share whole batches; the union has each row as often as the table that has it most often."""
    tables = [table(tmp_path, [random_rows("nb201", 8, seed), random_rows("nb201", 4, 100)]) for seed in seeds]
    merged = merge_results(tables, fresh(tmp_path))
    expected: Counter[Row] = Counter()
    for results in tables:
        expected |= Counter(rows_of(results))
    assert Counter(rows_of(merged.results)) == expected
    assert merged.shared == sum(results.manifest.rows for results in tables) - expected.total()
    shuffled = list(tables)
    order.shuffle(shuffled)  # type: ignore[attr-defined]
    assert Counter(rows_of(merge_results(shuffled, fresh(tmp_path)).results)) == expected
    repeated = merge_results([merged.results, *tables, merged.results], fresh(tmp_path))
    assert rows_of(repeated.results) == rows_of(merged.results), "merging what is in it changes nothing"


def test_merge_keeps_repeats_of_one_table(tmp_path: Path) -> None:
    """Two runs without a recorded seed may well give the same numbers."""
    rows = Rows.of(np.zeros((2, 6), np.int64), {"validation_accuracy": np.array([10.0, 10.0])}, fidelity=12)
    single = table(tmp_path, [rows], (ACCURACY,))
    merged = merge_results([single, single], fresh(tmp_path))
    assert merged.results.manifest.rows == 2 and merged.shared == 2


def test_merge_joins_metric_sets_with_missing_values(tmp_path: Path) -> None:
    first = table(tmp_path, [random_rows("nb201", 10, 1)])
    second = table(tmp_path, [random_rows("nb201", 10, 2, (ACCURACY, TEST_ACCURACY))], (ACCURACY, TEST_ACCURACY))
    merged = merge_results([first, second], fresh(tmp_path)).results
    keys = ["validation_accuracy", "test_loss", "test_accuracy"]
    assert [metric.key for metric in merged.about.metrics] == keys
    assert widened(rows_of(merged), keys) == widened(rows_of(first), keys) + widened(rows_of(second), keys)
    assert summarize(merged)["columns"]["test_accuracy"]["missing"] >= 10


def test_merge_says_what_it_was_made_from(tmp_path: Path) -> None:
    first = table(tmp_path, [random_rows("nb201", 3, 1)], licence="CC0", citation="A", dataset="d")
    second = table(tmp_path, [random_rows("nb201", 3, 2)], licence="CC0", citation="B", dataset="e", name="other")
    merged = merge_results([first, second], fresh(tmp_path), name="both", mixed=True).results
    assert (merged.about.name, merged.about.licence, merged.about.citation, merged.about.dataset) == (
        "both",
        "CC0",
        "A; B",
        "d; e",
    )


@pytest.mark.parametrize(
    ("changes", "metrics", "message"),
    [
        ({"dataset": "cifar100"}, (ACCURACY, LOSS), "one dataset, got 'cifar10' in test/table and 'cifar100'"),
        ({"recipe": "longer"}, (ACCURACY, LOSS), "one recipe"),
        ({"fidelity_unit": "steps"}, (ACCURACY, LOSS), "one fidelity unit"),
        ({"name": "other"}, (ACCURACY, LOSS), "name the merged one"),
        ({}, (ACCURACY, Metric("loss", split="test")), "mean the same by test_loss, got minimize"),
        ({}, (Metric("accuracy", split="validation"), LOSS), "mean the same by validation_accuracy"),
    ],
)
def test_merge_refuses_what_does_not_belong_together(
    tmp_path: Path, changes: dict[str, str], metrics: tuple[Metric, ...], message: str
) -> None:
    first = table(tmp_path, [random_rows("nb201", 3, 1)], dataset="cifar10")
    second = table(tmp_path, [random_rows("nb201", 3, 2, metrics)], metrics, **({"dataset": "cifar10"} | changes))
    out = fresh(tmp_path)
    with pytest.raises(InvalidOption, match=message):
        merge_results([first, second], out)
    assert not out.exists()


def test_merge_refuses_spaces_numbers_and_targets(tmp_path: Path) -> None:
    single = table(tmp_path, [random_rows("nb201", 3, 1)])
    foreign = write_results(fresh(tmp_path), about("nb101"), [random_rows("nb101", 3, 1)])
    with pytest.raises(InvalidOption, match="one space"):
        merge_results([single, foreign], fresh(tmp_path))
    with pytest.raises(InvalidOption, match="two tables or more"):
        merge_results([single], fresh(tmp_path))
    for existing in (single.folder, single.folder / "manifest.json"):
        with pytest.raises(InvalidOption, match="new folder"):
            merge_results([single, single], existing)


def test_merge_verifies_first(tmp_path: Path) -> None:
    first, second = (table(tmp_path, [random_rows("nb201", 3, seed)]) for seed in (1, 2))
    path = second.data / "cache" / "codes.npy"
    status = path.stat()
    path.write_bytes(path.read_bytes()[:-1] + b"\1")
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    out = fresh(tmp_path)
    with pytest.raises(BadFile, match="SHA-256"):
        merge_results([first, second], out)
    assert not out.exists()


# --- summary ---------------------------------------------------------------------------------------------------------


def test_summary_counts_what_there_is(tmp_path: Path) -> None:
    batches = [random_rows("nb201", 50, 3), random_rows("nb201", 50, 4)]
    summary = summarize(table(tmp_path, batches))
    rows = concatenate(batches)
    assert summary["rows"] == 100 and sum(summary["methods"].values()) == sum(summary["statuses"].values()) == 100
    assert summary["methods"]["évolution"] == (rows.method == "évolution").sum()
    assert summary["statuses"]["diverged"] == (rows.status == 1).sum()
    assert summary["fidelities"]["unknown"] == (rows.fidelity == -1).sum() and summary["seeds"] == 3
    for key, column in {**rows.values, "train_time_s": rows.train_time_s}.items():
        expected = {"min": np.nanmin(column), "max": np.nanmax(column), "missing": int(np.isnan(column).sum())}
        assert summary["columns"][key] == expected


def test_summary_best_is_the_best_mean(tmp_path: Path) -> None:
    codes = np.array([[0] * 6, [0] * 6, [1] * 6, [2] * 6])
    rows = Rows.of(
        codes,
        {"validation_accuracy": np.array([90.0, 94.0, 93.0, 99.0]), "test_loss": np.array([0.5, 0.1, 0.2, np.nan])},
        fidelity=200,
        status=np.array([0, 0, 0, 1], np.int8),
    )
    best = summarize(table(tmp_path, [rows]))["best"]
    text = space("nb201").format(space("nb201").architectures(codes[2:3])[0])
    assert best["validation_accuracy"]["mean"] == 93.0, "the mean of two runs is 92, and a diverged run does not count"
    assert best["validation_accuracy"]["architecture"] == best["test_loss"]["architecture"] == text
