"""Charts for a page: Vega specifications as wide as their place, one panel each, and the runtime that draws them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from nasbed.drawing.marks import Chart
from nasbed.drawing.palette import COLOURS, HUES
from nasbed.drawing.themes import PAGE_THEME

CONCATENATED = ("hconcat", "vconcat", "concat")
REM = 16
AXIS = 56
"""Pixels that an axis with its title takes beside a chart."""
LEGEND_WIDTH = 310
"""Pixels that the entries of a legend share in a row, so that they fit a narrow window."""
TALLEST = 460
"""Pixels: a square chart grows with its place up to this height."""


@dataclass(frozen=True, slots=True)
class PagePanel:
    """One chart with nothing beside it. ``stacked`` panels share an axis and stand below each other."""

    name: str
    title: str
    specification: Mapping[str, Any]
    least_rem: float
    """Narrower than this, panels go below each other."""
    most_rem: float
    """How wide a square chart or a matrix of coloured cells may become; 0 for all other charts."""
    stacked: bool


def page_panels(name: str, chart: Chart) -> list[PagePanel]:
    """The panels of a chart: itself, or the charts that it puts beside each other, for the page to arrange.

    The specifications are compiled here, so that a faulty one fails when the page is written, not when it is read.
    """
    description = chart.to_dict(validate=False)
    rows = description.get("vconcat", ())
    stacked = bool(rows) and not any(kind in row for row in rows for kind in CONCATENATED)
    parts = list(_parts(description))
    least = max(_least_rem(part) for part in parts)
    return [
        PagePanel(
            name if len(parts) == 1 else f"{name}-{number}",
            _take_title(part),
            specification(part),
            least,
            _most_rem(part),
            stacked,
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


def _size(chart: Mapping[str, Any], key: str) -> float:
    sizes = [chart.get(key), *(layer.get(key) for layer in chart.get("layer", ()))]
    return next((size for size in sizes if isinstance(size, int | float)), 0.0)


def _is_square(chart: Mapping[str, Any]) -> bool:
    return _size(chart, "width") == _size(chart, "height") > 0


def _least_rem(chart: Mapping[str, Any]) -> float:
    width = _size(chart, "width") or 2 * REM * REM
    return round(min(max(0.85 * (width + AXIS) / REM, 13.0), 30.0), 2)


def _most_rem(chart: Mapping[str, Any]) -> float:
    """Cells of a matrix may grow to twice their width, and a square to half as wide again as it is tall."""
    if _is_square(chart):
        return round(1.6 * TALLEST / REM, 2)
    kinds = {channel: set[str]() for channel in ("x", "y")}
    for unit in (chart, *chart.get("layer", ())):
        for channel, encoding in unit.get("encoding", {}).items():
            if channel in kinds and "type" in encoding:
                kinds[channel].add(encoding["type"])
    discrete = all(types and types <= {"nominal", "ordinal"} for types in kinds.values())
    return round((2 * _size(chart, "width") + 8 * REM) / REM, 2) if discrete else 0.0


def specification(chart: Mapping[str, Any]) -> dict[str, Any]:
    """A single or layered Vega-Lite chart as a Vega specification as wide as its place on the page."""
    import vl_convert

    names = list(_names(chart))
    columns = max(1, LEGEND_WIDTH // (34 + 7 * max(map(len, names), default=1)))
    theme = PAGE_THEME | {"legend": PAGE_THEME["legend"] | {"columns": columns}}
    description = {key: value for key, value in chart.items() if key != "$schema"}
    description |= {"width": "container", "config": theme, "autosize": {"type": "fit-x", "contains": "padding"}}
    description["padding"] = {"left": 5, "top": 5, "bottom": 5, "right": 5 + _slanted(chart)}
    text = json.dumps(description).replace(f'"{COLOURS[6]}"', f'"{HUES[6]}"')  # black is lost on a dark page
    compiled: dict[str, Any] = vl_convert.vegalite_to_vega(text)
    compiled.pop("$schema", None)
    if _is_square(chart):
        height = _size(chart, "height")
        compiled.pop("height", None)
        compiled["signals"] = [
            *compiled.get("signals", ()),
            {"name": "height", "update": f"clamp(0.8 * width, {min(height, 200)}, {max(height, TALLEST)})"},
        ]
    return compiled


def _slanted(chart: Mapping[str, Any]) -> float:
    """Pixels by which the last of slanted labels above a matrix stands out to the right."""
    for unit in (chart, *chart.get("layer", ())):
        x = unit.get("encoding", {}).get("x", {})
        if (x.get("axis") or {}).get("labelAngle", 0) and isinstance(x.get("sort"), list):
            return max(0.0, 5.6 * len(str(x["sort"][-1])) - 24)
    return 0.0


def _names(value: Any) -> Iterator[str]:
    """The entries of legends: texts in the domains of colours, shapes and dashes."""
    if isinstance(value, dict):
        for key, part in value.items():
            if key in ("color", "shape", "strokeDash") and isinstance(part, dict):
                domain = (part.get("scale") or {}).get("domain", ())
                yield from (name for name in domain if isinstance(name, str))
            elif key not in ("datasets", "data"):
                yield from _names(part)
    elif isinstance(value, list):
        for part in value:
            yield from _names(part)


@cache
def runtime() -> str:
    """Vega as one script, which defines ``vegaEmbed``."""
    import vl_convert

    bundle = str(vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;"))
    return bundle.replace("</script", "<\\/script")
