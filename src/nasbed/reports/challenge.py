"""The leaderboard of a challenge: a table, and a page with a bar per submission and dataset."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import altair as alt

from nasbed.challenge.isolation import ABOUT
from nasbed.challenge.leaderboard import Leaderboard, Standing
from nasbed.challenge.results import SubmissionResult
from nasbed.challenge.scoring import WORST
from nasbed.drawing.blocks import Paragraph, figure, paragraphs, table_block
from nasbed.drawing.marks import Chart, inline
from nasbed.drawing.number_tables import NumberTable
from nasbed.drawing.number_texts import MISSING
from nasbed.drawing.page import Section, write_numbers, write_page
from nasbed.drawing.palette import COLOURS

BEST = 10.0
WIDTH, ROW = 330, 26
FORMULA = (
    "score = max(−10, (accuracy − zero) · 10 / (100 − zero)), accuracies in per cent on the test images; zero is the "
    "baseline’s accuracy, 10 is all right, a failure scores −10. The total is the sum over datasets."
)
FAILED_COLOUR = "#98a2b3"


def score_table(board: Leaderboard) -> NumberTable:
    """A row per submission, a column per dataset: the score, and the accuracy in brackets. The last row has the
    accuracy that scores 0, and its kind."""
    rows = tuple(
        (
            MISSING if standing.place is None else str(standing.place),
            standing.submission,
            *(_cell(standing.results.get(name)) for name in board.datasets),
            f"{standing.total:.3f}",
        )
        for standing in board.standings
    )
    zeros = (MISSING, "score 0", *(_zero(board.result_on(name)) for name in board.datasets), MISSING)
    return NumberTable(("place", "submission", *board.datasets, "total"), (*rows, zeros), numbers=2)


def _zero(result: SubmissionResult) -> str:
    return f"{result.benchmark:.2f} % {result.zero}"


def _cell(result: SubmissionResult | None) -> str:
    if result is None:
        return MISSING
    if result.failed or result.raw is None:
        return f"{result.score:.3f} (failed)"
    return f"{result.score:.3f} ({result.raw:.2f} %)"


def failure_table(board: Leaderboard) -> NumberTable:
    """Every failure and its reason."""
    rows = tuple((result.submission, result.dataset, result.ended, result.reason) for result in board.failures)
    return NumberTable(("submission", "dataset", "ended by", "reason"), rows, numbers=4)


def leaderboard_numbers(board: Leaderboard) -> dict[str, Any]:
    """Every number of the page."""
    return {
        "datasets": list(board.datasets),
        "notes": list(board.notes),
        "standings": [
            {
                "place": standing.place,
                "submission": standing.submission,
                "total": standing.total,
                "results": _numbers(standing),
            }
            for standing in board.standings
        ],
    }


def _numbers(standing: Standing) -> dict[str, dict[str, Any]]:
    names = (
        "raw",
        "score",
        "benchmark",
        "zero",
        "zero_source",
        "ended",
        "reason",
        "seconds",
        "peak_memory_bytes",
        "parameters",
        "isolation",
    )
    return {dataset: {name: getattr(result, name) for name in names} for dataset, result in standing.results.items()}


def score_chart(board: Leaderboard, dataset: str) -> Chart:
    """A bar per submission in the order of the leaderboard; failed ones are grey and labelled."""
    rows = [
        {
            "submission": standing.submission,
            "score": result.score,
            "label": "failed" if result.failed else f"{result.score:.2f}",
            "colour": FAILED_COLOUR if result.failed else COLOURS[0],
        }
        for standing in board.standings
        if (result := standing.results.get(dataset)) is not None
    ]
    order = [str(row["submission"]) for row in rows]
    base = alt.Chart(inline(rows)).encode(y=alt.Y("submission:N", sort=order, title=None))
    across = alt.X("score:Q", title="score").scale(domain=[WORST, BEST])
    bars = base.mark_bar(height=14).encode(x=across, color=alt.Color("colour:N").scale(None))
    labels = (
        base.mark_text(align="left", dx=4, fontSize=11)
        .encode(x=alt.X("place:Q"), text=alt.Text("label:N"))
        .transform_calculate(place="max(datum.score, 0)")
    )
    return (bars + labels).properties(width=WIDTH, height=ROW * len(rows))


def write_leaderboard(board: Leaderboard, folder: str | Path) -> None:
    """Write ``report.html`` and ``numbers.json`` into a folder, which is created if needed."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    write_numbers(folder, leaderboard_numbers(board))
    results = [result for standing in board.standings for result in standing.results.values()]
    kinds = sorted({result.isolation for result in results})
    limits = sorted({(result.limits["time_s"], result.limits["memory_bytes"] / 1024**3) for result in results})
    totals = sorted({result.total_time_s for result in results if result.total_time_s is not None})
    facts: dict[str, object] = {
        "submissions": len(board.standings),
        "datasets": ", ".join(board.datasets),
        "limits": "; ".join(f"{time:g} s and {memory:.3g} GiB a dataset" for time, memory in limits),
        **({"time for all datasets": "; ".join(f"{total:g} s" for total in totals)} if totals else {}),
        **{f"isolation: {kind}": ABOUT.get(kind, "") for kind in kinds},
    }
    sections = [
        Section("Standings", {}, text=FORMULA, blocks=[table_block(score_table(board)), *_notes(board)]),
        *(_dataset_section(board, name) for name in board.datasets),
    ]
    if board.failures:
        sections.append(Section("Failures", {}, blocks=[table_block(failure_table(board))]))
    sections.append(Section("How it was run", facts))
    charts = {name: score_chart(board, name) for name in board.datasets}
    write_page(folder / "report.html", "Leaderboard", sections, charts=charts)


def _notes(board: Leaderboard) -> tuple[Paragraph, ...]:
    return paragraphs(f"{note}." for note in board.notes)


def _dataset_section(board: Leaderboard, dataset: str) -> Section:
    results = [standing.results[dataset] for standing in board.standings if dataset in standing.results]
    best = max(results, key=lambda result: result.score)
    winner = "none finished" if best.raw is None else f"{best.submission}, {best.raw:.2f} %"
    source = f": {results[0].zero_source}" if results[0].zero_source else ""
    facts = {"score 0": f"{_zero(results[0])}{source}", "best": winner}
    return Section(dataset, facts, blocks=[figure(dataset)])
