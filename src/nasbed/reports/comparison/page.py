"""The page of a comparison: the standings and their significance, curves over time, the best architecture, the runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np

from nasbed.benchmarks.base import Benchmark
from nasbed.drawing.blocks import (
    ColourScale,
    Figure,
    FigureGroup,
    Legend,
    PageBlock,
    Paragraph,
    Picture,
    SideBySide,
    SubSection,
    figure,
)
from nasbed.drawing.cells import cell_svg, save_cells
from nasbed.drawing.figures import FIGURES_FOLDER, metric_label, save_figures
from nasbed.drawing.marks import Chart
from nasbed.drawing.page import Section, write_numbers, write_page
from nasbed.drawing.palette import LineStyle, looks
from nasbed.evaluation.summary import ComparisonSummary
from nasbed.evaluation.trajectories import Centre
from nasbed.experiments.runs import Runs
from nasbed.reports.comparison.data import Comparison, comparison
from nasbed.reports.comparison.figures import (
    CENTRE_NAMES,
    RANK_NAMES,
    curves_figure,
    ecdf_figure,
    plane_figure,
    plane_panel,
)
from nasbed.reports.comparison.standings import best_is, caption, marked, regret_label, regret_meaning, verdict
from nasbed.reports.comparison.tables import failures_table, hypervolume_table, pairs_table, standings_table
from nasbed.spaces.base import SearchSpace

TIME, EVALUATIONS = "simulated time [s]", "evaluations"
TEXTS = {
    "anytime": "A curve begins when all runs of a method have "
    "found something; a regret of zero is drawn at the lower edge. Point at a curve to read it; the buttons show "
    "and hide methods in all figures.",
    "ecdf": "The fraction of runs that ended with at most a regret: the further to the upper left, the better. "
    "A regret of zero is drawn at the left edge.",
    "ranks": "Methods ranked against each other seed by seed, 1 the best, and the mean over seeds with its 95 % "
    "bootstrap interval. A run that has found nothing yet, or broke, is last.",
}

CONTINUED = (
    "continued: an architecture that is proposed at a higher fidelity continues its earlier training, and costs the "
    "seconds that this adds (--continue-trainings)"
)
FROM_SCRATCH = "from scratch: every evaluation is a training of its own, and costs all its seconds"


def write_comparison(
    out: str | Path,
    runs: Runs,
    benchmark: Benchmark,
    *,
    rng: np.random.Generator,
    stale: Mapping[str, str] | None = None,
    formats: Iterable[str] = (),
    centre: Centre = "median",
    on_summary: Callable[[ComparisonSummary], None] | None = None,
) -> ComparisonSummary:
    """Write ``numbers.json`` and ``report.html``, a self-contained page, and figures as files where wanted.

    Args:
        out: the folder.
        runs: the runs to compare.
        benchmark: judges the runs.
        rng: draws the bootstrap samples and the evaluations that are shown.
        stale: the reason per method whose stored runs are out of date.
        formats: of the files ``figures/NAME.FORMAT``: svg, png, pdf; no files by default.
        centre: what curves show of all seeds.
        on_summary: gets the summary before anything is drawn.

    Returns the summary behind the page's tables.
    """
    out = Path(out)
    compared = comparison(runs, benchmark, rng=rng, stale=stale, centre=centre)
    if on_summary is not None:
        on_summary(compared.summary)
    write_numbers(out, compared.summary.numbers())
    styles = looks(runs.methods)
    charts = _charts(compared, styles, on_page=True)
    panels = {
        f"plane-{i}": plane_panel(part, compared, benchmark.space, on_page=True)
        for i, part in enumerate(compared.visited)
    }
    summary = compared.summary
    sections = [
        Section("Who wins", {}, text=f"{_lead(runs)} {verdict(summary)}", blocks=_standings_blocks(summary, styles))
    ]
    if charts or panels:
        sections.append(_figures_section(compared, styles, charts))
    sections.append(_best_section(compared, benchmark))
    sections.append(Section("What was run", _setup_facts(runs, summary)))
    title = f"Architecture search on {runs.setup.benchmark}"
    write_page(out / "report.html", title, sections, charts=charts | panels)
    _save_figures(out / FIGURES_FOLDER, compared, styles, benchmark.space, tuple(formats))
    return summary


def _figures_section(compared: Comparison, styles: Mapping[str, LineStyle], charts: Mapping[str, Chart]) -> Section:
    """All figures under one legend, which stays visible."""
    curves = tuple(
        Figure(name, f"over {x}", label=f"regret over {x}")
        for name, x in (("time", TIME), ("evaluations", EVALUATIONS))
        if name in charts
    )
    blocks: list[PageBlock] = [
        Legend({method.method: styles[method.method] for method in compared.summary.standings()})
    ]
    if curves:
        blocks.append(FigureGroup(curves, "cards"))
    if "ecdf" in charts:
        blocks.append(SubSection("Final regret of all runs", TEXTS["ecdf"], (figure("ecdf"),)))
    if "ranks" in charts:
        blocks.append(SubSection("Rank over time", TEXTS["ranks"], (figure("ranks"),)))
    if "tradeoff" in charts:
        figure_and_table = SideBySide((figure("tradeoff"), hypervolume_table(compared.summary, styles)))
        blocks.append(
            SubSection(f"Regret against {compared.summary.second}", _second_text(compared), (figure_and_table,))
        )
    if compared.visited:
        panels = tuple(
            Figure(f"plane-{i}", part.method, label=f"architectures proposed by {part.method}", method=part.method)
            for i, part in enumerate(compared.visited)
        )
        proposals = (ColourScale("early", "late"), FigureGroup(panels, "small"))
        blocks.append(SubSection("What each method proposes", _plane_text(compared), proposals))
    return Section("Anytime performance", {}, text=f"{_centre_text(compared)} {TEXTS['anytime']}", blocks=blocks)


def _centre_text(compared: Comparison) -> str:
    """What the lines and bands of regrets are."""
    if compared.centre == "mean":
        return "The mean over seeds, and its 95 % bootstrap interval as a band."
    return "The median over seeds, and the quartiles as a band."


def _charts(compared: Comparison, styles: Mapping[str, LineStyle], *, on_page: bool) -> dict[str, Chart]:
    """The figures by name; empty where no run found anything."""
    label, names = regret_label(compared.summary), CENTRE_NAMES[compared.centre]
    charts: dict[str, Chart] = {}
    if compared.over_time:
        charts["time"] = curves_figure(compared.over_time, styles, x=TIME, y=label, on_page=on_page, names=names)
    if compared.over_evaluations:
        charts["evaluations"] = curves_figure(
            compared.over_evaluations, styles, x=EVALUATIONS, y=label, on_page=on_page, names=names
        )
        charts["ecdf"] = ecdf_figure(compared, styles, on_page=on_page)
    if compared.rank_over_time:
        charts["ranks"] = curves_figure(
            compared.rank_over_time, styles, x=TIME, y="mean rank", on_page=on_page, ranks=True, names=RANK_NAMES
        )
    if compared.second is not None and compared.over_second:
        of = f"validation regret [{compared.summary.unit}]" if compared.summary.unit else "validation regret"
        charts["tradeoff"] = curves_figure(
            compared.over_second, styles, x=metric_label(compared.second), y=of, on_page=on_page, names=names
        )
    return charts


def _save_figures(
    folder: Path, compared: Comparison, styles: Mapping[str, LineStyle], space: SearchSpace, formats: Sequence[str]
) -> None:
    """Write each figure as a file in each format."""
    if not formats:
        return
    charts = _charts(compared, styles, on_page=False)
    if compared.visited:
        charts["proposals"] = plane_figure(compared, space)
    save_figures(charts, folder, formats)
    if compared.best is not None:
        for form in formats:
            save_cells(space.diagrams(compared.best.architecture), folder / f"best.{form}")


def _lead(runs: Runs) -> str:
    count, seeds = len(runs.methods), len({run.seed for run in runs.runs})
    methods = f"{count} method{'s' if count != 1 else ''}, {seeds} seed{'s' if seeds != 1 else ''}"
    continued = ", trainings continued at higher fidelities" if runs.setup.continue_trainings else ""
    return f"{methods}, {runs.setup.budget} a run{continued}."


def _setup_facts(runs: Runs, summary: ComparisonSummary) -> dict[str, object]:
    setup = runs.setup
    seeds = sorted({run.seed for run in runs.runs})
    facts: dict[str, object] = {
        "benchmark": f"{setup.benchmark}, space {setup.space}",
        "objective": f"{setup.objective.direction} {setup.objective.key}"
        + (f" [{setup.objective.unit}]" if setup.objective.unit else ""),
        "judged by": regret_meaning(summary),
        "budget": f"{setup.budget} a run, {setup.workers} worker"
        + ("s" if setup.workers != 1 else "")
        + (", the methods' own thinking time charged" if setup.charge_thinking else ""),
        "seeds": f"{len(seeds)} ({seeds[0]} to {seeds[-1]})" if len(seeds) > 1 else ", ".join(map(str, seeds)),
        "evaluations": sum(len(run) for run in runs.runs),
    }
    if setup.continue_trainings or len({fidelity for run in runs.runs for fidelity in run.fidelity.tolist()}) > 1:
        facts["trainings"] = CONTINUED if setup.continue_trainings else FROM_SCRATCH
    facts["methods"] = ", ".join(runs.methods)
    by_preset: dict[str, list[str]] = {}
    for method in runs.methods:
        if method in setup.presets:
            by_preset.setdefault(setup.presets[method], []).append(method)
    for label, methods in by_preset.items():
        facts[f"preset {label}"] = ", ".join(methods)
    for method in runs.methods:
        settings = setup.settings.get(method, {})
        if settings:
            facts[f"settings of {method}"] = ", ".join(f"{name} = {value!r}" for name, value in settings.items())
    if not any(setup.settings.get(method) for method in runs.methods):
        facts["settings"] = "the defaults of each method"
    facts["versions"] = ", ".join(f"{name} {version}" for name, version in setup.versions.items()) or "unknown"
    commands = setup.command.splitlines()
    for number, command in enumerate(commands, start=1):
        facts["command" if len(commands) == 1 else f"command {number}"] = command
    return facts


def _standings_blocks(summary: ComparisonSummary, styles: Mapping[str, LineStyle]) -> list[PageBlock]:
    return [
        *(Paragraph(marked(remark), "note") for remark in summary.remarks),
        standings_table(summary, styles),
        Paragraph(caption(summary), "caption"),
        *failures_table(summary),
        *pairs_table(summary),
    ]


def _second_text(compared: Comparison) -> str:
    """The meaning of the trade-off, and the reference point of hypervolumes."""
    assert compared.second is not None
    cost, regret = compared.summary.reference
    unit, of = (f" {symbol}" if symbol else "" for symbol in (compared.second.unit, compared.summary.unit))
    middle, band = CENTRE_NAMES[compared.centre]
    return (
        f"The smallest validation regret found within a limit on {compared.second.key}: the {middle} over seeds, and "
        f"the {band} as a band; further to the lower left is better. The box of all runs lies between the lowest "
        "and the highest values on their fronts. A run's hypervolume is the share of the box that its trade-offs "
        f"dominate; the reference point is {compared.second.key} {cost:,.7g}{unit} and a regret of {regret:.3g}{of}."
    )


def _plane_text(compared: Comparison) -> str:
    first, second = compared.explained
    return (
        "Each point is an evaluated architecture, a sample of each method's runs, from early (dark) to late (bright). "
        f"All panels share one plane, the two main components of the one-hot encodings, which hold {first:.0%} and "
        f"{second:.0%} of their variance: far points differ, near ones may differ in other ways."
    )


def _best_section(compared: Comparison, benchmark: Benchmark) -> Section:
    best = compared.best
    if best is None:
        return Section("The best architecture found", {}, text="No run found any.")
    objective, unit = benchmark.objective, f" {compared.summary.unit}" if compared.summary.unit else ""
    facts: dict[str, object] = {
        "architecture": benchmark.space.format(best.architecture),
        f"{objective.key}, as seen": f"{best.value:.4g} {objective.unit}".rstrip(),
        f"{compared.summary.kind} regret": f"{best.regret:.3g}{unit}"
        + (f" (the best {best_is(compared.summary)})" if abs(best.regret) < 1e-12 else ""),
        "found by": f"{best.method}, seed {best.seed}, evaluation {best.evaluation}",
    }  # fmt: skip
    picture = cell_svg(benchmark.space.diagrams(best.architecture))
    return Section("The best architecture found", facts, blocks=[Picture(picture)])
