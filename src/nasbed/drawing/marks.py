"""Parts shared by several figures."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final

import altair as alt
import numpy as np

from nasbed.drawing.palette import COLOURS, DASHES, FAINT
from nasbed.drawing.themes import READER
from nasbed.evaluation.landscape import BinnedMean, GroupMeans

Chart = Any
"""Any altair chart: its classes share no useful base."""

WIDTH, HEIGHT = 360, 260
SEQUENTIAL: Final = "viridis"
DIVERGING: Final = "blueorange"
"""Colour maps that are readable with any colour vision; the first also in grey."""
DASHED: Final[dict[str, Any]] = {"color": FAINT, "strokeDash": [4, 3]}
"""The look of a line to compare with."""
SHAPES: Final = ("circle", "square", "triangle-up")


def inline(rows: Sequence[dict[str, Any]]) -> Any:
    """Rows as the data of a chart."""
    return alt.InlineData(values=list(rows))


def series(names: Sequence[str], field: str, title: str | None) -> Any:
    """A colour per name, in this order; a single name has no legend."""
    colour = alt.Color(f"{field}:N", sort=list(names), title=title)
    colour = colour.scale(domain=list(names), range=[COLOURS[i % len(COLOURS)] for i in range(len(names))])
    return colour.legend(symbolOpacity=1) if len(names) > 1 else colour.legend(None)


def shapes(names: Sequence[str], field: str, title: str | None) -> Any:
    """A shape of points per name, beside :func:`series`: another one where its colours begin again."""
    shape = alt.Shape(f"{field}:N", sort=list(names), title=title)
    shape = shape.scale(domain=list(names), range=[_again(SHAPES, place) for place in range(len(names))])
    return shape.legend(symbolOpacity=1) if len(names) > 1 else shape.legend(None)


def dashes(names: Sequence[str], field: str, title: str | None) -> Any:
    """A kind of line per name, beside :func:`series`: another one where its colours begin again."""
    dash = alt.StrokeDash(f"{field}:N", sort=list(names), title=title)
    dash = dash.scale(domain=list(names), range=[list(_again(DASHES, place)) for place in range(len(names))])
    return dash.legend(symbolOpacity=1) if len(names) > 1 else dash.legend(None)


def _again(looks: Sequence[Any], place: int) -> Any:
    return looks[place // len(COLOURS) % len(looks)]


def log_ticks(low: float, high: float) -> list[float]:
    """Round numbers on a logarithmic axis: powers of ten, and 2 and 5 times these where there are few.

    >>> log_ticks(1, 100_000), log_ticks(3, 300), log_ticks(0.3, 0.9)
    ([1.0, 10.0, 100.0, 1000.0, 10000.0, 100000.0], [5.0, 10.0, 20.0, 50.0, 100.0, 200.0], [0.3, 0.4, 0.6, 0.8])
    """
    powers = range(math.floor(math.log10(low)) - 1, math.ceil(math.log10(high)) + 1)
    for factors in ((1,), (1, 2, 5), (1, 1.5, 2, 3, 4, 6, 8)):
        ticks = [float(f"{factor}e{power}") for power in powers for factor in factors]
        ticks = [tick for tick in ticks if low <= tick <= high]
        if len(ticks) >= 4:
            break
    return ticks


def diagonal_line(ends: Sequence[float], *, x: Any = "x:Q", y: Any = "y:Q", width: float = 1.5) -> Chart:
    """The dashed line on which both axes are equal."""
    return (
        alt.Chart(inline([{"x": end, "y": end} for end in ends]))
        .mark_line(**DASHED, strokeWidth=width)
        .encode(x=x, y=y)
    )


def level_line(height: float) -> Chart:
    """A dashed horizontal line."""
    return alt.Chart(inline([{"y": height}])).mark_rule(**DASHED).encode(alt.Y("y:Q"))


def dots(colour: str | None = None) -> dict[str, Any]:
    """Points on a line."""
    return {"size": 45, "filled": True} | ({"color": colour} if colour else {})


def reader(base: Any, tooltip: Sequence[Any]) -> Chart:
    """Invisible points with tooltips, for pages only: files omit them."""
    return base.mark_point(filled=True, opacity=0, size=160).encode(tooltip=list(tooltip)).properties(name=READER)


def beside(*charts: Chart) -> Chart:
    """Panels in a row, each with its own colours and legend."""
    return alt.hconcat(*charts, spacing=32).resolve_scale(color="independent") if len(charts) > 1 else charts[0]


def mean_rows(groups: GroupMeans) -> list[dict[str, Any]]:
    """Each group's key, mean, the ends of one standard error either way, and count."""
    errors = np.nan_to_num(groups.standard_errors)
    columns = (groups.keys, groups.means, groups.means - errors, groups.means + errors, groups.counts)
    names = ("key", "mean", "low", "high", "count")
    return [dict(zip(names, row, strict=True)) for row in zip(*(column.tolist() for column in columns), strict=True)]


def rectangles(binned: BinnedMean, scale: float = 1.0) -> list[dict[str, Any]]:
    """Each rectangle that is not empty, ``y`` multiplied by ``scale``."""
    xs, ys = binned.x_edges, binned.y_edges * scale
    return [
        {
            "x": float(xs[i]),
            "x2": float(xs[i + 1]),
            "y": float(ys[j]),
            "y2": float(ys[j + 1]),
            "count": int(binned.counts[i, j]),
            "mean": float(binned.means[i, j]),
        }
        for i, j in zip(*np.nonzero(binned.counts), strict=True)
    ]


def colour_range(cells: Sequence[dict[str, Any]]) -> tuple[float, float]:
    """The range of colours, from the 2 % to the 98 % quantile over architectures, so that outliers do not widen it."""
    means = np.repeat([cell["mean"] for cell in cells], [cell["count"] for cell in cells])
    low, high = np.quantile(means, [0.02, 0.98])
    return (float(low), float(high)) if high > low else (float(low), float(low) + 1.0)


def significant(value: float, count: int) -> float:
    """A number rounded to significant digits, as many as can be seen: pages get smaller.

    >>> significant(1234567.0, 4), significant(0.00123456, 4)
    (1235000.0, 0.001235)
    """
    return float(f"{value:.{count}g}")


def number(value: float) -> float | None:
    """A number for JSON, which has no NaN."""
    return float(value) if math.isfinite(value) else None
