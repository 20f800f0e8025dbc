"""Vega-Lite figures: one look for all, static SVG for a page, SVG, PNG and PDF for a paper."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nasbed.core.errors import InvalidOption, nearest
from nasbed.core.files import complete_file
from nasbed.core.metric import Metric
from nasbed.drawing.page import Section, write_numbers, write_page

if TYPE_CHECKING:
    import altair as alt

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#F0E442")
"""Okabe and Ito's palette, told apart with any colour vision; blue and vermilion first."""

FORMATS = ("svg", "png", "pdf")
PNG_SCALE = 2.0

_CONFIG: dict[str, Any] = {
    "background": "white",
    "font": "Arial, Helvetica, 'Liberation Sans', sans-serif",
    "view": {"stroke": "#c8ccd4"},
    "axis": {
        "labelFontSize": 12,
        "titleFontSize": 13,
        "titleFontWeight": "normal",
        "gridColor": "#eceef2",
        "domainColor": "#8a90a0",
        "tickColor": "#8a90a0",
    },
    "header": {"labelFontSize": 13, "titleFontSize": 13, "titleFontWeight": "normal"},
    "legend": {"labelFontSize": 12, "titleFontSize": 12, "titleFontWeight": "normal", "labelLimit": 260},
    "title": {"fontSize": 14, "fontWeight": "normal", "anchor": "start"},
    "range": {"category": list(COLOURS)},
    "line": {"strokeWidth": 2},
    "mark": {"aria": False},
}


def metric_label(metric: Metric) -> str:
    """A metric as the title of an axis, with its unit.

    >>> metric_label(Metric("accuracy", split="validation", unit="%"))
    'validation accuracy [%]'
    """
    name = metric.key.replace("_", " ")
    return f"{name} [{metric.unit}]" if metric.unit else name


def figure_svg(chart: alt.TopLevelMixin, prefix: str) -> str:
    """The figure as SVG for a page: the ids in it start with ``prefix``, so that no two figures share any."""
    svg = _rendered(chart, "svg").decode()
    for name in set(re.findall(r'\bid="([^"]+)"', svg)):
        svg = svg.replace(f'id="{name}"', f'id="{prefix}-{name}"').replace(f"url(#{name})", f"url(#{prefix}-{name})")
    return svg


def save_figure(chart: alt.TopLevelMixin, path: Path) -> None:
    """Write the figure as SVG, PNG or PDF, as the file's suffix says. The file is there whole or not at all."""
    rendered = _rendered(chart, path.suffix.lower().removeprefix("."))
    with complete_file(path) as draft:
        draft.write_bytes(rendered)


def save_figures(charts: Mapping[str, alt.TopLevelMixin], folder: Path, formats: Iterable[str]) -> None:
    """Write every figure by its name in every format into a folder, which is made if need be."""
    formats = tuple(formats)
    for form in formats:
        _check_format(form)
    folder.mkdir(parents=True, exist_ok=True)
    for name, chart in charts.items():
        for form in formats:
            save_figure(chart, folder / f"{name}.{form}")


def _check_format(form: str) -> None:
    if form not in FORMATS:
        raise InvalidOption(f"a figure is written as {', '.join(FORMATS)}, got {form!r}; {nearest(form, FORMATS)}")


def _rendered(chart: alt.TopLevelMixin, form: str) -> bytes:
    import vl_convert

    _check_format(form)
    specification = chart.to_dict()
    specification["config"] = _CONFIG
    text = json.dumps(specification)
    if form == "svg":
        return str(vl_convert.vegalite_to_svg(text)).encode()
    if form == "png":
        return bytes(vl_convert.vegalite_to_png(text, scale=PNG_SCALE))
    return bytes(vl_convert.vegalite_to_pdf(text))


def write_report(
    folder: Path,
    title: str,
    *,
    sections: Sequence[Section],
    figures: Mapping[str, alt.TopLevelMixin],
    numbers: Mapping[str, Any],
    formats: Iterable[str] = ("svg", "png"),
) -> None:
    """Write ``figures/NAME.FORMAT``, ``numbers.json`` and last ``report.html``, in which a section whose ``svg`` is the
    name of a figure shows it."""
    save_figures(figures, folder / "figures", formats)
    write_numbers(folder, numbers)
    shown = [replace(each, svg=figure_svg(figures[each.svg], each.svg)) if each.svg else each for each in sections]
    write_page(folder / "report.html", title, shown)
