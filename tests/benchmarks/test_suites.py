"""Suites as files: those that ship, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from nasbed import NasbedError, load
from nasbed.benchmarks.catalog import how_to_get
from nasbed.benchmarks.places import present_tables, surrogate_paths
from nasbed.benchmarks.published import PUBLISHED_TABLES
from nasbed.benchmarks.suites import SUITES, Suite, SuiteEntry, load_suite
from nasbed.studies.nas_bench_unseen import NAS_BENCH_UNSEEN

MINI = "nb101-mini-cifar10-16-v1.0"


def ids(name: str) -> list[str]:
    return [entry.id for entry in load_suite(name).benchmarks]


@pytest.mark.parametrize("name", SUITES.names())
def test_shipped_suite_names_benchmarks_that_exist(name: str) -> None:
    known = {*present_tables(), *surrogate_paths(), *PUBLISHED_TABLES}
    suite = load_suite(name)
    assert suite.name == name and suite.about
    assert {entry.id.partition(":")[0] for entry in suite.benchmarks} <= known
    for entry in suite.entries:
        assert entry.budget.endswith(("ev", "s")) and entry.workers == 1


def test_suite_of_surrogates_has_all_data_and_random_data_of_trees_and_graphs() -> None:
    """Section 6 of Surrogate NAS Benchmarks."""
    names = ids("surrogate")
    plain = [name for name in names if "-rand-" not in name]
    assert sorted(names) == sorted([*plain, *(name.replace("-v", "-rand-v") for name in plain)])
    assert {name.split("-")[4] for name in plain if "darts" in name} == {"lgb", "xgb", "gin"}
    other = ("nb101", "language")
    assert set(names) == {name for name in surrogate_paths() if not any(part in name for part in other)}


def test_suite_unseen_is_that_of_the_study_and_quick_is_embedded() -> None:
    assert tuple(ids("unseen")) == NAS_BENCH_UNSEEN
    for name in ("quick", "unseen", "surrogate", "multi-fidelity"):
        assert [how_to_get(entry) for entry in ids(name)] == [""] * len(ids(name))


def test_published_table_that_is_not_here_has_a_command(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("NASBED_HOME", str(tmp_path))
    assert how_to_get("nb101:mini") == how_to_get("nb101-mini") == "nasbed fetch nb101"
    assert how_to_get(MINI) == how_to_get(f"{MINI}:five-vertices") == ""


def test_fidelities_restrict_a_benchmark(tmp_path: Path) -> None:
    entry = SuiteEntry(MINI, fidelities=(2, 8))
    assert entry.benchmark == f"{MINI}:at-2,8"
    benchmark = load(entry.benchmark)
    assert benchmark.fidelities == (2, 8)
    assert benchmark.fingerprint != load(MINI).fingerprint
    with pytest.raises(NasbedError, match=r"has the fidelities \(1, 2, 4, 8\), got \(3,\)"):
        load(f"{MINI}:at-3")


FILE = """
title = "Mine"
budget = "50ev"
workers = 2
judged_by = "validation"
benchmarks = ["nb201/cifar10", {id = "tables/mine:listed", budget = "5s", workers = 1, fidelities = [1, 8]}]
"""


def test_file_is_read_with_defaults_and_paths_beside_it_and_can_be_saved(tmp_path: Path) -> None:
    (tmp_path / "tables" / "mine").mkdir(parents=True)
    (tmp_path / "mine.toml").write_text(FILE)
    suite = load_suite(str(tmp_path / "mine.toml"))
    first, second = suite.entries
    assert (first.name, first.budget, first.workers) == ("nb201-cifar10", "50ev", 2)
    assert second.id == f"{tmp_path.resolve()}/tables/mine:listed"
    assert (second.name, second.budget, second.workers) == ("mine-listed", "5s", 1)
    assert second.benchmark.endswith("mine:listed:at-1,8")
    suite.save(tmp_path / "out")
    again = load_suite(tmp_path / "out" / "suite.toml")
    assert again.entries == suite.entries and (again.title, again.judged_by) == ("Mine", "validation")


REFUSED = {
    "title = 3": "title of a suite is a text, got 3",
    "benchmarks = ['a']": "a suite has a title",
    "title = 'x'": "a suite has at least 1 benchmark",
    "title = 'x'\nbenchmarks = 'a'": "benchmarks are a list",
    "title = 'x'\nbenchmarks = [3]": "an id or a table, got 3",
    "title = 'x'\nbenchmarks = [{budget = '5s'}]": "has an id",
    "title = 'x'\nbenchmarks = [{id = 'a', fidelity = 3}]": "no field 'fidelity' there; did you mean fidelities",
    "title = 'x'\nbenchmarks = [{id = 'a', fidelities = 3}]": "a list of whole numbers, got 3",
    "title = 'x'\nbenchmarks = [{id = 'a', continue_trainings = 3}]": "true or false, got 3",
    "title = 'x'\nbenchmarks = [{id = 'a', workers = 0}]": "a whole number from 1 on, got 0",
    "title = 'x'\nbenchmarks = ['a']\nseeds = 'b'": "seeds of a suite are a whole number",
    "title = 'x'\nbenchmarks = ['a']\njudged_by = 'b'": "judged by test or validation, got 'b'",
    "title = 'x'\nbenchmarks = ['a/b', 'a:b']": "2 benchmarks of a suite are called a-b",
    "title = 'x'\nbenchmarks = [{id = 'a', name = '..'}]": "a benchmark cannot be called '..'; give it another name",
    "title = 'x'\nbenchmarks = [{id = 'a', name = 'suite.toml'}]": "a benchmark cannot be called 'suite.toml'",
    "title = 'x'\nbenchmarks = [{id = 'a', name = 'Table.csv'}]": "a benchmark cannot be called 'Table.csv'",
    'title = "x"\nbenchmarks = ["a\\u0000b"]': "the id of a benchmark is printable, got",
    "title = ": "cannot be read as the TOML file of a suite",
}


@pytest.mark.parametrize("text", REFUSED)
def test_wrong_file_is_refused_in_one_line(text: str, tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(text)
    with pytest.raises(NasbedError) as refusal:
        load_suite(path)
    assert REFUSED[text] in str(refusal.value) and "\n" not in str(refusal.value)
    assert str(refusal.value).startswith(str(path))


def test_suite_from_python_is_checked_too() -> None:
    with pytest.raises(NasbedError, match="at least 1 benchmark"):
        Suite("x", ())
    with pytest.raises(NasbedError, match=r"are like SuiteEntry\('nb201/cifar10'\), got 'nb201/cifar10'"):
        Suite("x", ("nb201/cifar10",))  # type: ignore[arg-type]
    with pytest.raises(NasbedError, match="a suite is an id, a TOML file or a Suite, got 3"):
        load_suite(3)  # type: ignore[arg-type]
    with pytest.raises(NasbedError, match="no suite is called 'quik'; did you mean quick"):
        load_suite("quik")
