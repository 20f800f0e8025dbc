"""The page of the study of unseen datasets: tables 1 to 3 with our measurements, and figures."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import altair as alt

from nasbed.drawing.blocks import Details, PageBlock, Paragraph, figure, paragraphs, table_block
from nasbed.drawing.figures import write_report
from nasbed.drawing.marks import Chart, inline, series
from nasbed.drawing.number_tables import NumberTable
from nasbed.drawing.page import Section
from nasbed.drawing.palette import BAND, COLOURS, FAINT
from nasbed.studies.unseen.figures import EXPLAINED, FOUND_KEY, found_chart, found_lines, found_table
from nasbed.studies.unseen.study import LARGE, UnseenStudy
from nasbed.studies.unseen.tables import (
    KEY,
    budget_lines,
    comparison_lines,
    outcome,
    paper_lines,
    unseen_numbers,
    unseen_tables,
)

SIDE, ROW = 360, 34
COMPARED = (
    f"Each point is a dataset and a network or method: the mean measured here over what the paper has, and how far "
    f"apart they are, with one standard deviation where there are several seeds. The band is {LARGE:g} points each way."
)
BEST = "Filled: table 3. Rings: the best that was measured here of the same kind. The tick is a guess."


def write_unseen_report(study: UnseenStudy, folder: Path, *, formats: Iterable[str] = ("svg", "png")) -> None:
    """Write ``report.html``, ``numbers.json`` and ``figures/`` into a folder, which is created if needed."""
    charts = unseen_figures(study)
    sections = [Section("What came out", {}, blocks=paragraphs(outcome(study)))]
    if "published-measured" in charts:
        compared = [figure("published-measured")]
        sections.append(Section("Published against measured", {}, text=COMPARED, blocks=compared))
    for title, table in unseen_tables(study).items():
        sections.append(Section(title, {}, blocks=[table_block(table), Paragraph(KEY, "caption")]))
    if lines := budget_lines(study):
        sections.append(Section("What the NAS methods were given", {}, blocks=paragraphs(lines)))
    if (table_found := found_table(study)) is not None:
        has_figure = "found-chance" in charts
        blocks = [*([figure("found-chance")] if has_figure else ()), *_found_blocks(study, table_found)]
        sections.append(
            Section("What was found against chance", {}, text=EXPLAINED if has_figure else "", blocks=blocks)
        )
    sections += [
        Section("The best of each", {}, text=BEST, blocks=[figure("best")]),
        Section("The paper\u2019s tables, held against each other", {}, blocks=paragraphs(paper_lines(study))),
        Section(
            "What was studied",
            {
                "published": study.paper.source,
                "not shown": "; ".join(study.notes) or "nothing",
                "diverged": sum(cell.diverged for cell in study.cells.values()),
            },
        ),
    ]
    title, numbers = "Unseen datasets: published and measured", unseen_numbers(study)
    write_report(folder, title, sections=sections, figures=charts, numbers=numbers, formats=formats)


def unseen_figures(study: UnseenStudy) -> dict[str, Chart]:
    """``best`` is table 3 as a figure. ``published-measured`` exists with measurements of the paper's models,
    ``found-chance`` with random architectures to compare with."""
    figures = {"best": _best(study)}
    if any(cell.published is not None for cell in study.cells.values()):
        figures["published-measured"] = _compared(study)
    if (chart := found_chart(study)) is not None:
        figures["found-chance"] = chart
    return figures


def _found_blocks(study: UnseenStudy, table: NumberTable) -> tuple[PageBlock, ...]:
    """The table, its summary, and each comparison in words, folded away."""
    return (
        table_block(table),
        Paragraph(FOUND_KEY, "caption"),
        *paragraphs(found_lines(study)),
        Details("One by one, in words", paragraphs(comparison_lines(study))),
    )


def _compared(study: UnseenStudy) -> Chart:
    """Measured over published accuracies, and their differences by dataset."""
    rows: list[dict[str, Any]] = [
        {
            "model": cell.model,
            "dataset": study.paper.datasets[cell.dataset],
            "published": cell.published,
            "mean": cell.mean,
            "difference": cell.difference,
            "low": cell.difference - (cell.std or 0.0),
            "high": cell.difference + (cell.std or 0.0),
        }
        for cell in study.cells.values()
        if cell.difference is not None
    ]
    models = list(dict.fromkeys(row["model"] for row in rows))
    colour = series(models, "model", None)
    return alt.hconcat(_scatter(rows, colour), _differences(study, rows, models, colour), spacing=32)


def _scatter(rows: list[dict[str, Any]], colour: Any) -> Chart:
    values = [row[key] for row in rows for key in ("published", "mean")]
    low, high = max(0.0, min(values) - 6), min(100.0, max(values) + 6)
    scale = alt.Scale(domain=[low, high], nice=False)

    def x(field: str) -> Any:
        return alt.X(f"{field}:Q", title="published test accuracy [%]").scale(scale)

    def y(field: str) -> Any:
        return alt.Y(f"{field}:Q", title="measured test accuracy [%]").scale(scale)

    line = alt.Chart(inline([{"x": end, "y": end, "below": end - LARGE, "above": end + LARGE} for end in (low, high)]))
    layers = [
        line.mark_area(color=BAND, clip=True).encode(x("x"), y("below"), alt.Y2("above:Q")),
        line.mark_line(color=FAINT, strokeDash=[4, 3], strokeWidth=1).encode(x("x"), y("y")),
        alt.Chart(inline(rows)).mark_point(filled=True, size=60, opacity=1).encode(x("published"), y("mean"), colour),
    ]
    return alt.layer(*layers).properties(width=SIDE - 60, height=SIDE - 60)


def _differences(study: UnseenStudy, rows: list[dict[str, Any]], models: list[str], colour: Any) -> Chart:
    order = [title for title in study.paper.datasets.values() if title in {row["dataset"] for row in rows}]
    span = max(LARGE + 1, *(abs(row[key]) for row in rows for key in ("low", "high")))

    def x(field: str) -> Any:
        title = "measured − published [points]"
        return alt.X(f"{field}:Q", title=title).scale(domain=[-span, span], nice=True)

    base = alt.Chart(inline(rows)).encode(
        alt.Y("dataset:N", title=None, sort=order), alt.YOffset("model:N", sort=models), colour
    )
    band = alt.Chart(inline([{"below": -LARGE, "above": LARGE, "zero": 0}]))
    layers = [
        band.mark_rect(color=BAND).encode(x("below"), alt.X2("above:Q")),
        band.mark_rule(color=FAINT, strokeDash=[4, 3]).encode(x("zero")),
        base.mark_rule().encode(x("low"), alt.X2("high:Q")),
        base.mark_point(filled=True, size=60, opacity=1).encode(x("difference")),
    ]
    height = max(SIDE - 60, len(order) * (14 + 12 * len(models)))
    return alt.layer(*layers).properties(width=SIDE - 60, height=height)


def _best(study: UnseenStudy) -> Chart:
    paper = study.paper
    kinds = list(paper.best_titles.values())
    published = [
        {"dataset": title, "kind": paper.best_titles[column], "accuracy": value}
        for dataset, title in paper.datasets.items()
        for column, value in paper.best[dataset].items()
    ]
    measured = [
        {"dataset": title, "kind": paper.best_titles[column], "accuracy": cell.mean}
        for dataset, title in paper.datasets.items()
        for column in ("cnn", "nas")
        if (cell := study.best(dataset, column)) is not None
    ]
    guessed = [{"dataset": title, "accuracy": paper.chance[dataset]} for dataset, title in paper.datasets.items()]
    colour = alt.Color("kind:N", title=None, sort=kinds).scale(domain=kinds, range=list(COLOURS[: len(kinds)]))
    shape = alt.Shape("kind:N", title=None, sort=kinds).scale(domain=kinds, range=["circle", "square", "triangle-up"])
    order = list(paper.datasets.values())

    def base(rows: list[dict[str, Any]]) -> Any:
        return alt.Chart(inline(rows)).encode(
            alt.Y("dataset:N", title=None, sort=order),
            alt.X("accuracy:Q", title="test accuracy [%]").scale(domain=[0, 100]),
        )

    layers = [
        base(guessed).mark_tick(color=FAINT, thickness=1.5, size=14),
        base(published).mark_point(filled=True, size=60, opacity=1).encode(colour, shape),
    ]
    if measured:
        layers.append(base(measured).mark_point(filled=False, size=130, strokeWidth=1.8).encode(colour, shape))
    return alt.layer(*layers).properties(width=SIDE + 60, height=ROW * len(order))
