"""Without a terminal, as in the log of a cluster, long work prints a line from time to time."""

from __future__ import annotations

import pytest

from nasbed.terminal import progress
from nasbed.terminal.progress import OccasionalNotes, count_bar, epoch_bar, run_bars, trainings_bar


def report_all() -> None:
    with epoch_bar(64) as report_epoch:
        report_epoch(3, "loss 0.512")
    with trainings_bar(["AddNIST", "Language"], 64) as bar:
        bar.report(1, 5, "loss 0.25")
    with count_bar("Scoring networks") as report_count:
        report_count(7, 20)
    with run_bars({"rs": 3}) as report_finished:
        report_finished("rs")


def test_lines_name_what_is_done_of_how_much(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(progress, "LINE_S", -1.0)
    report_all()
    assert capsys.readouterr().err.splitlines() == [
        "nasbed: epoch 3 of 64: loss 0.512",
        "nasbed: Language, epoch 5 of 64: loss 0.25",
        "nasbed: Scoring networks: 7 of 20",
        "nasbed: rs: 1 of 3",
    ]


def test_short_work_prints_no_line_but_its_end(capsys: pytest.CaptureFixture[str]) -> None:
    report_all()
    assert capsys.readouterr().err == ""
    with run_bars({"rs": 1}) as report_finished:
        report_finished("rs")
    assert capsys.readouterr().err == "nasbed: rs: 1 of 1\n"


def test_a_process_beside_others_prints_its_first_line_and_then_one_from_time_to_time(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    notes = OccasionalNotes()
    for second in (0.0, 29.0, 31.0, 60.0, 62.0):
        monkeypatch.setattr(progress, "monotonic", lambda now=second: now)
        notes(f"second {second:.0f}")
    assert capsys.readouterr().err.splitlines() == ["nasbed: second 0", "nasbed: second 31", "nasbed: second 62"]
