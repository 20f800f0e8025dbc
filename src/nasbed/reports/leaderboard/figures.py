"""The picture of a leaderboard: the mean normalised regret of every method, a panel for each suite."""

from __future__ import annotations

import math
from collections.abc import Mapping

import altair as alt

from nasbed.drawing.marks import Chart, inline
from nasbed.drawing.number_texts import short, span
from nasbed.drawing.palette import COLOURS, FAINT, PAPER
from nasbed.evaluation.suite.suite_summary import SuiteSummary

WIDTH, ROW = 210, 19
REFERENCE_COLOUR, SUBMITTED_COLOUR = COLOURS[0], COLOURS[1]


def leaderboard_panel(summary: SuiteSummary, reference: str) -> Chart:
    """Methods from the best mean rank down, each with its mean normalised regret and the interval over seeds. Those
    that are no reference runs have another colour. A hollow point has fewer seeds than most."""
    order: list[str] = []
    rows = []
    for method in summary.standings():
        final = summary.final_regret(method)
        rank = float(summary.mean_ranks[summary.methods.index(method)])
        if math.isfinite(final.estimate):
            order.append(method)
            rows.append(
                {
                    "method": method,
                    "regret": final.estimate,
                    "low": final.low,
                    "high": final.high,
                    "colour": REFERENCE_COLOUR if summary.sources.get(method) == reference else SUBMITTED_COLOUR,
                    "few": summary.seeds(method) < summary.usual_seeds,
                    "text": f"{short(final.estimate)} ({span(final)}), mean rank {rank:.2f}",
                }
            )
    base = alt.Chart(inline(rows)).encode(
        y=alt.Y("method:N", sort=order, title=None).axis(ticks=False, domain=False),
        color=alt.Color("colour:N", scale=None),
        tooltip=[alt.Tooltip("method:N"), alt.Tooltip("text:N", title="normalised regret")],
    )
    low, regret = (alt.X(f"{key}:Q", title="mean normalised regret").scale(zero=True) for key in ("low", "regret"))
    axis = alt.Axis(grid=True, gridColor=FAINT, gridOpacity=0.25, tickCount=4)
    intervals = base.mark_rule(strokeWidth=2, opacity=0.55).encode(x=low.axis(axis), x2="high:Q")
    points = base.mark_point(size=46, opacity=1, strokeWidth=1.8).encode(
        x=regret.axis(axis),
        fill=alt.condition("datum.few", alt.value(PAPER), alt.Fill("colour:N", scale=None)),
    )
    return alt.layer(intervals, points, width=WIDTH, height=ROW * len(rows))


def leaderboard_figure(summaries: Mapping[str, SuiteSummary], reference: str) -> Chart:
    """All suites beside each other, for a file."""
    panels = [
        leaderboard_panel(summary, reference).properties(title=f"{name} ({len(summary.benchmarks)} benchmarks)")
        for name, summary in summaries.items()
    ]
    return alt.concat(*panels, columns=2, spacing=28)
