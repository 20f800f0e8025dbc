"""Results folders: what is written is read, damage is refused, and no moment exists at which a table is half there."""

from __future__ import annotations

import json
import math
import os
import pickle
import random
import shutil
import signal
import time
from collections import defaultdict
from itertools import count
from pathlib import Path
from subprocess import PIPE

import numpy as np
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from nasbed.core.errors import BadFile, InvalidMeasurement, InvalidOption
from nasbed.core.metric import Metric
from nasbed.results import Manifest, Results, Rows, write_results
from nasbed.spaces import space
from nasbed.spaces.lookup import code_key, code_keys
from support.examples import examples
from support.forks import fork_script
from support.result_samples import ACCURACY, about, plain_rows, random_rows, rows_of


@examples(20, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    name=st.sampled_from(["nb201", "nb101"]),
    counts=st.lists(st.integers(1, 30), min_size=1, max_size=3),
    seed=st.integers(0, 2**32),
)
def test_table_reads_back_what_was_written(tmp_path: Path, name: str, counts: list[int], seed: int) -> None:
    folder = tmp_path / f"{name}-{seed}-{'-'.join(map(str, counts))}"
    batches = [random_rows(name, count, seed + i) for i, count in enumerate(counts)]
    written = write_results(folder, about(name), batches)
    results = Results.open(folder)
    assert rows_of(results) == rows_of(written) == plain_rows(batches)
    assert results.about == about(name)
    assert results.manifest.rows == sum(counts)
    canonical = {space(name).canonical(arch) for batch in batches for arch in space(name).architectures(batch.codes)}
    assert results.manifest.architectures == len(canonical)


