"""The page of a comparison: what was run, who wins and how surely, how each method got there, and what it found."""

from __future__ import annotations

import math
from collections.abc import Mapping
from html import escape
from pathlib import Path

import numpy as np

from nasbed.benchmarks.base import Benchmark
from nasbed.experiments.runs import Runs
from nasbed.reports.cells import cell_svg, save_cells
from nasbed.reports.comparison_data import LEVEL, Comparison, comparison
from nasbed.reports.comparison_figures import curves_figure, ecdf_figure, plane_figure, plane_panel, regret_label
from nasbed.reports.comparison_tables import STYLE, failures_table, pairs_table, standings_table
from nasbed.reports.figures import FORMATS, save_figure
from nasbed.reports.interactive import Look, head, legend, looks, place, scripts
from nasbed.reports.marks import Chart
from nasbed.reports.page import Section, write_page
from nasbed.spaces.base import SearchSpace

TIME, EVALUATIONS = "simulated time [s]", "evaluations"
TEXTS = {
    "anytime": "The median over seeds, and the quartiles as a band. A curve begins when all runs of a method have "
    "found something; a regret of zero is drawn at the lower edge. Point at a curve to read it; the buttons show "
    "and hide methods in all figures.",
    "ecdf": "The fraction of runs that ended with at most a regret: the further to the upper left, the better. "
    "A regret of zero is drawn at the left edge.",
    "ranks": "Methods ranked against each other seed by seed, 1 the best, and the mean over seeds with its 95 % "
    "bootstrap interval. A run that has found nothing yet, or broke, is last.",
}


def write_comparison(out: Path, runs: Runs, benchmark: Benchmark, *, rng: np.random.Generator) -> Path:
    """Write ``report.html``, one page that needs nothing else, and its figures as SVG, PNG and PDF into ``figures/``.

    ``rng`` draws the bootstrap samples and the evaluations that are shown. Returns the page.
    """
    found = comparison(runs, benchmark, rng=rng)
    styles = looks(runs.methods)
    _save_figures(out / "figures", found, styles, benchmark.space)
    charts = _charts(found, styles, on_page=True)
    panels = {
        f"plane-{i}": plane_panel(part, found, benchmark.space, on_page=True) for i, part in enumerate(found.visited)
    }
    sections = [
        Section("What was run", _setup_facts(runs, found)),
        Section("Who wins", {}, text=_verdict(found), html=_standings_html(found, styles)),
    ]
    if charts or panels:
        sections.append(_figures_section(found, styles, charts))
    sections.append(_best_section(found, benchmark))
    page = out / "report.html"
    write_page(
        page,
        f"Architecture search on {runs.setup.benchmark}",
        sections,
        head=head() + f"\n<style>{STYLE}</style>\n",
        foot=scripts(charts | panels) + "\n",
    )
    return page


def _figures_section(found: Comparison, styles: Mapping[str, Look], charts: Mapping[str, Chart]) -> Section:
    """All figures under one legend, which stays in sight."""
    pair = "".join(
        f'<div class="card"><h3>over {escape(x)}</h3>{place(name, f"regret over {x}")}</div>'
        for name, x in (("time", TIME), ("evaluations", EVALUATIONS))
        if name in charts
    )
    html = legend(styles) + f'<div class="pair">{pair}</div>'
    if "ecdf" in charts:
        html += _block("Final regret of all runs", TEXTS["ecdf"], place("ecdf", "final regret of all runs"))
    if "ranks" in charts:
        html += _block("Rank over time", TEXTS["ranks"], place("ranks", "rank over time"))
    if found.visited:
        html += _block("What each method proposes", _plane_text(found), _panels_html(found))
    return Section("Anytime performance", {}, text=TEXTS["anytime"], html=html)


def _block(title: str, text: str, html: str) -> str:
    return f'<div class="block"><h2>{escape(title)}</h2><p>{escape(text)}</p>{html}</div>'


def _charts(found: Comparison, styles: Mapping[str, Look], *, on_page: bool) -> dict[str, Chart]:
    """The figures by name; none where no run found anything."""
    label = regret_label(found)
    charts: dict[str, Chart] = {}
    if found.over_time:
        charts["time"] = curves_figure(found.over_time, styles, x=TIME, y=label, on_page=on_page)
    if found.over_evaluations:
        charts["evaluations"] = curves_figure(found.over_evaluations, styles, x=EVALUATIONS, y=label, on_page=on_page)
        charts["ecdf"] = ecdf_figure(found, styles, on_page=on_page)
    if found.rank_over_time:
        charts["ranks"] = curves_figure(
            found.rank_over_time, styles, x=TIME, y="mean rank", on_page=on_page, ranks=True
        )
    return charts


