"""Curves over simulated time that several studies draw: a median line with its quartile band."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import altair as alt

from nasbed.core.metric import Metric
from nasbed.drawing.marks import Chart, inline, log_ticks, reader
from nasbed.drawing.palette import COLOURS, FAINT
from nasbed.drawing.themes import NUMBER
from nasbed.evaluation.anytime import Anytime

TIME = "simulated time [s]"


@dataclass(frozen=True, slots=True)
class Axes:
    """The logarithmic axes that panels share, so that they can be compared by eye.

    ``times_s`` and ``regrets`` are from the lowest to the highest value; regrets below are drawn at the lowest.
    """

    times_s: tuple[float, float]
    regrets: tuple[float, float]
    title: str
    across: str = TIME

    @classmethod
    def over(cls, curves: Iterable[Anytime], metric: Metric, *, span: float = math.inf, across: str = TIME) -> Axes:
        """Axes for all curves, or for the part after the last time divided by ``span``.

        ``across`` is the title of the horizontal axis, where that is not time.
        """
        nonempty = [curve for curve in curves if len(curve.time_s)]
        times = [float(end) for curve in nonempty for end in (curve.time_s[0], curve.time_s[-1])] or [1.0, 10.0]
        first = max(min(times), max(times) / span)
        rows = [row for curve in nonempty for row in curve_rows("", curve, first, 0.0)]
        values = [row[end] for row in rows for end in ("low", "high") if math.isfinite(row[end])]
        positive = [value for value in values if value > 0] or [1.0]
        floor = max(min(positive) / 2, max(positive) / 1e4)
        unit = f" [{metric.unit}]" if metric.unit else ""
        kind = "test regret" if metric.split == "test" else "regret of the mean"
        return cls((first, max(times)), (floor, max(positive) * 1.1), f"{kind}{unit}", across)

    def x(self, field: str) -> Any:
        scale = alt.Scale(type="log", domain=list(self.times_s), nice=False)
        return alt.X(f"{field}:Q", title=self.across).scale(scale).axis(values=log_ticks(*self.times_s), grid=False)

    def y(self, field: str) -> Any:
        scale = alt.Scale(type="log", domain=list(self.regrets), nice=False, clamp=True)
        return alt.Y(f"{field}:Q", title=self.title).scale(scale).axis(values=log_ticks(*self.regrets))

    def rows(self, name: str, curve: Anytime) -> list[dict[str, Any]]:
        """The points of a curve within the axes."""
        return curve_rows(name, curve, self.times_s[0], self.regrets[0])


def curve_rows(name: str, curve: Anytime, first_s: float, floor: float) -> list[dict[str, Any]]:
    """The points of a curve from a time on; those below the floor are moved to it."""
    columns = (curve.time_s.tolist(), curve.median.tolist(), curve.low.tolist(), curve.high.tolist())
    return [
        {"name": name, "x": time, "middle": max(middle, floor), "low": max(low, floor), "high": max(high, floor)}
        for time, middle, low, high in zip(*columns, strict=True)
        if math.isfinite(middle) and time >= first_s
    ]


def curve_layers(curves: Mapping[str, Anytime], axes: Axes, colour: Any) -> Chart:
    """A line and a band per curve, and points that show a tooltip."""
    rows = [row for name, curve in curves.items() for row in axes.rows(name, curve)]
    base = alt.Chart(inline(rows)).encode(axes.x("x"), color=colour)
    band = base.mark_area(opacity=0.15, interpolate="step-after").encode(axes.y("low"), alt.Y2("high:Q"))
    line = base.mark_line(interpolate="step-after").encode(axes.y("middle"))
    return alt.layer(band, line, _reader(base, axes, alt.Tooltip("name:N", title="method")))


def panel(curves: Mapping[str, Anytime], axes: Axes, *, width: int, height: int, title: str = "") -> Chart:
    """Curves in colours, with a legend.

    Args:
        curves: by name.
        axes: shared with other panels.
        width, height: in pixels.
        title: above the panel, if any.
    """
    colour = alt.Color("name:N", sort=None, title=None).scale(domain=list(curves), range=list(COLOURS[: len(curves)]))
    chart = curve_layers(curves, axes, colour.legend(symbolOpacity=1, symbolType="stroke"))
    chart = chart.properties(width=width, height=height)
    return chart.properties(title=title) if title else chart


def over_baseline(curve: Anytime, baseline: Anytime, axes: Axes, *, width: int, height: int) -> Chart:
    """One curve in colour over a faint baseline.

    Args:
        curve: in colour.
        baseline: in grey.
        axes: shared with other panels.
        width, height: in pixels.
    """
    layers = []
    for line, colour, opacity, dash in ((baseline, FAINT, 0.2, [4, 3]), (curve, COLOURS[0], 0.25, [1, 0])):
        base = alt.Chart(inline(axes.rows("", line))).encode(axes.x("x"))
        layers.append(
            base.mark_area(opacity=opacity, color=colour, interpolate="step-after").encode(
                axes.y("low"), alt.Y2("high:Q")
            )
        )
        layers.append(base.mark_line(color=colour, strokeDash=dash, interpolate="step-after").encode(axes.y("middle")))
    return alt.layer(*layers, _reader(base, axes)).properties(width=width, height=height)


def _reader(base: Any, axes: Axes, *tooltips: Any) -> Chart:
    numbers = {"x": axes.across, "middle": "median", "low": "quartiles from", "high": "to"}
    return reader(
        base.encode(axes.y("middle")),
        [*tooltips, *(alt.Tooltip(f"{field}:Q", title=title, format=NUMBER) for field, title in numbers.items())],
    )


def side_by_side(panels: Sequence[Chart]) -> Chart:
    """Panels in a row, with one legend."""
    return alt.hconcat(*panels, spacing=36)
