"""Tables in which a training answers for all architectures that compute its function."""

from __future__ import annotations

import pickle
import shutil
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import nasbed
from nasbed.benchmarks import NoiseFree, TabularBenchmark
from nasbed.benchmarks.catalog import card
from nasbed.core.errors import BadFile, InvalidOption
from nasbed.core.execution import SerialEngine
from nasbed.experiments.compare import compare
from nasbed.results.cache import Cache
from nasbed.results.cache.reader import MEMBER_ROWS, MEMBERS
from nasbed.results.manifest import Manifest, TableInfo
from nasbed.results.merge import merge_results
from nasbed.results.rows import Rows
from nasbed.results.store import Results, write_results
from support.surrogates import ACCURACY

NB201 = nasbed.space("nb201")
CELLS = NB201.codes(list(NB201.enumerate()))
DEAD = [
    f"|none~0|+|none~0|{operation}~1|+|none~0|skip_connect~1|nor_conv_3x3~2|" for operation in ("none", "nor_conv_3x3")
]
"""Nothing reaches the first node, so what leads away from it does not matter: both compute zero."""


def table(folder: Path, codes: np.ndarray, *, by_function: bool = True) -> Results:
    """Two seeds each, with values that tell the rows apart."""
    rows = Rows.of(
        np.repeat(codes, 2, axis=0),
        {ACCURACY.key: np.linspace(10, 90, 2 * len(codes))},
        fidelity=8,
        seed=np.tile([0, 1], len(codes)),
    )
    return write_results(folder, TableInfo("part", "nb201", (ACCURACY,), by_function=by_function), [rows])


@pytest.fixture(scope="module")
def unseen() -> Iterator[TabularBenchmark]:
    benchmark = nasbed.load("nb201-chesseract-v1.0")
    assert isinstance(benchmark, TabularBenchmark)
    yield benchmark


def test_all_15625_cells_are_answered_by_4954_functions(unseen: TabularBenchmark) -> None:
    assert len(unseen) == unseen.held_count == len(list(unseen.architectures())) == 15_625
    assert card("nb201-chesseract-v1.0").architectures == unseen.results.manifest.architectures == 15_625
    trained = {tuple(code) for rows in unseen.results.batches() for code in rows.codes.tolist()}
    assert len(trained) == 4_954 and unseen.results.manifest.rows == 4_954 + 300 * 2
    assert np.isfinite(unseen.mean_test(CELLS)).all()
    assert all(unseen.holds(arch) for arch in NB201.architectures(CELLS[::997]))


@given(place=st.integers(0, len(CELLS) - 1), seed=st.integers(0, 1000))
def test_a_cell_answers_as_the_one_that_was_trained_for_its_function(
    unseen: TabularBenchmark, place: int, seed: int
) -> None:
    cell, trained = NB201.architectures(np.stack([CELLS[place], NB201.function_codes(CELLS[place : place + 1])[0]]))
    answers = [unseen.query(arch, seed=seed) for arch in (cell, trained)]
    assert answers[0].values == answers[1].values and answers[0].seed == answers[1].seed
    many = unseen.query_many([cell, trained], seed=seed)
    assert many.values[unseen.objective].tolist() == [answer.values[unseen.objective] for answer in answers]
    assert NoiseFree(unseen).query(cell).values == NoiseFree(unseen).query(trained).values


def test_cells_that_compute_zero_answer_the_same(unseen: TabularBenchmark) -> None:
    first, second = (unseen.repeats(NB201.parse(text)) for text in DEAD)
    assert [repeat.values for repeat in first] == [repeat.values for repeat in second]


def test_a_part_of_the_functions_answers_for_their_cells_alone(tmp_path: Path) -> None:
    dead = NB201.function_codes([NB201.parse(DEAD[0])])
    other = NB201.function_codes([NB201.parse(DEAD[0].replace("none~0|+|none", "skip_connect~0|+|none"))])
    benchmark = TabularBenchmark(table(tmp_path / "part", np.concatenate([dead, other])))
    expected = {
        tuple(code)
        for code in CELLS[
            (NB201.function_codes(CELLS)[:, None] == np.stack([dead, other], axis=1)).all(2).any(1)
        ].tolist()
    }
    assert {arch.code for arch in benchmark.architectures()} == expected and 2 < len(benchmark) == len(expected)
    assert benchmark.holds(NB201.parse(DEAD[1]))
    lacking = NB201.parse(
        "|nor_conv_3x3~0|+|nor_conv_3x3~0|nor_conv_3x3~1|+|nor_conv_3x3~0|nor_conv_3x3~1|nor_conv_3x3~2|"
    )
    assert not benchmark.holds(lacking)


def test_two_cells_of_one_function_are_refused(tmp_path: Path) -> None:
    codes = NB201.codes([NB201.parse(text) for text in DEAD])
    with pytest.raises(InvalidOption, match="one architecture of each function, this one has 2 of 1"):
        table(tmp_path / "twice", codes)


def test_manifest_says_so_and_others_do_not_mention_it(tmp_path: Path) -> None:
    codes = NB201.function_codes([NB201.parse(DEAD[0])])
    for by_function in (True, False):
        folder = table(tmp_path / str(by_function), codes, by_function=by_function).folder
        assert Manifest.read(folder).about.by_function is by_function
        assert ("by_function" in (folder / "manifest.json").read_text()) is by_function
    with pytest.raises(InvalidOption, match="some of these tables answer by function"):
        merge_results([Results.open(tmp_path / str(kind)) for kind in (True, False)], tmp_path / "merged")


def test_merged_tables_stay_by_function(tmp_path: Path) -> None:
    tables = [
        table(tmp_path / text[1:5], NB201.function_codes([NB201.parse(text)]))
        for text in (DEAD[0], DEAD[0].replace("none~0|+|none", "skip_connect~0|+|none"))
    ]
    merged = merge_results(tables, tmp_path / "merged").results
    assert merged.about.by_function
    assert merged.manifest.architectures == sum(part.manifest.architectures for part in tables)


def test_copies_answer_the_same(unseen: TabularBenchmark) -> None:
    copy = pickle.loads(pickle.dumps(unseen))
    assert (copy.mean_test(CELLS) == unseen.mean_test(CELLS)).all()


@pytest.mark.parametrize("rows", [np.array([70_000] * 15_625), np.array([0])], ids=["out of range", "too few"])
def test_damaged_rows_are_named(unseen: TabularBenchmark, rows: np.ndarray, tmp_path: Path) -> None:
    folder = tmp_path / "cache"
    shutil.copytree(unseen.results.data / "cache", folder)
    assert len(np.load(folder / f"{MEMBERS}.npy")) == len(np.load(folder / f"{MEMBER_ROWS}.npy")) == 15_625
    np.save(folder / f"{MEMBER_ROWS}.npy", rows)
    with pytest.raises(BadFile, match=r"cache .* is damaged"):
        Cache(folder)


def test_methods_search_all_cells(tmp_path: Path) -> None:
    runs = compare(
        "nb201-chesseract-v1.0", ["rs", "ls"], seeds=2, budget="60ev", out=tmp_path / "runs", engine=SerialEngine()
    )
    codes = np.concatenate([run.codes for run in runs.runs])
    assert (NB201.function_codes(codes) != codes).any()
    assert all(np.isfinite(run.value).all() and run.value.max() > 66 for run in runs.runs)
