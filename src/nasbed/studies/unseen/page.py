"""The page of the study of unseen datasets: tables 1 to 3 with our measurements, and figures."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from nasbed.drawing.blocks import Details, PageBlock, Paragraph, figure, paragraphs, table_block
from nasbed.drawing.figures import write_report
from nasbed.drawing.number_tables import NumberTable
from nasbed.drawing.page import Section
from nasbed.studies.unseen.figures import unseen_figures
from nasbed.studies.unseen.study import LARGE, UnseenStudy
from nasbed.studies.unseen.tables import (
    FOUND_KEY,
    KEY,
    budget_lines,
    comparison_lines,
    far_lines,
    found_lines,
    found_table,
    outcome,
    paper_lines,
    unseen_numbers,
    unseen_tables,
)

COMPARED = (
    f"Each point is a dataset and a network or method: the mean measured here over what the paper has, and how far "
    f"apart they are, with one standard deviation where there are several seeds. The band is {LARGE:g} points each way."
)
FOUND = (
    "A point is the mean of a found architecture over its trainings, with one standard deviation. Ticks are random "
    "architectures of the same space, trained alike. Each dataset has its own axis."
)
CURVES = (
    "The accuracy on the validation images after each epoch, the mean over trainings. A line that falls memorises; one "
    "that stays at the guess, dashed, learns late or keeps its averages too long. Each dataset has its own axis."
)
CURVE_TITLES = {"curves": "CNNs epoch by epoch", "nas-curves": "NAS methods epoch by epoch"}
BEST = "Filled: table 3. Rings: the best that was measured here of the same kind. The tick is a guess."


def write_unseen_report(study: UnseenStudy, folder: str | Path, *, formats: Iterable[str] = ()) -> None:
    """Write ``report.html``, ``numbers.json`` and ``figures/`` into a folder, which is created if needed."""
    charts = unseen_figures(study)
    sections = [Section("What came out", {}, blocks=_outcome_blocks(study))]
    if "published-measured" in charts:
        compared = [figure("published-measured")]
        sections.append(Section("Published against measured", {}, text=COMPARED, blocks=compared))
    for title, table in unseen_tables(study).items():
        sections.append(Section(title, {}, blocks=[table_block(table), Paragraph(KEY, "caption")]))
    curves = [name for name in CURVE_TITLES if name in charts]
    sections += [Section(CURVE_TITLES[name], {}, text=CURVES, blocks=[figure(name)]) for name in curves]
    if lines := budget_lines(study):
        sections.append(Section("Settings of the NAS methods", {}, blocks=paragraphs(lines)))
    if (table_found := found_table(study)) is not None:
        has_figure = "found-chance" in charts
        blocks = [*([figure("found-chance")] if has_figure else ()), *_found_blocks(study, table_found)]
        sections.append(
            Section("Found versus random architectures", {}, text=FOUND if has_figure else "", blocks=blocks)
        )
    sections += [
        Section("Best results", {}, text=BEST, blocks=[figure("best")]),
        Section("The paper\u2019s tables compared with each other", {}, blocks=paragraphs(paper_lines(study))),
        Section(
            "What was studied",
            {
                "published": study.paper.source,
                "measured": f"{study.sources[0]} results that come with nasbed, {study.sources[1]} of your own",
                "not shown": "; ".join(study.notes) or "nothing",
                "diverged": sum(cell.diverged for cell in study.cells.values()),
            },
        ),
    ]
    title, numbers = "Unseen datasets: published and measured", unseen_numbers(study)
    write_report(folder, title, sections=sections, figures=charts, numbers=numbers, formats=formats)


def _outcome_blocks(study: UnseenStudy) -> list[PageBlock]:
    """The outcome, with the accuracies that are far from the published ones folded away."""
    far = far_lines(study)
    folded = Details(f"More than {LARGE:g} points from the published accuracy, by model", paragraphs(far))
    return [*paragraphs(outcome(study)), *([folded] if far else ())]


def _found_blocks(study: UnseenStudy, table: NumberTable) -> tuple[PageBlock, ...]:
    """The table, its summary, and each comparison in words, folded away."""
    return (
        table_block(table),
        Paragraph(FOUND_KEY, "caption"),
        *paragraphs(found_lines(study)),
        Details("Each comparison", paragraphs(comparison_lines(study))),
    )
