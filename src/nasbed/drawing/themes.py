"""The look of charts as Vega-Lite configurations: for files on white paper, and for pages, light or dark."""

from __future__ import annotations

from typing import Any

from nasbed.drawing.palette import COLOURS, HUES, INK

NUMBER = ",.6~r"
"""The format of numbers in tooltips: up to six digits, thousands separated, no exponent, no prefix."""
READER = "reader"
"""The name of invisible layers that only have tooltips."""
_TOOLTIP = {"tooltip": {"content": "encoding"}}
_TEXT = {"labelFontSize": 12, "titleFontSize": 13, "titleFontWeight": "normal"}

FILE_THEME: dict[str, Any] = {
    "background": "white",
    "font": "Arial, Helvetica, 'Liberation Sans', sans-serif",
    "view": {"stroke": "#c8ccd4"},
    "axis": {**_TEXT, "gridColor": "#eceef2", "domainColor": "#8a90a0", "tickColor": "#8a90a0"},
    "header": _TEXT,
    "legend": {**_TEXT, "titleFontSize": 12, "labelLimit": 260},
    "title": {"fontSize": 14, "fontWeight": "normal", "anchor": "start"},
    "range": {"category": list(COLOURS)},
    "line": {"strokeWidth": 2},
    "mark": {"aria": False},
}
"""The theme of charts in files."""

PAGE_THEME: dict[str, Any] = {
    "background": "transparent",
    "font": "system-ui, 'Liberation Sans', sans-serif",
    "view": {"stroke": None},
    "axis": {
        **_TEXT,
        "labelColor": INK,
        "titleColor": INK,
        "gridColor": "#e4e7ec",
        "domainColor": "#667085",
        "tickColor": "#667085",
        "titlePadding": 8,
    },
    "axisQuantitative": {"labelOverlap": "greedy", "labelSeparation": 6},
    "axisDiscrete": {"labelOverlap": False},
    "legend": {**_TEXT, "labelColor": INK, "titleColor": INK, "orient": "top", "labelLimit": 300, "offset": 8},
    "title": {"fontSize": 13, "fontWeight": "normal", "anchor": "start"},
    "range": {"category": list(HUES)},
    "line": {"strokeWidth": 2},
    "mark": {"aria": False},
    "tooltipFormat": {"numberFormat": NUMBER},
    **dict.fromkeys(("point", "circle", "square", "rect", "bar", "tick"), _TOOLTIP),
}
"""The theme of charts on a page: as wide as their place, the legend above, with tooltips."""
