"""Charts for a page, split into panels that the page arranges."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from nasbed.drawing.marks import Chart
from nasbed.drawing.vega import TALLEST, chart_size, is_square, specification


@dataclass(frozen=True, slots=True)
class PagePanel:
    """A single chart.

    Panels are arranged below each other where one would be narrower than ``least_rem``, or if they are ``stacked``,
    which means that they share an axis. ``most_rem`` limits the width of a square chart or a matrix of coloured cells;
    it is 0 for all other charts. Axes of panels side by side are aligned, unless their heights are ``uneven``: then
    they begin at the same height.
    """

    name: str
    title: str
    specification: Mapping[str, Any]
    least_rem: float
    most_rem: float
    stacked: bool
    uneven: bool


CONCATENATED = ("hconcat", "vconcat", "concat")
UNEVEN = 1.5
"""Panels one of which is more than this many times as tall as another are uneven."""


def page_panels(name: str, chart: Chart) -> list[PagePanel]:
    """The panels of a chart: itself, or the charts that it concatenates, for the page to arrange.

    Specifications are compiled here, so that an invalid one fails when the page is written, not when it is viewed.
    """
    description = chart.to_dict(validate=False)
    rows = description.get("vconcat", ())
    stacked = bool(rows) and not any(kind in row for row in rows for kind in CONCATENATED)
    parts = list(_parts(description))
    least = max(_least_rem(part) for part in parts)
    heights = [chart_size(part, "height") for part in parts]
    uneven = max(heights) > UNEVEN * min(heights) > 0
    return [
        PagePanel(
            name if len(parts) == 1 else f"{name}-{number}",
            _take_title(part),
            specification(part),
            least,
            _most_rem(part),
            stacked,
            uneven,
        )
        for number, part in enumerate(parts, 1)
    ]


def _parts(chart: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The single and layered charts within a chart, each with the data that it refers to."""
    kind = next((kind for kind in CONCATENATED if kind in chart), None)
    if kind is None:
        yield chart
        return
    shared = {key: chart[key] for key in ("data", "datasets") if key in chart}
    for part in chart[kind]:
        yield from _parts(shared | part)


def _take_title(chart: dict[str, Any]) -> str:
    """The title, which the page itself writes above the chart."""
    title = chart.pop("title", "")
    text = title.get("text", "") if isinstance(title, dict) else title
    return ", ".join(text) if isinstance(text, list) else text


REM = 16
AXIS = 56
"""The width in pixels of an axis with its title."""


def _least_rem(chart: Mapping[str, Any]) -> float:
    width = chart_size(chart, "width") or 2 * REM * REM
    return round(min(max(0.85 * (width + AXIS) / REM, 13.0), 30.0), 2)


def _most_rem(chart: Mapping[str, Any]) -> float:
    """Cells of a matrix may grow to twice their width, and a square to half as wide again as it is tall."""
    if is_square(chart):
        return round(1.6 * TALLEST / REM, 2)
    kinds = {channel: set[str]() for channel in ("x", "y")}
    for unit in (chart, *chart.get("layer", ())):
        for channel, encoding in unit.get("encoding", {}).items():
            if channel in kinds and "type" in encoding:
                kinds[channel].add(encoding["type"])
    discrete = all(types and types <= {"nominal", "ordinal"} for types in kinds.values())
    return round((2 * chart_size(chart, "width") + 8 * REM) / REM, 2) if discrete else 0.0
