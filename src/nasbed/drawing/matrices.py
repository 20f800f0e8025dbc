"""Matrices of numbers as coloured cells."""

from __future__ import annotations

from collections.abc import Sequence

import altair as alt
import numpy as np
from numpy.typing import NDArray

from nasbed.drawing.marks import DIVERGING, Chart, inline, number
from nasbed.drawing.palette import ON_DARK, ON_LIGHT, PAPER

CELL_WIDTH, CELL_HEIGHT = 74, 34


def matrix_figure(
    values: NDArray[np.float64],
    rows: Sequence[str],
    columns: Sequence[str],
    *,
    title: str,
    extent: float,
    digits: int = 2,
    row_title: str | None = None,
    column_title: str | None = None,
) -> Chart:
    """A coloured cell with its number for each entry, light at zero and dark at ``-extent`` and ``extent``.

    Args:
        values: ``[rows, columns]``; NaN leaves a cell white.
        rows, columns: their names.
        title: above the figure.
        extent: the value with the darkest colour; larger ones have it too.
        digits: after the decimal point.
        row_title, column_title: what the names are.
    """
    cells = [
        {"row": row, "column": column, "value": number(float(values[i, j])), "text": _text(values[i, j], digits)}
        for i, row in enumerate(rows)
        for j, column in enumerate(columns)
    ]
    base = alt.Chart(inline(cells)).encode(
        alt.X("column:N", title=column_title, sort=list(columns)).axis(
            orient="top", labelAngle=-30, domain=False, ticks=False, labelLimit=160
        ),
        alt.Y("row:N", title=row_title, sort=list(rows)).axis(domain=False, ticks=False, labelLimit=200),
    )
    scale = alt.Scale(scheme=DIVERGING, domain=[-extent, extent], domainMid=0, clamp=True)
    squares = base.mark_rect(stroke=PAPER, strokeWidth=1).encode(alt.Color("value:Q", legend=None).scale(scale))
    text = base.mark_text(fontSize=12).encode(
        alt.Text("text:N"),
        color=alt.condition(f"abs(datum.value) > {0.66 * extent}", alt.value(ON_DARK), alt.value(ON_LIGHT)),
    )
    return (squares + text).properties(title=title, width=CELL_WIDTH * len(columns), height=CELL_HEIGHT * len(rows))


def _text(value: float, digits: int) -> str:
    return "" if np.isnan(value) else f"{value:.{digits}f}".replace("-", "−")
