"""A file of runs has the numbers of the folder that it was packed from, and no byte of it can change unnoticed."""

from __future__ import annotations

import json
import lzma
import zlib
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from shutil import copytree, rmtree

import numpy as np
import pytest

from nasbed.core.code_fingerprint import file_fingerprint
from nasbed.core.errors import BadFile, InvalidOption
from nasbed.core.execution import SerialEngine
from nasbed.evaluation.suite import summarise_suite
from nasbed.experiments.runs import Run
from nasbed.experiments.suites import SuiteRuns, run_suite
from nasbed.leaderboard.column_file import MOST_BYTES, MOST_JSON, read_columns, write_columns
from nasbed.leaderboard.joining import suite_runs
from nasbed.leaderboard.packing import pack
from nasbed.leaderboard.run_file import FORMAT, load_run_file, save_run_file
from nasbed.leaderboard.verification import unpack_code
from nasbed.optimizers.random_search import RandomSearch
from support.suite_runs import HELPER, MINE, NAMES, SMALL, run_small, runs_of_methods


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


def _with(path: Path, target: Path, name: str, value: float, place: int = 0) -> Path:
    content, columns = read_columns(path, FORMAT)
    column = columns[name].copy()
    column.reshape(-1)[place] = value
    write_columns(target, FORMAT, content, {**columns, name: column})
    return target


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("0 rows", 99), ("0 method", 7), ("0 seed", -1), ("0 seed", 1), ("0 status", 9), ("0 steps", 0)),
        *(("1 value", 101), ("0 failed", 26), ("1 repeated", 2), ("0 thinking_s", float("nan"))),
    ],
)
def test_content_that_cannot_be_runs_is_refused(path: Path, tmp_path: Path, name: str, value: float) -> None:
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
        content | {"label": "reference "},
        content | {"versions": {"numpy": "2\nall: verified"}},
        content | {"benchmarks": [item | {"name": f"\x1b[2K{item['name']}"} for item in content["benchmarks"]]},
        content | {"methods": [record | {"files": {"a\0b.py": ""}}, *content["methods"][1:]]},
        content | {"methods": [record | {"name": "better"}, *content["methods"][1:]]},
        {},
    ):
        write_columns(tmp_path / "other.nbr", FORMAT, other, columns)
        with pytest.raises(BadFile, match="not a complete file of runs"):
            load_run_file(tmp_path / "other.nbr")
    write_columns(tmp_path / "other.nbr", "nasbed-runs 9", content, columns)
    with pytest.raises(BadFile, match="reads version 1"):
        load_run_file(tmp_path / "other.nbr")


def test_lucky_seeds_alone_are_refused(small_suite: Path, path: Path, tmp_path: Path) -> None:
    """Of three seeds the second is left out, in a file and in a folder."""
    file = load_run_file(path)
    lucky = {name: [run for run in part if run.method == "ls" or run.seed != 1] for name, part in file.runs.items()}
    save_run_file(tmp_path / "lucky.nbr", replace(file, runs=lucky))
    with pytest.raises(BadFile, match=r"runs of the first seeds, .* mine has others"):
        load_run_file(tmp_path / "lucky.nbr")
    copytree(small_suite / "runs", tmp_path / "runs")
    run_of_mine = next((tmp_path / "runs" / NAMES[1] / "runs").glob("mine-*2.npz"))
    run_of_mine.unlink()
    with pytest.raises(InvalidOption, match=f"mine has others on {NAMES[1]}; run the suite to its end"):
        pack(tmp_path / "runs", label="us")
    rmtree(tmp_path / "runs" / NAMES[1])
    with pytest.raises(InvalidOption, match=f"no runs on {NAMES[1]} .not run yet., and a file is of a whole suite"):
        pack(tmp_path / "runs", label="us")


