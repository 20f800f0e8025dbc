"""A panel of a validation's page: its size, its colours, and the shapes that several parts share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import altair as alt

from nasbed.drawing.marks import Chart
from nasbed.drawing.palette import HUES


@dataclass(frozen=True, slots=True)
class Panel:
    """One figure: its file name, its heading, and the chart."""

    name: str
    title: str
    chart: Chart


WIDTH, HEIGHT, SQUARE = 300, 220, 200
"""The size of a panel in pixels, and the side of one whose axes are alike."""


def name_colours(names: Sequence[str], field: str = "name") -> Any:
    """A colour for each name, visible on white and on black; the legend is above the panel."""
    scale = alt.Scale(domain=list(names), range=[HUES[place % len(HUES)] for place in range(len(names))])
    colour = alt.Color(f"{field}:N", sort=list(names), title=None).scale(scale)
    columns = max(1, WIDTH // (26 + 7 * max(map(len, names), default=1)))
    legend = alt.Legend(orient="top", columns=columns, symbolOpacity=1, labelLimit=WIDTH)
    return colour.legend(legend if len(names) > 1 else None)
