"""The page of a leaderboard: who stands where on each suite, and links to the page of each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from nasbed.drawing.blocks import Figure, FigureGroup, PageBlock, PageLinks, Paragraph, table_block
from nasbed.drawing.figures import FIGURES_FOLDER, save_figures
from nasbed.drawing.number_tables import NumberTable
from nasbed.drawing.number_texts import MISSING, listed, short
from nasbed.drawing.page import Section, write_numbers, write_page
from nasbed.evaluation.suite.suite_summary import SuiteSummary
from nasbed.experiments.suites import SuiteRuns
from nasbed.leaderboard.joining import REFERENCE
from nasbed.leaderboard.run_file import RunFile
from nasbed.reports.leaderboard.figures import leaderboard_figure, leaderboard_panel
from nasbed.reports.suite.page import write_suite_report
from nasbed.reports.suite.words import NORMALISED, lead, suite_verdict

TITLE = "Leaderboard"
ABOUT = (
    "Methods by mean rank over the benchmarks of each suite, the best first. A point is the mean normalised regret, a "
    f"line its 95 % interval over seeds. {NORMALISED}. A hollow point is of fewer seeds than the others. Blue are "
    "the reference runs that come with nasbed, the other colour marks submissions."
)
PLACES = (
    "The place on each suite, and in brackets the mean normalised regret; a dash where there are no runs. Rows are "
    "ordered by the mean of the places. Suites share benchmarks, so no test is made over suites."
)


def write_leaderboard(
    out: Path,
    suites: Mapping[str, SuiteRuns],
    files: Mapping[str, Iterable[RunFile]],
    *,
    formats: Iterable[str] = (),
) -> dict[str, SuiteSummary]:
    """Write the page over suites, and the page of each suite into a folder of its name.

    Args:
        out: the folder, with ``report.html`` and ``numbers.json``.
        suites: the runs of reference methods and submissions, by suite.
        files: the files that they come from, by suite.
        formats: of figure files under ``figures/``: svg, png, pdf; none by default.

    Returns the summary of each suite.
    """
    formats = tuple(formats)
    summaries = {
        name: write_suite_report(out / name, runs, rng=np.random.default_rng(0), formats=formats)
        for name, runs in suites.items()
    }
    if formats:
        save_figures({"leaderboard": leaderboard_figure(summaries, REFERENCE)}, out / FIGURES_FOLDER, formats)
    charts = {f"suite-{name}": leaderboard_panel(summary, REFERENCE) for name, summary in summaries.items()}
    panels = tuple(
        Figure(f"suite-{name}", name, caption=summary.title, label=f"normalised regret on {name}")
        for name, summary in summaries.items()
    )
    overview: list[PageBlock] = [
        FigureGroup(panels, "cards"),
        PageLinks({f"{name}: curves, tests, each benchmark": f"{name}/report.html" for name in summaries}),
        table_block(places_table(summaries)),
        Paragraph(PLACES, "caption"),
    ]
    sections = [Section("All suites", {}, text=ABOUT, blocks=overview)]
    sections += [
        Section(name, _facts(files[name]), text=f"{lead(summary)} {suite_verdict(summary)}")
        for name, summary in summaries.items()
    ]
    write_numbers(out, {"suites": {name: _numbers(summary) for name, summary in summaries.items()}})
    write_page(out / "report.html", TITLE, sections, charts=charts)
    return summaries


def places_table(summaries: Mapping[str, SuiteSummary]) -> NumberTable:
    """A row per method of one author: its place on each suite, and its mean normalised regret there."""
    places: dict[tuple[str, str], dict[str, int]] = {}
    for name, summary in summaries.items():
        for place, method in enumerate(summary.standings(), start=1):
            places.setdefault((method, summary.sources.get(method, "")), {})[name] = place
    order = sorted(places, key=lambda row: float(np.mean(list(places[row].values()))))
    rows = []
    for method, source in order:
        own = places[method, source]
        cells = [
            f"{own[name]} ({short(summary.final_regret(method).estimate)})" if name in own else MISSING
            for name, summary in summaries.items()
        ]
        rows.append((method, *cells, source))
    return NumberTable(("method", *summaries, "runs"), tuple(rows))


def _facts(files: Iterable[RunFile]) -> dict[str, object]:
    facts: dict[str, object] = {}
    for file in files:
        runs = [run for part in file.runs.values() for run in part]
        versions = ", ".join(f"{name} {version}" for name, version in file.versions.items())
        earlier = f"{facts[file.label]}. " if file.label in facts else ""
        methods = listed([method.name for method in file.methods])
        facts[file.label] = f"{earlier}{len(runs)} runs of {methods}; {versions}"
        for method, reason in file.not_run.items():
            facts[f"{method}, not run"] = reason
    return facts


def _numbers(summary: SuiteSummary) -> dict[str, Any]:
    return {
        "benchmarks": [item.name for item in summary.benchmarks],
        "missing_benchmarks": dict(summary.missing),
        "methods": [
            {
                "method": method,
                "place": place,
                "source": summary.sources.get(method, ""),
                "mean_rank": float(summary.mean_ranks[summary.methods.index(method)]),
                "normalised_regret": summary.final_regret(method).estimate,
            }
            for place, method in enumerate(summary.standings(), start=1)
        ],
    }
