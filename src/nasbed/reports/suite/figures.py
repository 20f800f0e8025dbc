"""The figures of a suite: normalised regret and ranks over the budget, critical differences, a panel per benchmark."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import altair as alt
import numpy as np

from nasbed.drawing.marks import Chart, inline
from nasbed.drawing.palette import INK, LineStyle
from nasbed.evaluation.suite.suite_summary import SuiteBenchmark, SuiteSummary
from nasbed.evaluation.trajectories import Centre
from nasbed.reports.comparison.data import MethodCurve
from nasbed.reports.comparison.figures import CENTRE_NAMES, RANK_NAMES, curves_figure
from nasbed.reports.comparison.standings import regret_label

SHARE = "share of the budget"
PANEL = 190
"""The height of the panel of one benchmark."""
ROW, GROUP = 26, 0.45
"""Pixels per row of a critical-difference diagram, and the share of a row between two of its bars."""


def suite_charts(
    summary: SuiteSummary, styles: Mapping[str, LineStyle], *, on_page: bool, centre: Centre = "median"
) -> dict[str, Chart]:
    """The figures by name. On a page each benchmark is a figure of its own; in files they are one, ``benchmarks``.
    There ``centre`` is what curves show of all seeds; means over benchmarks are always means over seeds."""
    charts = {}
    regret, rank = (
        [
            MethodCurve(method, summary.shares, band.low, band.mean, band.high)
            for method, band in curves.items()
            if np.isfinite(band.mean).any()
        ]
        for curves in (summary.regret, summary.rank)
    )
    if regret:
        charts["regret"] = curves_figure(
            regret, styles, x=SHARE, y="mean normalised regret", on_page=on_page, names=("mean", "95 % interval")
        )
    if len(summary.methods) > 1:
        charts["ranks"] = curves_figure(
            rank, styles, x=SHARE, y="mean rank", on_page=on_page, ranks=True, names=RANK_NAMES
        )
        charts["critical-difference"] = critical_difference_figure(summary)
    panels = {
        f"benchmark-{i}": _benchmark_panel(item, summary, styles, on_page=on_page, centre=centre)
        for i, item in enumerate(summary.benchmarks)
    }
    if on_page:
        return charts | panels
    named = [chart.properties(title=item.name) for item, chart in zip(summary.benchmarks, panels.values(), strict=True)]
    return charts | {"benchmarks": alt.concat(*named, columns=3)}


def _benchmark_panel(
    item: SuiteBenchmark, summary: SuiteSummary, styles: Mapping[str, LineStyle], *, on_page: bool, centre: Centre
) -> Chart:
    curves = []
    for method, table in zip(summary.methods, item.curves, strict=True):
        started = item.scale * table[np.isfinite(table).any(axis=1)]
        if len(started):
            curves.append(MethodCurve.of(method, summary.shares, started, centre))
    return curves_figure(
        curves,
        styles,
        x=SHARE,
        y=regret_label(item.summary),
        on_page=on_page,
        names=CENTRE_NAMES[centre],
        height=PANEL,
    )


def critical_difference_figure(summary: SuiteSummary) -> Chart:
    """Mean ranks on a line, a bar for each group of methods that Nemenyi's test does not tell apart (Demšar 2006,
    figure 1). The better half of the methods is labelled on the left, the other on the right."""
    order, groups, width = summary.standings(), summary.groups, summary.critical_difference
    rank = dict(zip(summary.methods, summary.mean_ranks.tolist(), strict=True))
    half = (len(order) + 1) // 2
    last = max(len(order), math.ceil(1 + width))
    edges = (1 - 0.14 * last, 1.14 * last)  # room for labels beside the outermost methods
    first_label = 1.1 + GROUP * len(groups)
    elbows: list[dict[str, Any]] = []
    labels: list[list[dict[str, Any]]] = []
    for names, edge in ((order[:half], edges[0]), (order[: half - 1 : -1], edges[1])):
        heights = [first_label + row for row in range(len(names))]
        for name, height in zip(names, heights, strict=True):
            corners = ((rank[name], 0.0), (rank[name], height), (edge, height))
            elbows += [{"method": name, "x": x, "y": y, "step": step} for step, (x, y) in enumerate(corners)]
        texts = [f"{name}  {rank[name]:.2f}" for name in names]
        labels.append([{"x": edge, "y": height, "text": text} for height, text in zip(heights, texts, strict=True)])
    bars = [
        {"y": 0.2 + GROUP * (i + 1), "x": rank[group[0]] - 0.005 * last, "x2": rank[group[-1]] + 0.005 * last}
        for i, group in enumerate(groups)
    ]
    ticks = [{"x": tick, "y": -0.2, "y2": 0.0, "text": str(tick)} for tick in range(1, last + 1)]
    axis, distance = [{"x": 1, "x2": last, "y": 0.0}], [{"x": 1, "x2": 1 + width, "y": -1.6}]
    bottom = first_label + half - 0.6
    x = alt.X("x:Q", title=None, axis=None).scale(domain=list(edges), nice=False)
    y = alt.Y("y:Q", title=None, axis=None).scale(domain=[-2.4, bottom], reverse=True, nice=False)

    def rules(rows: list[dict[str, Any]], thickness: float) -> Chart:
        return alt.Chart(inline(rows)).mark_rule(color=INK, strokeWidth=thickness).encode(x, y, x2="x2:Q")

    def texts_at(rows: list[dict[str, Any]], align: Any, size: int = 13) -> Chart:
        mark = alt.Chart(inline(rows)).mark_text(align=align, baseline="bottom", dy=-3, fontSize=size, color=INK)
        return mark.encode(x, y, text="text:N")

    line = alt.Chart(inline(elbows)).mark_line(color=INK, strokeWidth=1.2)
    point = alt.Chart(inline([{"x": place, "y": 0.0} for place in rank.values()]))
    layers = [
        rules(axis, 1.5),
        alt.Chart(inline(ticks)).mark_rule(color=INK).encode(x, y, y2="y2:Q"),
        texts_at(ticks, "center", 12),
        rules(distance, 2),
        texts_at([distance[0] | {"text": f"CD = {width:.2f}"}], "left", 12),
        line.encode(x, y, detail="method:N", order="step:Q"),
        rules(bars, 5),
        point.mark_point(filled=True, color=INK, size=36, opacity=1).encode(x, y),
        texts_at(labels[0], "left"),
        texts_at(labels[1], "right"),
    ]
    return alt.layer(*layers, width=560, height=ROW * (bottom + 2.4), view=alt.ViewBackground(stroke=None))
