"""A file of runs has the numbers of the folder that it was packed from, and no byte of it can change unnoticed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from nasbed.core.errors import BadFile, InvalidOption
from nasbed.evaluation.suite import summarise_suite
from nasbed.experiments.runs import Run
from nasbed.experiments.suites import SuiteRuns
from nasbed.leaderboard.column_file import read_columns, write_columns
from nasbed.leaderboard.joining import suite_runs
from nasbed.leaderboard.packing import pack
from nasbed.leaderboard.run_file import FORMAT, load_run_file, save_run_file
from support.suite_runs import NAMES, runs_of_methods


@pytest.fixture(scope="module")
def runs(small_suite: Path) -> SuiteRuns:
    return runs_of_methods(small_suite / "runs", ["ls", "mine"])


@pytest.fixture(scope="module")
def path(small_suite: Path) -> Path:
    save_run_file(small_suite / "two.nbr", pack(small_suite / "runs", label="us", methods=["ls", "mine"]))
    return small_suite / "two.nbr"


def test_page_of_a_file_has_the_numbers_of_the_folder(path: Path, runs: SuiteRuns) -> None:
    of_folder, of_file = (
        summarise_suite(suite, np.random.default_rng(0), resamples=50).numbers()
        for suite in (replace(runs, sources={"ls": "us", "mine": "us"}), suite_runs([load_run_file(path)]))
    )
    assert_equal_numbers(of_file, of_folder)


def assert_equal_numbers(first: object, second: object, place: str = "") -> None:
    """Equal texts and counts at every place of nested values, and numbers up to rounding."""
    if isinstance(first, dict) and isinstance(second, dict):
        assert first.keys() == second.keys(), place
        for name, part in first.items():
            assert_equal_numbers(part, second[name], f"{place}/{name}")
    elif isinstance(first, list) and isinstance(second, list):
        assert len(first) == len(second), place
        for i, part in enumerate(first):
            assert_equal_numbers(part, second[i], f"{place}/{i}")
    else:
        assert first == (pytest.approx(second, rel=1e-12) if isinstance(second, float) else second), place


def test_file_keeps_what_changed_the_incumbent(path: Path, runs: SuiteRuns) -> None:
    file = load_run_file(path)
    for part in runs.benchmarks:
        stored = {(run.method, run.seed): run for run in file.runs[part.name]}
        for run in part.runs.runs:
            kept = stored[run.method, run.seed]
            better = [i + 1 for i in range(len(run)) if run.value[i] > max(run.value[:i], default=-np.inf)]
            assert kept.numbers.tolist() == sorted({*better, len(run)})
            assert (kept.evaluations, kept.end_s[-1]) == (len(run), run.end_s[-1])
            np.testing.assert_array_equal(kept.codes, run.codes[kept.numbers - 1])


def test_same_runs_give_the_same_bytes(path: Path, tmp_path: Path) -> None:
    save_run_file(tmp_path / "again.nbr", load_run_file(path))
    assert (tmp_path / "again.nbr").read_bytes() == path.read_bytes()


def test_any_changed_byte_is_refused(path: Path, tmp_path: Path) -> None:
    whole, changed = path.read_bytes(), tmp_path / "changed.nbr"
    for place in (*range(0, 60, 7), *range(60, len(whole), 397), len(whole) - 1):
        changed.write_bytes(whole[:place] + bytes([whole[place] ^ 4]) + whole[place + 1 :])
        with pytest.raises(BadFile):
            load_run_file(changed)
    for other in (whole + b"x", whole[:-1], b"", b"PK\x03\x04"):
        changed.write_bytes(other)
        with pytest.raises(BadFile):
            load_run_file(changed)


def _with(path: Path, target: Path, name: str, value: int, place: int = 0) -> Path:
    content, columns = read_columns(path, FORMAT)
    column = columns[name].copy()
    column.reshape(-1)[place] = value
    write_columns(target, FORMAT, content, {**columns, name: column})
    return target


@pytest.mark.parametrize(
    ("name", "value"),
    [("0 rows", 99), ("0 method", 7), ("0 seed", -1), ("0 seed", 1), ("0 status", 9), ("0 steps", 0), ("1 value", 101)],
)
def test_content_that_cannot_be_runs_is_refused(path: Path, tmp_path: Path, name: str, value: int) -> None:
    with pytest.raises(BadFile, match="not a complete file of runs"):
        load_run_file(_with(path, tmp_path / "other.nbr", name, value))


def test_content_of_other_kinds_is_refused(path: Path, tmp_path: Path) -> None:
    content, columns = read_columns(path, FORMAT)
    record = content["methods"][0]
    for other in (
        content | {"judged_by": "luck"},
        content | {"methods": []},
        content | {"benchmarks": [content["benchmarks"][0] | {"benchmark": "live:nb201/digits/small-nb201"}]},
        content | {"methods": [record | {"name": "../up"}, *content["methods"][1:]]},
        content | {"methods": [record | {"files": {"my.py": 3}}, *content["methods"][1:]]},
        content | {"stated": []},
        content | {"more": 1},
        {},
    ):
        write_columns(tmp_path / "other.nbr", FORMAT, other, columns)
        with pytest.raises(BadFile, match="not a complete file of runs"):
            load_run_file(tmp_path / "other.nbr")
    write_columns(tmp_path / "other.nbr", "nasbed-runs 9", content, columns)
    with pytest.raises(BadFile, match="reads version 1"):
        load_run_file(tmp_path / "other.nbr")


def test_method_takes_its_source_with_it_unless_it_changed(small_suite: Path, path: Path) -> None:
    file = load_run_file(path)
    sources = {name: set(file.method(name).files) for name in ("ls", "mine")}
    assert sources == {"ls": set(), "mine": {"my.py", "helper.py"}}
    assert file.method("mine").method == "my.py:Mine", "paths of a machine are nobody's business"
    alone = pack(small_suite / "runs", label="us")
    assert [method.name for method in alone.methods] == ["mine", "hidden"], "those of nasbed are everywhere"
    source = (small_suite / "helper.py").read_text()
    try:
        (small_suite / "helper.py").write_text(source + "\n")
        with pytest.raises(InvalidOption, match=r"hidden\.py or a module that it imports has changed"):
            pack(small_suite / "runs", label="us")
    finally:
        (small_suite / "helper.py").write_text(source)


def test_broken_run_stays_broken(path: Path, tmp_path: Path) -> None:
    file = load_run_file(path)

    def broken(run: Run) -> Run:
        return replace(run, error="ValueError: no more", remarks=("It gave up.",))

    runs = {name: [broken(run) if run.seed == 1 else run for run in part] for name, part in file.runs.items()}
    save_run_file(tmp_path / "broken.nbr", replace(file, runs=runs))
    again = load_run_file(tmp_path / "broken.nbr")
    assert {run.seed for name in NAMES for run in again.runs[name] if run.error} == {1}
    assert again.runs[NAMES[0]][1].remarks == ("It gave up.",)
