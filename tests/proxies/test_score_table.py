"""Files of scores: what is written is read back, errors are reported; published scores become such files."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import csv, parquet

import nasbed
from nasbed.core.errors import BadFile, InvalidOption, UnknownName
from nasbed.proxies.score_files.joining import joined_scores
from nasbed.proxies.score_files.published import published_scores
from nasbed.proxies.table import ScoresInfo, ScoreTable, table_of_rows
from nasbed.spaces.darts import DartsSkeleton

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


def entry(row: int, **fields: Any) -> dict[str, Any]:
    return {name: {"score": values[row], "time": 0.5} for name, values in PUBLISHED.items()} | fields


def layouts() -> dict[str, Any]:
    """The same three cells as files may hold them."""
    published = {key: entry(row, id=str(row), val_accuracy=90.0) for row, key in enumerate(KEYS)}
    plain = {key: {name: values[row] for name, values in PUBLISHED.items()} for row, key in enumerate(KEYS)}
    tuples = [list(map(int, key.strip("()").split(","))) for key in KEYS]
    return {
        "dataset": {"cifar10": published},
        "space and dataset": {"nasbench201": {"cifar10": published}},
        "dataset and space": {"cifar10": {"NB201": published}},
        "space": {"nasbench201": published},
        "nothing": published,
        "arch and idx": {"cifar10": {key: entry(row, idx=row, arch=tuples[row]) for row, key in enumerate(KEYS)}},
        "indices": {"cifar10": {str(row): entry(row, arch=KEYS[row]) for row in range(3)}},
        "own texts": {"cifar10": {cell: entry(row) for row, cell in enumerate(CELLS)}},
        "numbers": {"cifar10": plain},
    }


@pytest.mark.parametrize("layout", layouts())
def test_suite_zero_json_in_other_layouts(tmp_path: Path, layout: str) -> None:
    path, notes = tmp_path / "zc_nasbench201.json", list[str]()
    path.write_text(json.dumps(layouts()[layout]))
    scores = published_scores(path, dataset="cifar10", on_note=notes.append)
    assert (scores.about.space, scores.about.dataset, scores.proxies) == ("nb201", "cifar10", ("flops", "params"))
    assert [tuple(code) for code in scores.codes.tolist()] == codes()
    for name, values in PUBLISHED.items():
        np.testing.assert_array_equal(scores.of(name)[:, 0], values)
    accuracies = "the field 'val_accuracy', not a proxy's score"
    assert notes == ([f"left out, 3 times: {accuracies}"] if "val_accuracy" in path.read_text() else [])


DARTS_V2 = (
    "(((0, 3), (1, 3), (0, 3), (1, 3), (1, 3), (0, 2), (0, 2), (2, 5)), "
    "((0, 0), (1, 0), (2, 2), (1, 0), (0, 0), (2, 2), (2, 2), (1, 0)))"
)
"""The second cell of the DARTS paper as NASLib writes it: the source and the operation of each edge."""


@pytest.mark.parametrize(
    ("stem", "key", "text"),
    [
        ("nasbench101", "(0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 4, 1)", "conv3x3:0/output:1"),
        ("transbench101_micro", "(1, 0, 2, 3, 3, 3)", "64-41414-1_02_333"),
        ("transbench101_macro", "(4, 1, 2, 3, 0, 0)", "64-4123-basic"),
        ("nasbench301", DARTS_V2, ""),
    ],
)
def test_suite_zero_json_of_every_space(tmp_path: Path, stem: str, key: str, text: str) -> None:
    """Keys and texts as published; the DARTS cell has as many parameters as its repository prints."""
    path = tmp_path / f"zc_{stem}.json"
    path.write_text(json.dumps({"cifar10": {key: {"id": "0", "nwot": {"score": 7.0, "time": 0.1}}}}))
    scores = published_scores(path)
    (arch,) = scores.space.architectures(scores.codes)
    assert scores.of("nwot").tolist() == [[7.0]]
    if text:
        assert scores.space.format(arch) == text
    else:
        assert scores.space.costs([arch], DartsSkeleton(channels=36, cells=20))[0, 0] == 3_349_342


def test_suite_zero_json_names_its_space_by_a_level(tmp_path: Path) -> None:
    path, notes = tmp_path / "mine.json", list[str]()
    cells = {key: entry(row) for row, key in enumerate(KEYS)}
    macro = {"(4, 1, 2, 3, 0, 0)": {"nwot": 7.0}}
    path.write_text(json.dumps({"nasbench201": {"cifar10": cells}, "transbench101_macro": {"jigsaw": macro}}))
    scores = published_scores(path, searched="transnas-macro", on_note=notes.append)
    assert scores.space.format(scores.space.architectures(scores.codes)[0]) == "64-4123-basic"
    assert scores.about.dataset == "jigsaw" and notes == ["left out: nasbench201 cifar10"]
    with pytest.raises(InvalidOption, match="scores of nb201 and transnas-macro; choose one with --space"):
        published_scores(path)
    with pytest.raises(InvalidOption, match="has nasbench201 cifar10, transbench101_macro jigsaw, got 'nb101'"):
        published_scores(path, searched="nb101")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({KEYS[0]: entry(0, arch=KEYS[1])}, "its field arch is another architecture"),
        ({"7": entry(0)}, "an index names no architecture; give each entry a field arch"),
        ({"(4, 0, 3, 1, 4)": entry(0)}, "no nb201 architecture has the key"),
        ({"28cf": entry(0)}, "an nb201 cell reads"),
        ({"cell": entry(0)}, "one space and of one dataset, got 'flops' below 'cifar10' and 'cell'"),
        ({"cell": {KEYS[0]: entry(0)}}, "one dataset, got 'cifar10' and 'cell'"),
        ({KEYS[0]: 3}, "an architecture has proxies with score and time, got 3"),
        ({KEYS[0]: {"snip": {"score": "many"}}}, "the score of snip is a number"),
    ],
)
def test_suite_zero_json_that_contradicts_itself_is_refused(tmp_path: Path, content: Any, message: str) -> None:
    path = tmp_path / "zc_nasbench201.json"
    path.write_text(json.dumps({"cifar10": content}))
    with pytest.raises(BadFile) as error:
        published_scores(path)
    assert message in str(error.value) and "\n" not in str(error.value)


def test_what_suite_zero_json_has_beside_scores_is_named(tmp_path: Path) -> None:
    path, notes = tmp_path / "zc_nasbench201.json", list[str]()
    cells = {KEYS[0]: entry(0, arch="?", mine=5.0, hash="x"), CELLS[0]: entry(1), KEYS[1]: entry(1, mine=None)}
    path.write_text(json.dumps({"cifar10": cells}))
    scores = published_scores(path, on_note=notes.append)
    assert len(scores) == 2 and scores.of("flops")[0, 0] == PUBLISHED["flops"][0], "the first of two is kept"
    assert sorted(notes) == [
        "left out, 1 times: an architecture that occurred before",
        "left out, 1 times: the field 'arch', not readable as an architecture",
        "left out, 1 times: the field 'hash', not a proxy's score",
        "left out, 2 times: the field 'mine', not a proxy's score",
    ]
    requested = published_scores(path, proxies=["mine"], on_note=notes.append)
    np.testing.assert_array_equal(requested.of("mine")[:, 0], [5.0, np.nan])


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_a_table_of_scores(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"mine{suffix}"
    columns = pa.table(
        {"arch": CELLS, "ntk": [5.0, 2.0, float("inf")], "val_accuracy": [90.0, 91.0, 92.0], "mine": [1, 2, 3]}
    )
    (csv.write_csv if suffix == ".csv" else parquet.write_table)(columns, path)
    notes: list[str] = []
    scores = published_scores(path, searched="nb201", negated=["ntk"], on_note=notes.append)
    assert scores.proxies == ("ntk",)  # what is no known proxy has to be named
    assert notes == ["left out: the columns val_accuracy, mine; import one with --proxies"]
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


def test_a_table_with_tuples_in_the_numbering_of_naslib(tmp_path: Path) -> None:
    path = tmp_path / "mine.csv"
    csv.write_csv(pa.table({"arch": KEYS, "params": PUBLISHED["params"]}), path)
    scores = published_scores(path, searched="nb201")
    np.testing.assert_allclose(scores.of("params")[:, 0] * 1e6, nasbed.space("nb201").costs(scores.codes)[:, 0])
    csv.write_csv(pa.table({"arch": ["(4, 0, 3, 1, 4, 5)"], "params": [1.0]}), path)
    with pytest.raises(BadFile, match=r"row 1: .*no nb201 architecture has the key '\(4, 0, 3, 1, 4, 5\)'"):
        published_scores(path, searched="nb201")


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
    with pytest.raises(BadFile, match="has no architectures"):
        published_scores(tmp_path / "zc_nasbench201.json")


def test_published_scores_in_the_layout_of_naslib(tmp_path: Path, published_data: Callable[[str], Path]) -> None:
    """All published scores, written as NASLib does with its own numbers of operations and edges, are those of the cells
    with as many parameters and operations."""
    table = parquet.read_table(published_data("nb201_zero_cost_cifar10.parquet"))
    rows = table.slice(0, 2_000).to_pylist()
    operations = ["skip_connect", "none", "nor_conv_3x3", "nor_conv_1x1", "avg_pool_3x3"]
    entries = {}
    for row in rows:
        first, second, third = (
            [edge.split("~")[0] for edge in node.strip("|").split("|")] for node in row.pop("arch_str").split("+")
        )
        by_source = [first[0], second[0], third[0], second[1], third[1], third[2]]
        entries[str(tuple(map(operations.index, by_source)))] = {
            name: {"score": row[name], "time": 1.0} for name in row
        }
    path = tmp_path / "zc_nasbench201.json"
    path.write_text(json.dumps({"cifar10": entries}))
    scores = published_scores(path)
    nb201: Any = nasbed.space("nb201")
    assert len(scores) == 2_000 and len(scores.proxies) == 13
    np.testing.assert_allclose(scores.of("params")[:, 0] * 1e6, nb201.parameters(scores.codes), rtol=0, atol=1e-3)
    np.testing.assert_allclose(scores.of("flops")[:, 0] * 1e6, nb201.published_flops(scores.codes), rtol=0, atol=1e-3)


def test_the_published_table(published_data: Callable[[str], Path]) -> None:
    notes: list[str] = []
    scores = published_scores(published_data("nb201_zero_cost_cifar10.parquet"), searched="nb201", on_note=notes.append)
    assert len(scores) == 9_445 and len(scores.proxies) == 13
    assert notes == ["kept as they are: 4 scores of -1e8, NASLib's mark for a network without a score"]
    counted = nasbed.space("nb201").costs(scores.codes)[:, 0]
    np.testing.assert_allclose(scores.of("params")[:, 0] * 1e6, counted)


def test_joined_files_have_the_proxies_and_the_architectures_of_both() -> None:
    first = table_of_rows(
        ScoresInfo("nb201", "digits", source="theirs"),
        codes(),
        [0, 0, 0],
        {"snip": [1.0, 2.0, 3.0], "params": [4.0, 5.0, 6.0]},
        no_score=["", "a: why", ""],
    )
    second = table_of_rows(
        ScoresInfo("nb201", "digits", source="ours"),
        [codes()[1], codes()[0], codes()[1]],
        [0, 0, 1],
        {"params": [7.0, 7.0, 7.0], "ntk": [8.0, float("nan"), 9.0]},
        no_score=["", "ntk: singular; params: other", ""],
    )
    joined = joined_scores(first, second)
    assert (joined.about.source, joined.seeds, len(joined)) == ("theirs; ours", (0,), 2)
    rows = {tuple(code): row for row, code in enumerate(joined.codes.tolist())}
    left, right = rows[codes()[0]], rows[codes()[1]]
    np.testing.assert_array_equal(joined.of("params")[[left, right], 0], [4.0, 5.0])
    np.testing.assert_array_equal(joined.of("ntk")[[left, right], 0], [np.nan, 8.0])
    assert joined.no_score is not None and joined.no_score[[left, right], 0].tolist() == ["ntk: singular", "a: why"]


def test_files_that_cannot_be_joined_are_refused() -> None:
    scores = table(snip=[1.0, 2.0, 3.0])
    with pytest.raises(InvalidOption, match="nothing to join"):
        joined_scores(scores, scores)
    other = table_of_rows(ScoresInfo("nb201", "mnist"), codes(), [0, 0, 0], {"ntk": [1.0, 2.0, 3.0]})
    with pytest.raises(InvalidOption, match="got digits and mnist"):
        joined_scores(scores, other)
    about = ScoresInfo("nb201", "digits", recipe="small-nb201")
    with pytest.raises(InvalidOption, match="the usual skeleton and small-nb201"):
        joined_scores(scores, table_of_rows(about, codes(), [0, 0, 0], {"ntk": [1.0, 2.0, 3.0]}))