@examples(15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(name=st.sampled_from(["nb201", "nb101"]), count=st.integers(1, 60), seed=st.integers(0, 2**32))
def test_cache_equals_a_dictionary(tmp_path: Path, name: str, count: int, seed: int) -> None:
    """The reference is a dictionary of lists filled row by row; isomorphic nb101 cells meet in one entry."""
    folder = tmp_path / f"{name}-{count}-{seed}"
    rows = random_rows(name, count, seed)
    cache = write_results(folder, about(name), [rows]).cache()
    searched = space(name)
    reference: dict[tuple[tuple[int, ...], int], list[int]] = defaultdict(list)
    for i, arch in enumerate(searched.architectures(rows.codes)):
        reference[searched.canonical(arch).code, int(rows.fidelity[i])].append(i)
    codes = {code for code, _ in reference}
    assert len(cache) == len(codes) and {tuple(code) for code in cache.codes.tolist()} == codes
    assert cache.fidelities == tuple(sorted({fidelity for _, fidelity in reference}))
    for (code, fidelity), members in reference.items():
        row, position = cache.find(code), cache.fidelities.index(fidelity)
        assert cache.find_many(np.array([code]))[0] == row
        assert cache.counts()[row, position] == len(members)
        for key in ("validation_accuracy", "test_loss", "train_time_s"):
            column = rows.train_time_s if key == "train_time_s" else rows.values[key]
            stored = cache.values[key][row, position] if key in cache.values else np.full(cache.repeats, np.nan)
            assert _sorted(stored) == _sorted(column[members])
            well = [column[i] for i in members if rows.status[i] == 0 and not math.isnan(column[i])]
            if key in cache.values:
                mean = cache.mean(key, fidelity)[row]
                assert math.isnan(mean) if not well else mean == pytest.approx(np.mean(well), rel=1e-12)
        seeds = sorted(rows.seed[members].tolist())
        if cache.seeds is not None:
            assert cache.seeds[row, position, : len(members)].tolist() == seeds


def _sorted(values: np.ndarray) -> list[float]:
    return sorted(float(value) for value in values if not math.isnan(value))


def test_cache_joins_isomorphic_cells(tmp_path: Path) -> None:
    nb101 = space("nb101")
    first, second = nb101.parse("conv3x3:0/conv1x1:0/output:1,2"), nb101.parse("conv1x1:0/conv3x3:0/output:1,2")
    assert first != second and nb101.hash(first) == nb101.hash(second)  # type: ignore[attr-defined]
    rows = Rows.of(nb101.codes([first, second]), {"validation_accuracy": np.array([90.0, 92.0])}, fidelity=108)
    results = write_results(tmp_path / "t", about("nb101", (ACCURACY,)), [rows])
    assert results.manifest.rows == 2 and results.manifest.architectures == 1
    assert results.cache().mean("validation_accuracy", 108).tolist() == [91.0]
    assert [row[0] for row in rows_of(results)] == [first.code, second.code], "the rows keep what was proposed"


def test_cache_does_not_find_what_is_not_there(tmp_path: Path) -> None:
    rows = random_rows("nb201", 20, 3)
    cache = write_results(tmp_path / "t", about(), [rows]).cache()
    stored_codes = {tuple(code) for code in rows.codes.tolist()}
    absent = [arch.code for arch in space("nb201").enumerate() if arch.code not in stored_codes]
    assert (cache.find_many(np.array(absent)) == -1).all()
    assert all(cache.find(code) == -1 for code in absent[:500])


def test_code_keys_equal_the_plain_ones() -> None:
    codes = np.random.default_rng(0).integers(0, 2**40, size=(200, 7))
    assert code_keys(codes).tolist() == [code_key(tuple(code)) for code in codes.tolist()]


@pytest.fixture
def table(tmp_path: Path) -> Path:
    write_results(tmp_path / "table", about(notes="é"), [random_rows("nb201", 12, 5)])
    return tmp_path / "table"


def test_any_changed_byte_is_refused(table: Path, thorough: bool) -> None:
    """Each byte of the manifest (by default, every third), and bytes of every data file, first and last included."""
    rng = random.Random(0)
    for path in sorted(path for path in table.rglob("*") if path.is_file() and not path.name.startswith(".")):
        original = path.read_bytes()
        places = range(0, len(original), 1 if thorough else 3) if path.name == "manifest.json" else []
        drawn = (rng.randrange(len(original)) for _ in range(25 if thorough else 8))
        for place in [*places, 0, len(original) - 1, *drawn]:
            path.write_bytes(
                original[:place] + bytes([original[place] ^ 1 << rng.randrange(8)]) + original[place + 1 :]
            )
            with pytest.raises(BadFile) as error:
                Results.open(table)
            assert "\n" not in str(error.value)
        for changed in (original[:-1], original + b"\n", b""):
            path.write_bytes(changed)
            with pytest.raises(BadFile):
                Results.open(table)
        path.write_bytes(original)
        Results.open(table).verify()


def test_verify_sees_a_change_that_keeps_size_and_date(table: Path) -> None:
    results = Results.open(table)
    path = results.data / "rows.parquet"
    status, content = path.stat(), path.read_bytes()
    path.write_bytes(bytes([content[0] ^ 1]) + content[1:])
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    with pytest.raises(BadFile, match="SHA-256"):
        results.verify()


@pytest.mark.parametrize("name", ["../outside", "/etc/passwd", "data-x/../../y", "data\\x", "", "a/x"])
def test_manifest_names_files_of_its_data_folder_only(table: Path, name: str) -> None:
    manifest = Manifest.read(table)
    record = next(iter(manifest.files.values()))
    object.__setattr__(manifest, "files", {**manifest.files, name: record})
    manifest.write(table)
    with pytest.raises(BadFile, match="manifest"):
        Results.open(table)


def test_manifest_without_files_is_refused(table: Path) -> None:
    manifest = Manifest.read(table)
    object.__setattr__(manifest, "files", {})
    manifest.write(table)
    with pytest.raises(BadFile, match="one data folder"):
        Results.open(table)


@pytest.mark.parametrize(
    "content",
    [b"", b"[]", b"{}", b"\xff", b"[" * 100_000, b'{"schema_version": 2}', b'{"schema_version": 1}', b"1e999"],
    ids=map(str, count()),
)
def test_manifest_of_another_kind_is_refused_in_one_line(table: Path, content: bytes) -> None:
    (table / "manifest.json").write_bytes(content)
    with pytest.raises(BadFile) as error:
        Results.open(table)
    assert "\n" not in str(error.value) and "manifest" in str(error.value)


def test_a_read_only_folder_opens(table: Path) -> None:
    (table / ".verified").unlink()
    paths = [table, *table.rglob("*")]
    for path in paths:
        path.chmod(0o555 if path.is_dir() else 0o444)
    try:
        expected = rows_of(Results.open(table))
        assert len(expected) == 12 and len(Results.open(table).cache()) > 0
    finally:
        for path in paths:
            path.chmod(0o755)


def test_a_missing_file_is_refused(table: Path) -> None:
    shutil.rmtree(Results.open(table).data / "cache")
    with pytest.raises(BadFile, match="lacks its file"):
        Results.open(table)


def test_opened_results_cross_processes_by_pickle(table: Path) -> None:
    results = Results.open(table)
    assert rows_of(pickle.loads(pickle.dumps(results))) == rows_of(results)


# --- what may be written ---------------------------------------------------------------------------------------------


def test_failed_write_leaves_nothing_and_an_old_table_as_it_was(tmp_path: Path, table: Path) -> None:
    before = rows_of(Results.open(table))
    bad = random_rows("nb201", 5, 1)
    object.__setattr__(bad, "values", {**bad.values, "validation_accuracy": np.full(5, 101.0)})
    for folder in (table, tmp_path / "new" / "deeper"):
        with pytest.raises(InvalidMeasurement, match=r"lies in \[0, 100\]"):
            write_results(folder, about(), [random_rows("nb201", 50, 2), bad])
    assert rows_of(Results.open(table)) == before
    assert len(list(table.glob("data-*"))) == 1
    assert not (tmp_path / "new").exists()


def test_empty_table_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadFile, match="no rows"):
        write_results(tmp_path / "t", about(), [])
    assert not (tmp_path / "t").exists()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"status": np.array([3], np.int8)}, "status"),
        ({"train_time_s": np.array([-1.0])}, "not negative"),
        ({"train_time_s": np.array([np.inf])}, "finite"),
        ({"values": {"validation_accuracy": np.array([np.nan]), "test_loss": np.array([np.nan])}}, "no value"),
        ({"values": {"validation_accuracy": np.array([1.0])}}, "has the columns"),
    ],
)
def test_rows_outside_their_rules_are_refused(tmp_path: Path, change: dict[str, object], message: str) -> None:
    rows = Rows.of(np.zeros((1, 6), np.int64), {"validation_accuracy": np.array([1.0]), "test_loss": np.array([1.0])})
    for name, value in change.items():
        object.__setattr__(rows, name, value)
    with pytest.raises(InvalidMeasurement, match=message):
        write_results(tmp_path / "t", about(), [rows])


