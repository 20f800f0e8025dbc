"""The page of a suite, and the files beside it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np

from nasbed.drawing.blocks import (
    Details,
    Figure,
    FigureGroup,
    Legend,
    PageBlock,
    Paragraph,
    SubSection,
    figure,
    table_block,
)
from nasbed.drawing.figures import save_figures
from nasbed.drawing.marks import Chart
from nasbed.drawing.number_texts import count_text, short
from nasbed.drawing.page import Section, write_numbers, write_page
from nasbed.drawing.palette import LineStyle, looks
from nasbed.evaluation.suite.suite_summary import SuiteSummary, summarise_suite
from nasbed.evaluation.trajectories import Centre
from nasbed.experiments.suites import SuiteRuns
from nasbed.reports.comparison.standings import regret_meaning
from nasbed.reports.suite import words
from nasbed.reports.suite.figures import suite_charts
from nasbed.reports.suite.tables import (
    left_out_table,
    posterior_table,
    regrets_block,
    suite_standings,
    wins_table,
    write_tables,
)

CAPTION = (
    f"{words.NORMALISED}; the mean is over benchmarks, each with the same weight. Mean rank: methods ranked once a "
    "benchmark by mean final regret. Rank over seeds: ranked within each seed of each benchmark. Intervals are 95 % "
    "intervals of the stratified bootstrap over seeds. First on: benchmarks with the smallest mean final regret. "
    "Wins, ties and losses: against every other method on every benchmark, by Wilcoxon's signed-rank test by seed "
    "with Holm's correction."
)


def write_suite_report(
    out: str | Path,
    suite: SuiteRuns,
    *,
    rng: np.random.Generator,
    formats: Iterable[str] = (),
    centre: Centre = "median",
) -> SuiteSummary:
    """Write ``report.html``, ``numbers.json``, ``table.csv`` and ``table.tex`` into a folder.

    Args:
        out: the folder.
        suite: the runs and the benchmarks that judge them.
        rng: draws bootstrap samples and posteriors.
        formats: of figure files under ``figures/``: svg, png, pdf; none by default.
        centre: what the curves of each benchmark show of all seeds.

    Returns the summary behind the page.
    """
    out = Path(out)
    summary = summarise_suite(suite, rng)
    styles = looks(summary.methods)
    formats = tuple(formats)
    if formats:
        save_figures(suite_charts(summary, styles, on_page=False, centre=centre), out / "figures", formats)
    charts = suite_charts(summary, styles, on_page=True, centre=centre)
    write_numbers(out, summary.numbers())
    write_tables(out, summary)
    sections = [
        _standings_section(summary, styles),
        _curves_section(summary, styles, charts, centre),
        *([_tests_section(summary)] if len(summary.methods) > 1 else []),
        _regrets_section(summary),
        Section("What was run", _facts(suite, summary)),
    ]
    write_page(out / "report.html", summary.title, sections, charts=charts)
    return summary


def _standings_section(summary: SuiteSummary, styles: Mapping[str, LineStyle]) -> Section:
    remarks = words.remarks_of(summary)
    blocks: list[PageBlock] = [suite_standings(summary, styles), Paragraph(CAPTION, "caption")]
    if remarks:
        heading = f"{count_text(len(remarks), 'remark')} on these numbers"
        blocks.append(Details(heading, tuple(Paragraph(remark, "note") for remark in remarks)))
    text = f"{words.lead(summary)} {words.suite_verdict(summary)}"
    return Section("Who wins", {}, text=text, blocks=blocks)


def _curves_section(
    summary: SuiteSummary, styles: Mapping[str, LineStyle], charts: Mapping[str, Chart], centre: Centre
) -> Section:
    """All curves under one legend, which stays visible."""
    titles = {"regret": "Mean normalised regret", "ranks": "Mean rank"}
    curves = tuple(
        Figure(name, title, label=f"{title} over the budget") for name, title in titles.items() if name in charts
    )
    panels = tuple(
        Figure(f"benchmark-{i}", item.name, label=f"regret on {item.name}") for i, item in enumerate(summary.benchmarks)
    )
    blocks: list[PageBlock] = [Legend({method: styles[method] for method in summary.standings()})]
    if curves:
        blocks.append(FigureGroup(curves, "cards"))
    if "ranks" in charts:
        blocks.append(Paragraph(words.RANKS, "caption"))
    blocks.append(SubSection("Each benchmark", words.MULTIPLES[centre], (FigureGroup(panels, "cards"),)))
    return Section("Over the budget", {}, text=words.CURVES, blocks=blocks)


def _tests_section(summary: SuiteSummary) -> Section:
    blocks: list[PageBlock] = [
        figure("critical-difference"),
        SubSection("Wins, ties and losses", words.WINS, (wins_table(summary),)),
        SubSection("How probable is it that a method is better?", words.POSTERIOR, (posterior_table(summary),)),
    ]
    if len(summary.benchmarks) > 1:
        table = table_block(left_out_table(summary))
        blocks.append(SubSection("Does the order hang on one benchmark?", words.LEFT_OUT, (table,)))
    return Section("How firm the order is", {}, text=words.difference_text(summary), blocks=blocks)


def _regrets_section(summary: SuiteSummary) -> Section:
    text = (
        "The mean final regret on each benchmark, in its unit. Marked: the best of a row, and methods that do not "
        "differ significantly from it. The same table is in table.tex; table.csv has every number of it, with "
        "intervals."
    )
    return Section("Regret by benchmark", {}, text=text, blocks=[regrets_block(summary)])


def _facts(suite: SuiteRuns, summary: SuiteSummary) -> dict[str, object]:
    facts: dict[str, object] = {
        "judged by": "the mean test metric where a benchmark has one, else the mean of its objective"
        if summary.judged_by == "test"
        else "the validation values that the methods saw",
    }
    for part, item in zip(suite.benchmarks, summary.benchmarks, strict=True):
        setup = part.runs.setup
        workers = f", {setup.workers} workers" if setup.workers > 1 else ""
        continued = ", trainings continued" if setup.continue_trainings else ""
        scale = f"a random architecture has {short(item.scale)} {item.summary.unit}".rstrip()
        run = f"{setup.budget} a run{workers}{continued}"
        facts[item.name] = f"{setup.benchmark}, space {setup.space}, {run}; {regret_meaning(item.summary)}; {scale}."
    setups = [part.runs.setup for part in suite.benchmarks]
    for method in summary.methods:
        settings = {str(setup.settings.get(method, {})): setup.settings.get(method, {}) for setup in setups}
        for values in settings.values():
            if values:
                facts[f"settings of {method}"] = ", ".join(f"{name} = {value!r}" for name, value in values.items())
    versions = dict.fromkeys(
        ", ".join(f"{name} {version}" for name, version in setup.versions.items()) for setup in setups
    )
    facts["versions"] = "; ".join(versions) or "unknown"
    commands = dict.fromkeys(line for setup in setups for line in setup.command.splitlines())
    for number, command in enumerate(commands, start=1):
        facts["command" if len(commands) == 1 else f"command {number}"] = command
    return facts
