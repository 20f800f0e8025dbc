"""Runs of files stand beside runs that were made here, if they are of the same benchmarks."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import nasbed
from nasbed.benchmarks.suites import load_suite
from nasbed.core.errors import InvalidOption
from nasbed.core.home import embedded_home
from nasbed.evaluation.suite import summarise_suite
from nasbed.experiments.suites import SuiteRuns
from nasbed.leaderboard.joining import files_for, join, reference_suites, suite_runs
from nasbed.leaderboard.making import shipped_methods
from nasbed.leaderboard.packing import pack
from nasbed.leaderboard.run_file import RunFile, save_run_file
from nasbed.reports.leaderboard import write_leaderboard
from nasbed.reports.leaderboard.page import places_table
from support.pages import check_page
from support.suite_runs import NAMES, SMALL, runs_of_methods

SHIPPED = ("multi-fidelity", "quick", "unseen")


@pytest.fixture(scope="module")
def together(small_suite: Path) -> SuiteRuns:
    return runs_of_methods(small_suite / "runs", ["rs", "ls"])


@pytest.fixture(scope="module")
def reference(small_suite: Path) -> RunFile:
    file = pack(small_suite / "runs", label="reference", methods=["rs", "ls"])
    save_run_file(small_suite / "reference.nbr", file)
    return file


def test_method_beside_reference_runs_has_the_page_of_runs_made_together(
    together: SuiteRuns, reference: RunFile, small_suite: Path
) -> None:
    alone = nasbed.suite(SMALL, "ls", against=small_suite / "reference.nbr", progress=False)
    assert alone.sources == {"rs": "reference"}, "what was run here is not taken from the file"
    assert [run.method for run in alone.benchmarks[0].runs.runs if run.condensed is None] == ["ls"] * 3
    beside, expected = (summarise_suite(runs, np.random.default_rng(0), resamples=20) for runs in (alone, together))
    for method in ("rs", "ls"):
        assert beside.final_regret(method).estimate == pytest.approx(expected.final_regret(method).estimate, rel=1e-12)
    assert beside.record("ls", "rs") == expected.record("ls", "rs")


def test_other_bytes_budgets_and_workers_are_refused_before_any_run(reference: RunFile, tmp_path: Path) -> None:
    def against(file: RunFile) -> list[RunFile]:
        save_run_file(tmp_path / "other.nbr", file)
        return files_for(SMALL, [tmp_path / "other.nbr"])

    assert against(reference)[0].suite == "small"
    first, second = reference.benchmarks
    cases = {
        f"other bytes of {NAMES[1]}: its fingerprint is 000000000000": replace(second, sha256="0" * 64),
        f"one budget, .*other.nbr has 30ev on {NAMES[1]}, the suite 25ev": replace(second, budget="30ev"),
        f"one number of workers, .*other.nbr has 4 on {NAMES[1]}, the suite 1": replace(second, workers=4),
    }
    for line, record in cases.items():
        with pytest.raises(InvalidOption, match=line):
            against(replace(reference, benchmarks=[first, record]))
    with pytest.raises(InvalidOption, match="judged by validation results"):
        against(replace(reference, judged_by="validation"))
    with pytest.raises(InvalidOption, match=f"no runs on {NAMES[1]}; leave it out"):
        against(replace(reference, benchmarks=[first], runs={NAMES[0]: reference.runs[NAMES[0]]}))
    with pytest.raises(InvalidOption, match=r"no reference runs of 'small'; with the package come those of .*quick"):
        files_for(SMALL, ["reference"])


def test_benchmark_that_a_file_leaves_out_is_named_as_missing(together: SuiteRuns, reference: RunFile) -> None:
    part = replace(
        reference,
        benchmarks=reference.benchmarks[:1],
        runs={NAMES[0]: reference.runs[NAMES[0]]},
        left_out={NAMES[1]: "slow"},
    )
    own = replace(
        together,
        benchmarks=[replace(item, runs=replace(item.runs, runs=item.runs.of("ls"))) for item in together.benchmarks],
    )
    joined = join(own, [part])
    assert ([item.name for item in joined.benchmarks], joined.missing) == ([NAMES[0]], {NAMES[1]: "reference: slow"})
    assert joined.benchmarks[0].runs.methods == ["ls", "rs"]


def test_submissions_that_are_called_alike_are_told_apart(
    reference: RunFile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = [reference, replace(reference, label="A. & B. <i>")]
    runs = suite_runs(files)
    assert list(runs.sources) == ["rs", "ls", "rs (A. & B. <i>)", "ls (A. & B. <i>)"]
    with pytest.raises(InvalidOption, match="two files have runs of rs"):
        suite_runs([*files, files[1]])
    monkeypatch.setattr("nasbed.reports.suite.page.suite_charts", lambda *_, **__: {})
    monkeypatch.setattr("nasbed.reports.suite.page.write_page", lambda path, *_, **__: path.touch())
    summaries = write_leaderboard(tmp_path, {"small": runs}, {"small": files})
    reader = check_page(tmp_path / "report.html")
    assert set(reader.charts) == {"figure-suite-small"}
    for fact in (*summaries["small"].standings(), "12 runs of rs and ls", "4 methods on 2 benchmarks, 3 seeds each."):
        assert fact in reader.text


def test_methods_of_two_authors_on_two_suites_have_two_rows(small_suite: Path) -> None:
    """Both are called mine; a row that has both would be of nobody."""
    summaries = {
        name: summarise_suite(
            suite_runs([pack(small_suite / "runs", label=label, methods=["mine"])]),
            np.random.default_rng(0),
            resamples=2,
        )
        for name, label in (("first", "A"), ("second", "B"))
    }
    rows = places_table(summaries).rows
    assert [(row[0], row[-1]) for row in rows] == [("mine", "A"), ("mine", "B")]
    assert [[cell == "–" for cell in row[1:3]] for row in rows] == [[False, True], [True, False]]


def test_method_of_another_that_is_called_like_ones_own_stays(small_suite: Path) -> None:
    own, submission = runs_of_methods(small_suite / "runs", ["mine", "rs"]), pack(small_suite / "runs", label="B")
    joined = join(own, [submission, pack(small_suite / "runs", label="reference", methods=["rs", "ls"])])
    expected = {"mine (B)": "B", "hidden": "B", "ls": "reference"}
    assert joined.sources == expected and set(joined.benchmarks[0].runs.methods) == {"mine", "rs", *expected}
    mine = submission.method("mine")
    taken = replace(submission, methods=[mine, replace(mine, name="mine (B)")])
    with pytest.raises(InvalidOption, match=r"two files have runs of mine \(B\)"):
        join(own, [taken])


def test_reference_runs_of_the_package_are_of_its_benchmarks_and_methods() -> None:
    """Fingerprints, budgets and every architecture are checked when a suite asks for them."""
    assert set(SHIPPED) <= set(reference_suites())
    for name in reference_suites():
        (file,) = files_for(load_suite(name), ["reference"])
        assert {method.name for method in file.methods} | set(file.not_run) == set(shipped_methods())
        for record in file.benchmarks:
            seeds = {
                method.name: {run.seed for run in file.runs[record.name] if run.method == method.name}
                for method in file.methods
            }
            assert all(own == set(range(len(own))) and own for own in seeds.values()), name
            assert not any(run.error for run in file.runs[record.name]), name
    assert sum(path.stat().st_size for path in (embedded_home() / "reference").iterdir()) < 1.5e6
