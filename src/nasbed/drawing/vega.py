"""Charts as Vega specifications for a page, and the runtime that draws them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

from nasbed.core.files import complete_file
from nasbed.core.home import cache_folder
from nasbed.drawing.legends import legend_names, with_own_legends
from nasbed.drawing.palette import COLOURS, HUES
from nasbed.drawing.themes import PAGE_THEME

LEGEND_WIDTH = 310
"""Pixels per row of legend entries, so that they fit a narrow window."""
TALLEST = 460
"""The height in pixels up to which a square chart grows with its place."""


def chart_size(chart: Mapping[str, Any], key: str) -> float:
    """The ``width`` or ``height`` of a chart in pixels, of its layers where it has none, 0 if unknown."""
    sizes = [chart.get(key), *(layer.get(key) for layer in chart.get("layer", ()))]
    return next((size for size in sizes if isinstance(size, int | float)), 0.0)


def is_square(chart: Mapping[str, Any]) -> bool:
    """Whether a chart is as wide as it is high."""
    return chart_size(chart, "width") == chart_size(chart, "height") > 0


def specification(chart: Mapping[str, Any]) -> dict[str, Any]:
    """A single or layered Vega-Lite chart as a Vega specification as wide as its place on the page."""
    import vl_convert

    chart = with_own_legends(chart)
    longest = max(map(len, legend_names(chart)), default=1)
    columns = max(1, int(LEGEND_WIDTH / (34 + 6.3 * longest)))
    theme = PAGE_THEME | {"legend": PAGE_THEME["legend"] | {"columns": columns}}
    description = {key: value for key, value in chart.items() if key != "$schema"}
    description |= {"width": "container", "config": theme, "autosize": {"type": "fit-x", "contains": "padding"}}
    description["padding"] = {"left": 5, "top": 5, "bottom": 5, "right": 5 + _label_overhang(chart)}
    text = json.dumps(description).replace(f'"{COLOURS[6]}"', f'"{HUES[6]}"')  # black is lost on a dark page
    compiled: dict[str, Any] = vl_convert.vegalite_to_vega(text)
    compiled.pop("$schema", None)
    if is_square(chart):
        height = chart_size(chart, "height")
        compiled.pop("height", None)
        compiled["signals"] = [
            *compiled.get("signals", ()),
            {"name": "height", "update": f"clamp(0.8 * width, {min(height, 200)}, {max(height, TALLEST)})"},
        ]
    return compiled


def _label_overhang(chart: Mapping[str, Any]) -> float:
    """Pixels by which the last slanted label above a matrix extends to the right."""
    for unit in (chart, *chart.get("layer", ())):
        x = unit.get("encoding", {}).get("x", {})
        if (x.get("axis") or {}).get("labelAngle", 0) and isinstance(x.get("sort"), list):
            return max(0.0, 5.6 * len(str(x["sort"][-1])) - 24)
    return 0.0


@cache
def runtime() -> str:
    """Vega as one script, which defines ``vegaEmbed``. It takes a second or two to make and is kept for later pages."""
    file = runtime_file()
    with suppress(OSError):
        return file.read_text(encoding="utf-8")

    import vl_convert

    bundle = str(vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;"))
    script = bundle.replace("</script", "<\\/script")
    with suppress(OSError):  # a home that cannot be written costs the time again, nothing else
        file.parent.mkdir(parents=True, exist_ok=True)
        with complete_file(file) as draft:
            draft.write_text(script, encoding="utf-8")
    return script


def runtime_file() -> Path:
    """Where the script is kept: one file for each version of the package that makes it."""
    return cache_folder() / f"vega-{version('vl-convert-python')}.js"