def test_columns_of_a_batch_have_one_length() -> None:
    with pytest.raises(InvalidOption, match="one length"):
        Rows.of(np.zeros((2, 6), np.int64), {"validation_accuracy": np.array([1.0])})


@pytest.mark.parametrize("name", ["seed", "method", "timestamp", "code_0", "train_time_s", "fidelity", "x" * 101])
def test_a_metric_cannot_take_the_name_of_another_column(name: str) -> None:
    with pytest.raises(BadFile, match="rename"):
        about(metrics=(Metric(name),))
    with pytest.raises(BadFile, match="rename"):
        about(metrics=(Metric("time_s", split="train"),))


def test_text_about_a_table_is_unicode() -> None:
    with pytest.raises(BadFile, match="Unicode"):
        about(notes="\udcff")


# --- several processes -----------------------------------------------------------------------------------------------

WRITER = """
import sys
from pathlib import Path
from support.result_samples import about, random_rows
from nasbed.results import write_results
folder, first, count = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
print("ready", flush=True)
for version in range(first, first + count):
    rows = [random_rows("nb201", 40, 1000 * version + part) for part in range(30)]
    write_results(folder, about(notes=str(version)), rows)
    print(version, flush=True)
"""

READER = """
import sys, time
from pathlib import Path
from support.result_samples import about, plain_rows, random_rows
from nasbed.results import Results
folder = Path(sys.argv[1])
expected, seen, last = {}, set(), int(sys.argv[2])
while last not in seen:
    opened = Results.open(folder)
    cache = opened.cache()
    version = int(opened.about.notes)
    if version not in expected:
        expected[version] = plain_rows([random_rows("nb201", 40, 1000 * version + part) for part in range(30)])
    assert plain_rows(opened.batches()) == expected[version], version
    assert len(cache) == opened.manifest.architectures
    if not seen:
        print("ready", flush=True)
    seen.add(version)
    time.sleep(0.03)
assert {0, last} <= seen, seen
"""


