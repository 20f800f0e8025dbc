"""The figures of a comparison, for a page, which has its own legend and width, or as files."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import altair as alt
import numpy as np
from numpy.typing import NDArray

from nasbed.drawing.marks import SEQUENTIAL, Chart, inline, log_ticks, number, significant
from nasbed.drawing.notebooks import NotebookChart
from nasbed.drawing.palette import LineStyle
from nasbed.drawing.themes import NUMBER
from nasbed.evaluation.trajectories import Centre
from nasbed.reports.comparison.data import Comparison, MethodCurve, VisitedArchitectures
from nasbed.reports.comparison.standings import regret_label
from nasbed.spaces.base import SearchSpace

WIDTH, HEIGHT, PANEL = 460, 300, 170
CENTRE_NAMES: Mapping[Centre, tuple[str, str]] = {
    "median": ("median", "quartiles"),
    "mean": ("mean", "95 % interval"),
}
"""What the line and the band of regrets are."""
RANK_NAMES = ("mean rank", "95 % interval")
"""What the line and the band of ranks are."""
EARLY_TO_LATE = alt.SchemeParams(name=SEQUENTIAL, extent=[0.2, 0.9])
"""The colour map without its ends, which are invisible on a black or a white page."""


def floor_of(values: Iterable[float]) -> float:
    """The lower end of a logarithmic axis, where values of zero or less are drawn: half the smallest positive one."""
    positive = [value for value in values if 0 < value < math.inf]
    return min(positive) / 2 if positive else 1e-3


def curves_figure(
    curves: Sequence[MethodCurve],
    styles: Mapping[str, LineStyle],
    *,
    x: str,
    y: str,
    on_page: bool,
    ranks: bool = False,
    names: tuple[str, str] = CENTRE_NAMES["median"],
    height: int = HEIGHT,
) -> Chart:
    """A line and a band per method, with a tooltip for the point nearest to the pointer.

    Args:
        curves: one per method.
        styles: colours and dashes by method.
        x, y: the titles of the axes.
        on_page: whether the figure is for a page or for a file.
        ranks: whether values are ranks, which have a linear axis with the best on top.
        names: what the line and the band are.
        height: in pixels.
    """
    values = np.concatenate(
        [np.concatenate([curve.low, curve.middle, curve.high]) for curve in curves] or [np.empty(0)]
    )
    floor = 0.0 if ranks else floor_of(values.tolist())
    rows = [
        {"method": curve.method, "x": position, "value": middle, "from": low, "to": high}
        for curve in curves
        for position, low, middle, high in zip(
            *map(_round_values, (curve.x, curve.low, curve.middle, curve.high)), strict=True
        )
        if math.isfinite(middle)
    ]
    scale = alt.Scale(zero=False, reverse=True, nice=False) if ranks else alt.Scale(type="log", nice=False)
    ends = [row["x"] for row in rows] or [1.0, 2.0]
    first, last = min(ends), max(*ends, min(ends) * 1.01)
    across = alt.Scale(type="log", domain=[first, last], nice=False)
    clamped = _base(rows, on_page).transform_calculate(
        low=f"max(datum.from, {floor})", middle=f"max(datum.value, {floor})", high=f"max(datum.to, {floor})"
    )
    base = clamped.encode(
        x=alt.X("x:Q", title=x, scale=across, axis=alt.Axis(values=log_ticks(first, last), grid=False)),
        color=_colour(styles, on_page),
    )
    tooltip = [
        alt.Tooltip("method:N"),
        *(alt.Tooltip(f"{field}:Q", title=title, format=NUMBER) for field, title in
          (("x", x), ("value", names[0]), ("from", f"{names[1]} from"), ("to", "to"))),
    ]  # fmt: skip
    step: Any = "linear" if ranks else "step-after"
    heights = [max(row[end], floor) for row in rows for end in ("from", "to") if math.isfinite(row[end])] or [1.0]
    axis = alt.Axis(tickCount=5) if ranks else alt.Axis(values=log_ticks(min(heights), max(heights)))
    up = alt.Y("middle:Q", title=y, scale=scale, axis=axis)
    strength = 0.35 if ranks else 0.6  # intervals of ranks overlap all along
    band = base.mark_area(opacity=min(0.18, strength / max(len(curves), 1)), interpolate=step).encode(
        y=alt.Y("low:Q", scale=scale, title=y), y2="high:Q"
    )
    line = base.mark_line(interpolate=step).encode(y=up, strokeDash=_dash(styles, on_page))
    return _layered([band, line, *_reader(base.encode(y=up), tooltip, on_page)], on_page, height)


def ecdf_figure(compared: Comparison, styles: Mapping[str, LineStyle], *, on_page: bool) -> Chart:
    """The fraction of a method's runs that ended with at most a regret."""
    floor = floor_of(value for finals in compared.finals.values() for value in finals.tolist())
    furthest = max([max(value, floor) for finals in compared.finals.values() for value in finals.tolist()], default=1.0)
    rows = []
    for method, finals in compared.finals.items():
        ordered = np.sort(finals).tolist()
        for i, value in enumerate(ordered):
            share, place = (i + 1) / len(ordered), max(value, floor)
            regret = {"regret": value}
            if i == 0:
                rows.append({"method": method, "x": place, "y": 0.0} | regret)
            rows.append({"method": method, "x": place, "y": share} | regret)
        if ordered:
            rows.append({"method": method, "x": furthest * 1.05, "y": 1.0} | regret)
    label = regret_label(compared.summary)
    base = _base(rows, on_page).encode(
        x=alt.X("x:Q", title=f"final {label}", scale=alt.Scale(type="log", nice=False))
        .axis(values=log_ticks(floor, furthest * 1.05)),
        y=alt.Y("y:Q", title="fraction of runs", scale=alt.Scale(domain=[0, 1])).axis(format="%", tickCount=5),
        color=_colour(styles, on_page),
    )  # fmt: skip
    line = base.mark_line(interpolate="step-after").encode(strokeDash=_dash(styles, on_page))
    tooltip = [
        alt.Tooltip("method:N"),
        alt.Tooltip("regret:Q", title=f"{label} at most", format=NUMBER),
        alt.Tooltip("y:Q", title="fraction of runs", format=".0%"),
    ]
    return _layered([line, *_reader(base, tooltip, on_page)], on_page)


