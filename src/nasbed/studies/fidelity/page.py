"""The page of the study of fidelities: a table, a figure of the frontier, and which training it picks."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import altair as alt
import numpy as np

from nasbed.core.json_values import plain
from nasbed.drawing.blocks import TableBlock, TableCell, figure
from nasbed.drawing.figures import write_report
from nasbed.drawing.marks import Chart, inline, level_line
from nasbed.drawing.number_tables import NumberTable
from nasbed.drawing.page import Section
from nasbed.drawing.palette import COLOURS, FAINT, INK
from nasbed.studies.fidelity.study import Agreement, FidelityStudy

WIDTH, HEIGHT = 620, 320
TEXT = (
    "The rank correlation of each training with the reference, over the architectures that both have; in brackets, "
    "95 % intervals over resampled architectures. Without noise: divided by the root of the product of how far two "
    "seeds agree on both sides, where both have repeats. Costs are mean recorded times; compare those of one machine "
    "alone."
)


def fidelity_table(study: FidelityStudy) -> NumberTable:
    """A row for each training, the cheapest first."""
    rows = tuple(_row(study, agreement) for agreement in study.agreements)
    top = f"top {study.top_percent:g} %"
    columns = ("training", "architectures", "seconds", "Spearman", "without noise", top, "parameters")
    return NumberTable(columns, rows)


def fidelity_outcome(study: FidelityStudy) -> str:
    """Which training is the cheapest that ranks like the reference."""
    chosen = study.chosen
    if chosen is None:
        best = max(study.agreements, key=lambda agreement: agreement.best_estimate)
        return (
            f"No training agrees with {study.reference} by {study.at_least:g} and better than counting parameters; "
            f"{best.training} agrees most, by {best.best_estimate:.2f}."
        )
    kind = "" if np.isnan(chosen.corrected) else " without noise"
    share = (
        f" It takes {chosen.cost_s / study.reference_cost_s:.2g} of the reference's time."
        if chosen.cost_s > 0 and study.reference_cost_s > 0
        else ""
    )
    parameters = "" if np.isnan(chosen.parameters) else f", where counting parameters agrees by {chosen.parameters:.2f}"
    return (
        f"{chosen.training} is the cheapest that ranks like {study.reference}: {chosen.best_estimate:.2f}{kind}"
        f"{parameters}.{share}"
    )


def fidelity_numbers(study: FidelityStudy) -> dict[str, Any]:
    """Everything, for ``numbers.json``."""
    chosen = study.chosen
    numbers: dict[str, Any] = plain(
        {
            "reference": study.reference,
            "reference_cost_s": study.reference_cost_s,
            "reference_reliability": study.reference_reliability,
            "metric": study.metric.key,
            "at_least": study.at_least,
            "top_percent": study.top_percent,
            "chosen": None if chosen is None else chosen.training,
            "frontier": [agreement.training for agreement in study.frontier],
            "trainings": [
                {
                    "training": agreement.training,
                    "architectures": agreement.architectures,
                    "cost_s": agreement.cost_s,
                    "spearman": agreement.spearman.estimate,
                    "spearman_low": agreement.spearman.low,
                    "spearman_high": agreement.spearman.high,
                    "spearman_without_noise": agreement.corrected,
                    "spearman_in_the_top": agreement.top,
                    "seed_reliability": agreement.reliability,
                    "spearman_of_parameters": agreement.parameters,
                }
                for agreement in study.agreements
            ],
        }
    )
    return numbers


def write_fidelity_report(study: FidelityStudy, folder: str | Path, *, formats: Iterable[str] = ()) -> None:
    """Write ``report.html``, ``numbers.json`` and ``figures/`` into a folder, which is created if need be."""
    figures = {}
    if len(study.frontier) > 0:
        figures["frontier"] = frontier_figure(study)
    table = fidelity_table(study)
    cells = tuple(
        tuple(TableCell(text, "number" if place else "") for place, text in enumerate(row)) for row in table.rows
    )
    block = TableBlock(tuple(TableCell(text) for text in table.columns), cells, "plain")
    facts = {"reference": study.reference, "metric": study.metric.key}
    if not np.isnan(study.reference_reliability):
        facts["one seed of the reference with another"] = f"{study.reference_reliability:.2f}"
    sections = [
        Section(
            "Which training ranks like the reference?",
            facts,
            text=f"{fidelity_outcome(study)} {TEXT}",
            blocks=[*map(figure, figures), block],
        )
    ]
    title = "Cheap trainings against a reference"
    write_report(folder, title, sections=sections, figures=figures, numbers=fidelity_numbers(study), formats=formats)


def frontier_figure(study: FidelityStudy) -> Chart:
    """Correlation by cost: intervals, the frontier as a line, counting parameters as a level."""
    frontier = {agreement.training for agreement in study.frontier}
    tables = {agreement.training.partition(", ")[0] for agreement in study.agreements}
    rows = [
        {
            "training": agreement.training.partition(", ")[2] if len(tables) == 1 else agreement.training,
            "cost": agreement.cost_s,
            "spearman": agreement.spearman.estimate,
            "low": agreement.spearman.low,
            "high": agreement.spearman.high,
            "best": agreement.best_estimate,
            "frontier": agreement.training in frontier,
        }
        for agreement in study.agreements
        if agreement.cost_s > 0
    ]
    base = alt.Chart(inline(rows)).encode(
        alt.X("cost:Q", title="mean time of a training [s]").scale(type="log", nice=False, padding=90)
    )
    y = alt.Scale(zero=False, padding=14)
    title = "Spearman with the reference"
    layers = [
        base.transform_filter("datum.frontier")
        .mark_line(color=COLOURS[1])
        .encode(alt.Y("best:Q", title=title).scale(y)),
        base.mark_rule(color=FAINT).encode(alt.Y("low:Q", title=title), alt.Y2("high:Q")),
        base.mark_circle(size=70, color=COLOURS[0], opacity=1).encode(alt.Y("spearman:Q", title=title)),
        base.transform_filter("datum.best !== datum.spearman")
        .mark_point(size=70, color=COLOURS[1], opacity=1)
        .encode(alt.Y("best:Q", title=title)),
        base.mark_text(dy=-13, fontSize=11, color=INK).encode(alt.Y("best:Q", title=title), alt.Text("training:N")),
    ]
    parameters = {round(agreement.parameters, 12) for agreement in study.agreements} - {float("nan")}
    layers += [level_line(height) for height in parameters if not np.isnan(height)]
    return alt.layer(*layers).properties(
        width=WIDTH, height=HEIGHT, title="filled: as measured; open: without noise; level: counting parameters"
    )


def _row(study: FidelityStudy, agreement: Agreement) -> tuple[str, ...]:
    spread = agreement.spearman
    return (
        agreement.training,
        str(agreement.architectures),
        _text(agreement.cost_s, ".3g"),
        f"{spread.estimate:.2f} [{spread.low:.2f}–{spread.high:.2f}]",
        _text(agreement.corrected, ".2f"),
        f"{agreement.top:.2f}",
        _text(agreement.parameters, ".2f"),
    )


def _text(value: float, form: str) -> str:
    return "–" if np.isnan(value) else f"{value:{form}}"