def _save_figures(folder: Path, found: Comparison, styles: Mapping[str, Look], space: SearchSpace) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    charts = _charts(found, styles, on_page=False)
    if found.visited:
        charts["proposals"] = plane_figure(found, space)
    for name, chart in charts.items():
        for form in FORMATS:
            save_figure(chart, folder / f"{name}.{form}")
    if found.best is not None:
        for form in FORMATS:
            save_cells(space.diagrams(found.best.architecture), folder / f"best.{form}")


def _setup_facts(runs: Runs, found: Comparison) -> dict[str, object]:
    setup = runs.setup
    seeds = sorted({run.seed for run in runs.runs})
    facts: dict[str, object] = {
        "benchmark": f"{setup.benchmark}, space {setup.space}",
        "objective": f"{setup.objective.direction} {setup.objective.key}"
        + (f" [{setup.objective.unit}]" if setup.objective.unit else ""),
        "judged by": f"{regret_label(found)}, the distance to {_reference(found)}",
        "budget": f"{setup.budget} a run, {setup.workers} worker" + ("s" if setup.workers != 1 else ""),
        "seeds": f"{len(seeds)} ({seeds[0]} to {seeds[-1]})" if len(seeds) > 1 else ", ".join(map(str, seeds)),
        "evaluations": sum(len(run) for run in runs.runs),
    }
    facts["methods"] = ", ".join(runs.methods)
    for method in runs.methods:
        given = setup.settings.get(method, {})
        if given:
            facts[f"settings of {method}"] = ", ".join(f"{name} = {value!r}" for name, value in given.items())
    if not any(setup.settings.get(method) for method in runs.methods):
        facts["settings"] = "the defaults of each method"
    facts["versions"] = ", ".join(f"{name} {version}" for name, version in setup.versions.items()) or "unknown"
    if setup.command:
        facts["command"] = setup.command
    return facts


def _reference(found: Comparison) -> str:
    best = f"the best {found.metric.key} known"
    return f"{found.reference:.4g}, {best}" if math.isfinite(found.reference) else best


def _verdict(found: Comparison) -> str:
    """The result in words, and whether the test could have told any difference."""
    ranked = [each for each in found.standings if each.finished]
    if not ranked:
        return "No run found anything."
    first, unit = ranked[0], f" {found.metric.unit}" if found.metric.unit else ""
    mean = f"{first.regret.estimate:.3g}{unit} over {first.finished} run{'s' if first.finished != 1 else ''}"
    text = f"{first.method} ends with the smallest mean {found.kind} regret, {mean}. "
    if len(ranked) == 1:
        return text
    count = len(found.standings)
    pairs, most = count * (count - 1) // 2, max(each.finished for each in ranked)
    if 2 ** (1 - most) * pairs >= LEVEL:
        return text + (
            f"With {most} seed{'s' if most != 1 else ''} and {pairs} pair{'s' if pairs != 1 else ''} of methods no "
            "difference can be significant in the test below, however large: run more seeds."
        )
    equal = [each.method for each in ranked[1:] if each.method not in first.beats]
    if not equal:
        return text + "All others are significantly worse."
    return text + f"Not significantly different from it: {', '.join(equal)}."


def _standings_html(found: Comparison, styles: Mapping[str, Look]) -> str:
    return standings_table(found, styles) + pairs_table(found) + failures_table(found)


def _plane_text(found: Comparison) -> str:
    first, second = found.explained
    return (
        "Each point is an evaluated architecture, a sample of each method's runs, from early (dark) to late (bright). "
        f"All panels share one plane, the two main components of the one-hot encodings, which hold {first:.0%} and "
        f"{second:.0%} of their variance: far points differ, near ones may differ in other ways."
    )


def _panels_html(found: Comparison) -> str:
    panels = "".join(
        f'<div class="card" data-panel="{escape(part.method)}"><h3>{escape(part.method)}</h3>'
        f"{place(f'plane-{i}', f'architectures proposed by {part.method}')}</div>"
        for i, part in enumerate(found.visited)
    )
    return f'<div class="scale" aria-hidden="true">early <i></i> late</div><div class="panels">{panels}</div>'


def _best_section(found: Comparison, benchmark: Benchmark) -> Section:
    best = found.best
    if best is None:
        return Section("The best architecture found", {}, text="No run found any.")
    objective, unit = benchmark.objective, f" {found.metric.unit}" if found.metric.unit else ""
    facts: dict[str, object] = {
        "architecture": benchmark.space.format(best.architecture),
        f"{objective.key}, as seen": f"{best.value:.4g} {objective.unit}".rstrip(),
        f"{found.kind} regret": f"{best.regret:.3g}{unit}"
        + (" (the best known)" if abs(best.regret) < 1e-12 else ""),
        "found by": f"{best.method}, seed {best.seed}, evaluation {best.evaluation}",
    }  # fmt: skip
    picture = cell_svg(benchmark.space.diagrams(best.architecture))
    return Section("The best architecture found", facts, html=f'<figure class="paper">{picture}</figure>')