def plane_panel(part: VisitedArchitectures, compared: Comparison, space: SearchSpace, *, on_page: bool) -> Chart:
    """The architectures that one method evaluated, early to late, on the plane that all methods share."""
    points = np.concatenate([visited.xy for visited in compared.visited])
    low, high = points.min(axis=0) - 0.1, points.max(axis=0) + 0.1
    texts = [space.format(arch) for arch in space.architectures(part.codes)] if on_page else [""] * len(part.codes)
    columns = (part.xy[:, 0].round(3).tolist(), part.xy[:, 1].round(3).tolist(), part.when.round(3).tolist())
    rows = [
        {"x": x, "y": y, "when": when, "text": text, "value": "none" if number(value) is None else f"{value:.4g}"}
        for x, y, when, text, value in zip(*columns, texts, part.value.tolist(), strict=True)
    ]
    hidden = alt.Axis(labels=False, ticks=False, grid=False, domain=False)
    chart = alt.Chart(inline(rows)).mark_point(filled=True, size=26, opacity=0.75, strokeWidth=0).encode(
        x=alt.X("x:Q", title=None, axis=hidden, scale=alt.Scale(domain=[float(low[0]), float(high[0])], nice=False)),
        y=alt.Y("y:Q", title=None, axis=hidden, scale=alt.Scale(domain=[float(low[1]), float(high[1])], nice=False)),
        color=alt.Color("when:Q", scale=alt.Scale(scheme=EARLY_TO_LATE, domain=[0, 1]), legend=None),
    )  # fmt: skip
    if on_page:
        chart = chart.encode(tooltip=[alt.Tooltip("value:N", title="value"), alt.Tooltip("text:N", title=space.name)])
        return chart.properties(height=PANEL)
    return chart.properties(width=PANEL, height=PANEL, title=part.method)


def plane_figure(compared: Comparison, space: SearchSpace, *, columns: int = 4) -> Chart:
    """All panels as one figure, for a file."""
    return alt.concat(
        *(plane_panel(part, compared, space, on_page=False) for part in compared.visited), columns=columns
    )


def _round_values(column: NDArray[np.float64]) -> list[float]:
    """Values with four digits: more than can be seen, for a page that is a third smaller."""
    return [significant(value, 4) for value in column.tolist()]


def _base(rows: Sequence[dict[str, Any]], on_page: bool) -> Any:
    chart = alt.Chart(inline(rows))
    return chart.transform_filter("indexof(hidden, datum.method) < 0") if on_page else chart


def _reader(base: Any, tooltip: Sequence[Any], on_page: bool) -> list[Any]:
    """Points that appear where the pointer is nearest."""
    if not on_page:
        return []
    near = alt.selection_point(name="near", nearest=True, on="pointermove", clear="pointerout", empty=False)
    opacity = alt.when(near).then(alt.value(1)).otherwise(alt.value(0))
    return [base.mark_point(filled=True, size=60).encode(opacity=opacity, tooltip=list(tooltip)).add_params(near)]


def _layered(layers: Sequence[Any], on_page: bool, height: int = HEIGHT) -> Chart:
    """One chart of all layers. Altair copies a whole chart to change its size, so it is created with it."""
    if on_page:
        return alt.layer(*layers, height=height).add_params(alt.param(name="hidden", value=[]))
    return NotebookChart(layer=list(layers), width=WIDTH * height // HEIGHT, height=height)


def _colour(styles: Mapping[str, LineStyle], on_page: bool) -> Any:
    colour = alt.Color("method:N", sort=None, title=None)
    colour = colour.scale(domain=list(styles), range=[look.colour for look in styles.values()])
    return colour.legend(symbolOpacity=1, symbolSize=300, symbolType="stroke") if not on_page else colour.legend(None)


def _dash(styles: Mapping[str, LineStyle], on_page: bool) -> Any:
    dash = alt.StrokeDash("method:N", sort=None, title=None)
    dash = dash.scale(domain=list(styles), range=[list(look.dash) for look in styles.values()])
    return dash.legend(None) if on_page else dash.legend(symbolOpacity=1, symbolSize=300, symbolType="stroke")