def versioned(version: int) -> list[Rows]:
    return [random_rows("nb201", 40, 1000 * version + part) for part in range(30)]


@pytest.mark.thorough
def test_two_processes_read_while_a_third_replaces_the_table(tmp_path: Path, thorough: bool) -> None:
    """The third is this process. It starts once both have read the table that it replaces."""
    folder = tmp_path / "t"
    write_results(folder, about(notes="0"), versioned(0))
    last = 8 if thorough else 4
    readers = [fork_script(READER, str(folder), str(last), stdout=PIPE) for _ in range(2)]
    try:
        assert [reader.stdout and reader.stdout.readline() for reader in readers] == ["ready\n", "ready\n"]
        for version in range(1, last + 1):
            write_results(folder, about(notes=str(version)), versioned(version))
        assert [reader.wait(timeout=60) for reader in readers] == [0, 0]
    finally:
        for reader in readers:
            reader.kill()
            if reader.stdout:
                reader.stdout.close()
    write_results(folder, about(), [random_rows("nb201", 3, 0)])
    assert len(list(folder.glob("data-*"))) == 1, "what was still being read is cleaned up by the next write"


@pytest.mark.kill
def test_a_killed_writer_leaves_the_old_table_or_the_new_one(tmp_path: Path, thorough: bool) -> None:
    """Real kills at random moments. Each time the folder holds one of the two tables, whole, and what the dead writer
    left is gone after the next write."""
    folder, rng, version = tmp_path / "t", random.Random(7), 0
    write_results(folder, about(notes="0"), versioned(0))
    leftovers, outcomes = 0, set()
    for attempt in range(20 if thorough else 4):
        writer = fork_script(WRITER, str(folder), str(version + 1), "1000", stdout=PIPE)
        assert writer.stdout is not None
        writer.stdout.readline()
        first_line = writer.stdout.readline() if attempt % 2 else ""  # every other one is killed after its first table
        time.sleep(rng.uniform(0, 0.25))
        writer.send_signal(signal.SIGKILL)
        writer.wait()
        finished = [int(line) for line in (first_line + writer.stdout.read()).split()]
        writer.stdout.close()
        results = Results.open(folder)
        results.verify()
        stored_version = int(results.about.notes)
        last = finished[-1] if finished else version
        assert stored_version in (last, last + 1)
        assert rows_of(results) == plain_rows(versioned(stored_version))
        assert len(results.cache()) == results.manifest.architectures
        outcomes.add(stored_version - last)
        leftovers += len([path for path in folder.iterdir() if path.name.startswith(("data-", "."))]) - 3 > 0
        version = stored_version
    assert leftovers >= (3 if thorough else 1), "kills did hit writers at work"
    write_results(folder, about(notes="x"), [random_rows("nb201", 3, 0)])
    del results
    write_results(folder, about(notes="x"), [random_rows("nb201", 3, 0)])
    assert sorted(path.name[:5] for path in folder.iterdir()) == [".veri", "data-", "manif"]


def test_leftovers_stay_where_the_manifest_cannot_be_read(table: Path) -> None:
    """A table of a newer nasbed is not deleted by an import that then fails."""
    manifest = json.loads((table / "manifest.json").read_text())
    (table / "manifest.json").write_text(json.dumps(manifest | {"schema_version": 99}))
    files = sorted(table.rglob("*"))
    with pytest.raises(BadFile):
        write_results(table, about(), [])
    assert sorted(table.rglob("*")) == files