def test_runs_without_an_evaluation_are_kept(path: Path, tmp_path: Path) -> None:
    """As of a method that breaks at once."""
    content, columns = read_columns(path, FORMAT)
    rows = ("codes", "steps", "fidelity", "value", "status", "end_s")
    for name in columns:
        if name.startswith("0 "):
            columns[name] = columns[name][:0] if name[2:] in rows else columns[name]
            columns[name] = columns[name] * 0 if name[2:] in ("rows", "evaluations", "free") else columns[name]
    write_columns(tmp_path / "none.nbr", FORMAT, content, columns)
    assert {len(run) for run in load_run_file(tmp_path / "none.nbr").runs[NAMES[0]]} == {0}


@pytest.mark.parametrize(
    "content", [b"\0" * (MOST_BYTES + 1), (MOST_JSON + 1).to_bytes(8, "little") + b" " * MOST_JSON]
)
def test_small_file_with_a_large_content_is_refused(tmp_path: Path, content: bytes) -> None:
    packed = lzma.compress(content, format=lzma.FORMAT_XZ, preset=0)
    (tmp_path / "large.nbr").write_bytes(f"{FORMAT}\n".encode() + sha256(content).digest() + packed)
    assert len(packed) < 1e5
    with pytest.raises(BadFile):
        read_columns(tmp_path / "large.nbr", FORMAT)


def test_file_that_asks_for_much_memory_is_refused(tmp_path: Path) -> None:
    """A dictionary of 1.5 GB for 300 bytes."""
    filters = [{"id": lzma.FILTER_LZMA2, "preset": 0, "dict_size": 1 << 20}]
    packed = bytearray(lzma.compress(b"abc" * 100, format=lzma.FORMAT_XZ, filters=filters))
    header = packed[12:20]
    assert header[:4] == bytes([2, 0, 0x21, 1]), "one filter, LZMA2, whose one property is the size of the dictionary"
    packed[16] = 39  # (2 | 39 & 1) << 39 // 2 + 11 bytes are 3 GB
    packed[20:24] = zlib.crc32(bytes(packed[12:20])).to_bytes(4, "little")
    (tmp_path / "greedy.nbr").write_bytes(f"{FORMAT}\n".encode() + sha256(b"abc" * 100).digest() + packed)
    assert lzma.decompress(bytes(packed), memlimit=1 << 40) == b"abc" * 100, "it is a good file otherwise"
    with pytest.raises(BadFile):
        read_columns(tmp_path / "greedy.nbr", FORMAT)


def test_source_keeps_its_line_ends(small_suite: Path, tmp_path: Path) -> None:
    """A file from Windows has the same fingerprint where it is unpacked."""
    (tmp_path / "my.py").write_bytes(MINE.replace("\n", "\r\n").encode())
    (tmp_path / "helper.py").write_text(HELPER)
    run_small(tmp_path / "runs", [f"{tmp_path / 'my.py'}:Mine"])
    mine = pack(tmp_path / "runs", label="us").method("mine")
    assert file_fingerprint(unpack_code(mine, tmp_path / "elsewhere")) == mine.source


def test_class_without_a_file_is_refused(tmp_path: Path) -> None:
    """As one of a notebook: nobody else could run it."""

    class Typed(RandomSearch):
        name = "typed"

    run_suite(replace(SMALL, seeds=1), [Typed], out=tmp_path, engine=SerialEngine())
    with pytest.raises(InvalidOption, match=r"run as a class, .* run the suite with file\.py:"):
        pack(tmp_path, label="us", code=Path(__file__))


def test_versions_are_those_that_made_the_runs(small_suite: Path, tmp_path: Path) -> None:
    copytree(small_suite / "runs", tmp_path / "runs")
    for name in NAMES:
        setup = json.loads((tmp_path / "runs" / name / "setup.json").read_text())
        setup["versions"]["numpy"] = "1.2.3"
        (tmp_path / "runs" / name / "setup.json").write_text(json.dumps(setup))
    assert pack(tmp_path / "runs", label="us").versions["numpy"] == "1.2.3"


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
