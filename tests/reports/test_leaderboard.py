"""The leaderboard: places, ties, failures, and what the reader learns."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from nasbed.challenge.leaderboard import leaderboard
from nasbed.challenge.limits import Limits
from nasbed.challenge.results import SubmissionResult, read_results, write_result
from nasbed.challenge.scoring import score_of
from nasbed.core.errors import BadFile, InvalidOption
from nasbed.reports.challenge import failure_table, score_table, write_leaderboard
from support.pages import check_page

BENCHMARKS = {"addnist": 92.08, "language": 85.0}


def result(submission: str, dataset: str, raw: float | None, **changed: object) -> SubmissionResult:
    finished = SubmissionResult(
        submission=submission,
        dataset=dataset,
        ended="crash" if raw is None else "finished",
        reason="ValueError: <b>no</b>, at NAS" if raw is None else "",
        raw=raw,
        score=-10.0 if raw is None else score_of(raw, BENCHMARKS[dataset]),
        benchmark=BENCHMARKS[dataset],
        seconds=1.5,
        peak_memory_bytes=10**8,
        parameters=1000,
        isolation="namespaces",
        isolation_notes=[],
        limits=Limits().as_dict(),
        seed=0,
        device="cpu",
        submission_sha256="a",
        labels_sha256=dataset,
        versions={},
        date="2024-06-17T12:00:00+00:00",
    )
    return replace(finished, **changed)  # type: ignore[arg-type]


def results() -> list[SubmissionResult]:
    return [
        result("late", "addnist", 92.08),
        result("late", "language", 85.0),
        result("best", "addnist", 96.04),  # half of the way from the benchmark to all right
        result("best", "language", 100.0),
        result("also-late", "addnist", 92.08),
        result("also-late", "language", 85.0),
        result("broken", "addnist", None),
        result("broken", "language", 92.5),
        result("partial", "language", 100.0),
    ]


def test_leaderboard_places_ties_and_those_that_were_not_run_on_all() -> None:
    board = leaderboard(results())
    assert [(standing.submission, standing.place) for standing in board.standings] == [
        ("best", 1),
        ("also-late", 2),
        ("late", 2),
        ("broken", 4),
        ("partial", None),
    ]
    assert [standing.total for standing in board.standings] == pytest.approx([15, 0, 0, -5, 10])
    assert any("partial was not run on every dataset" in note for note in board.notes)
    assert [result.submission for result in board.failures] == ["broken"]


def test_leaderboard_table_tells_scores_accuracies_and_failures() -> None:
    lines = score_table(leaderboard(results())).text().splitlines()
    assert lines[1].split() == ["1", "best", "5.000", "(96.04", "%)", "10.000", "(100.00", "%)", "15.000"]
    assert "-10.000 (failed)" in lines[4] and lines[5].split()[2] == "–"
    assert lines[6].split() == ["–", "score", "0", "92.08", "%", "paper", "85.00", "%", "paper", "–"]
    assert "no</b>, at NAS" in failure_table(leaderboard(results())).text()


def test_leaderboard_page_shows_a_bar_for_each_and_escapes_what_strangers_wrote(tmp_path: Path) -> None:
    write_leaderboard(leaderboard(results()), tmp_path / "page")
    html = (tmp_path / "page" / "report.html").read_text()
    assert (
        len(check_page(tmp_path / "page" / "report.html").charts) == 2
        and "<b>no</b>" not in html
        and "&lt;b&gt;no" in html
    )
    numbers = json.loads((tmp_path / "page" / "numbers.json").read_text())
    assert numbers["standings"][0]["results"]["addnist"]["score"] == pytest.approx(5)


def test_leaderboard_notes_what_makes_runs_unlike() -> None:
    unlike = [result("a", "addnist", 95.0), result("b", "addnist", 96.0, isolation="none", limits=Limits(60).as_dict())]
    notes = " ".join(leaderboard(unlike).notes)
    assert "same limits" in notes and "could have read the test labels" in notes
    with pytest.raises(InvalidOption, match="one set of labels"):
        leaderboard([result("a", "addnist", 95.0), result("b", "addnist", 96.0, labels_sha256="other")])


def test_results_are_read_back_as_written_and_none_twice(tmp_path: Path) -> None:
    for entry in results():
        write_result(tmp_path / "runs" / entry.submission / entry.dataset, entry, b"log", None)
    assert sorted(read_results([tmp_path / "runs"]), key=str) == sorted(results(), key=str)
    with pytest.raises(InvalidOption, match="runs once on a dataset"):
        read_results([tmp_path / "runs", tmp_path / "runs"])
    path = tmp_path / "runs" / "best" / "addnist" / "result.json"
    text = path.read_text()
    for spoilt in (text[:50], "[]", text.replace('"score": ', '"score": "x'), text.replace('"seed"', '"seeds"')):
        path.write_text(spoilt)
        with pytest.raises(BadFile, match="not a result of a challenge"):
            read_results([tmp_path / "runs"])
