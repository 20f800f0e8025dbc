"""The report of the generalisation bootstrap: figure 8 of NAS-Bench-101, a sub-space beside the whole space."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from nasbed.core.json_values import plain
from nasbed.drawing.anytime_figures import Axes, panel, side_by_side
from nasbed.drawing.blocks import figure
from nasbed.drawing.figures import metric_label, write_report
from nasbed.drawing.marks import Chart
from nasbed.drawing.page import Section
from nasbed.studies.generalisation.study import GeneralisationStudy, SpaceResult

WIDTH, HEIGHT = 360, 250
SPAN = 20
"""Evolution starts with random architectures, so figures omit the first twentieth of the time."""
TEXTS = {
    "methods": "Random search (RS), evolution that removes the worst (NRE) and evolution that removes the oldest (RE). "
    "Lines are medians over seeds, bands reach from the lower to the upper quartile; the regret of the incumbent is "
    "against the best architecture of each space.",
    "mutation rates": "Regularized evolution by the number of edits per mutation; at 0.5 every other child is its "
    "parent evaluated again.",
    "tournament sizes": "Regularized evolution by the number of members of the population among which the best is "
    "the parent.",
}
PUBLISHED = "RS < NRE < RE in both spaces, medians of 100 runs (NAS-Bench-101, figure 8)"


def generalisation_facts(study: GeneralisationStudy) -> dict[str, str]:
    """The orderings that hold in each space, and the rank correlation between the spaces."""
    facts = {}
    for place in (study.small, study.full):
        for ordering in place.orderings:
            facts[f"{ordering.worse} < {ordering.better}, {place.benchmark}"] = (
                f"{ordering.verdict} (mean regret lower by {ordering.difference:.3f}, p = {ordering.p:.2g})"
            )
    for group, value in study.correlations.items():
        facts[f"Spearman between the spaces, {group}"] = (
            f"{value:.2f} ({len(study.full.groups[group])} variants)" if np.isfinite(value) else "undefined: all equal"
        )
    return facts


def generalisation_table(study: GeneralisationStudy) -> tuple[Sequence[str], list[tuple[str, ...]]]:
    """Final regrets: the median and quartiles of each variant in both spaces, columns and rows."""
    rows: list[tuple[str, ...]] = []
    for group in study.full.groups:
        for small, full in zip(study.small.groups[group], study.full.groups[group], strict=True):
            rows.append((group, small.name, _spread(small.finals), _spread(full.finals)))
    return ("what", "variant", study.small.benchmark, study.full.benchmark), rows


def _spread(finals: Any) -> str:
    low, middle, high = np.quantile(finals, [0.25, 0.5, 0.75]) if len(finals) else (np.nan,) * 3
    return f"{middle:.3f} ({low:.3f} to {high:.3f})"


def generalisation_numbers(study: GeneralisationStudy) -> dict[str, Any]:
    """Every number of the report."""
    numbers: dict[str, Any] = plain(
        {
            "seeds": study.seeds,
            "budget": study.budget,
            "metric": study.metric.key,
            "unit": study.metric.unit,
            "spearman": study.correlations,
            "spaces": {"small": _place_numbers(study.small), "full": _place_numbers(study.full)},
        }
    )
    return numbers


def _place_numbers(place: SpaceResult) -> dict[str, Any]:
    return {
        "benchmark": place.benchmark,
        "architectures": place.architectures,
        "best": place.best,
        "broken_runs": place.broken,
        "failed_evaluations": place.failed[0],
        "orderings": [
            {
                "worse": ordering.worse,
                "better": ordering.better,
                "mean_difference": ordering.difference,
                "wilcoxon_p": ordering.p,
                "verdict": ordering.verdict,
            }
            for ordering in place.orderings
        ],
        "final_regret": {
            group: {
                line.name: {
                    "mean": line.mean,
                    "quartiles": np.quantile(line.finals, [0.25, 0.5, 0.75]) if len(line.finals) else [],
                    "by_seed": line.finals,
                }
                for line in lines
            }
            for group, lines in place.groups.items()
        },
    }


def generalisation_figure(study: GeneralisationStudy, group: str) -> Chart:
    """One row of figure 8: the sub-space left, the whole space right, on the same axes."""
    places = (study.small, study.full)
    axes = Axes.over([line.curve for place in places for line in place.groups[group]], study.metric, span=SPAN)
    return side_by_side(
        [
            panel(
                {line.name: line.curve for line in place.groups[group]},
                axes,
                width=WIDTH,
                height=HEIGHT,
                title=f"{place.benchmark}: {place.architectures} architectures",
            )
            for place in places
        ]
    )


def write_generalisation_report(study: GeneralisationStudy, folder: str | Path, *, formats: Iterable[str] = ()) -> None:
    """Write ``report.html``, ``numbers.json`` and ``figures/`` into a folder, which is created if needed."""
    facts = generalisation_facts(study)
    summary: dict[str, object] = {
        "small space": f"{study.small.benchmark}, {study.small.architectures} architectures",
        "full space": f"{study.full.benchmark}, {study.full.architectures} architectures",
        "runs": f"{study.seeds} seeds of each variant, {study.budget} each",
        "judged by": f"{metric_label(study.metric)}, mean over repeats",
        "published": PUBLISHED,
    }
    for place in (study.small, study.full):
        summary[f"evaluations that failed, {place.benchmark}"] = "{} of {}".format(*place.failed)
    if study.small.broken or study.full.broken:
        summary["runs that broke"] = study.small.broken + study.full.broken
    sections = [Section("Does a small space predict a large one?", summary)]
    figures = {}
    for group in study.full.groups:
        key = group.replace(" ", "-")
        figures[key] = generalisation_figure(study, group)
        group_facts = {name: fact for name, fact in facts.items() if name.endswith(group)}
        if group == "methods":
            group_facts = {name: fact for name, fact in facts.items() if "<" in name} | group_facts
        _, rows = generalisation_table(study)
        group_facts |= {
            f"{name}, final regret": f"{small} in the small space, {full} in the full one"
            for row_group, name, small, full in rows
            if row_group == group
        }
        sections.append(Section(group.capitalize(), group_facts, text=TEXTS.get(group, ""), blocks=[figure(key)]))
    title, numbers = f"Generalisation bootstrap on {study.full.benchmark}", generalisation_numbers(study)
    write_report(folder, title, sections=sections, figures=figures, numbers=numbers, formats=formats)
