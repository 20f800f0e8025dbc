"""The page of methods: one small figure per method, over the faint band of random search, on the same axes."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from nasbed.core.json_values import plain
from nasbed.drawing.anytime_figures import Axes, over_baseline
from nasbed.drawing.blocks import Figure, PageCard, PageCards
from nasbed.drawing.figures import metric_label, write_report
from nasbed.drawing.page import Section
from nasbed.studies.methods.study import MethodResult, MethodsStudy

WIDTH, HEIGHT = 250, 165
TEXT = (
    "Each figure shows the regret of a method's incumbent over simulated time: the median over seeds and the band "
    "between the quartiles, blue, over those of random search, grey. All figures have the same axes. Below are the "
    "settings of the method, its defaults unless a preset is named; docs/reference/methods.md has their sources."
)


def setting_text(value: object) -> str:
    """The text of a setting's default.

    >>> setting_text(1 / 3), setting_text(None), setting_text(10_000)
    ('1/3', 'None', '10000')
    """
    return "1/3" if value == 1 / 3 else str(value)


def method_line(method: MethodResult) -> tuple[str, str, str, str]:
    """A method's name, summary, final regret and own time, as texts."""
    if not len(method.finals):
        return method.name, method.summary, "no run ended", ""
    low, middle, high = np.quantile(method.finals, [0.25, 0.5, 0.75])
    return method.name, method.summary, f"{middle:.3f} ({low:.3f} to {high:.3f})", f"{method.thinking_s:.2f} s"


def methods_numbers(study: MethodsStudy) -> dict[str, Any]:
    """Every number of the page."""
    numbers: dict[str, Any] = plain(
        {
            "benchmark": study.benchmark,
            "seeds": study.seeds,
            "budget": study.budget,
            "metric": study.metric.key,
            "left_out": study.left_out,
            "methods": {
                method.name: {
                    "summary": method.summary,
                    "settings": method.settings,
                    "preset": method.preset,
                    "final_regret": method.finals,
                    "thinking_s": method.thinking_s,
                    "errors": method.errors,
                    "failed": method.failed,
                    "evaluations": method.evaluations,
                    "remarks": [remark.text for remark in method.remarks],
                    "time_s": method.curve.time_s,
                    "median": method.curve.median,
                    "low": method.curve.low,
                    "high": method.curve.high,
                }
                for method in study.methods
            },
        }
    )
    return numbers


def write_methods_report(study: MethodsStudy, folder: str | Path, *, formats: Iterable[str] = ()) -> None:
    """Write ``report.html``, ``numbers.json`` and ``figures/`` into a folder, which is created if needed."""
    axes = Axes.over([method.curve for method in study.methods], study.metric)
    charts = {
        method.name: over_baseline(method.curve, study.baseline.curve, axes, width=WIDTH, height=HEIGHT)
        for method in study.methods
    }
    facts: dict[str, object] = {
        "benchmark": study.benchmark,
        "runs": f"{study.seeds} seeds of each method, {study.budget} each, one worker",
        "judged by": f"{metric_label(study.metric)}, mean over repeats",
    }
    facts |= {f"left out: {name}": reason for name, reason in study.left_out.items()}
    sections = [Section("What was run", facts, text=TEXT, blocks=[PageCards(tuple(map(_card, study.methods)))])]
    title, numbers = f"{len(study.methods)} search methods", methods_numbers(study)
    write_report(folder, title, sections=sections, figures=charts, numbers=numbers, formats=formats)


def _card(method: MethodResult) -> PageCard:
    _, _, final, thinking = method_line(method)
    facts = [("final regret", final), ("own time a run", thinking)]
    facts.append(("failed evaluations", f"{method.failed} of {method.evaluations}"))
    if method.errors:
        facts.append(("runs that broke", f"{len(method.errors)}: {next(iter(method.errors.values()))}"))
    facts.append(("preset", method.preset))
    settings = [(name, setting_text(value)) for name, value in method.settings.items()]
    facts += settings or [("settings", "none")]
    facts += [("remark", remark.text) for remark in method.remarks]
    figure = Figure(method.name, label=f"regret of {method.name}")
    return PageCard(method.name, method.summary, figure, [(name, fact) for name, fact in facts if fact])
