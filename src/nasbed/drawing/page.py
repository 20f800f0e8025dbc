"""One self-contained HTML page: facts, tables and figures in one style, light and dark, nothing fetched."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nasbed.core.files import complete_file
from nasbed.drawing.blocks import Figure, PageBlock

if TYPE_CHECKING:
    from jinja2 import Environment

    from nasbed.drawing.marks import Chart
    from nasbed.drawing.panels import PagePanel

POLICY = "default-src 'none'; script-src 'unsafe-inline' 'unsafe-eval'; style-src 'unsafe-inline'; img-src data:"
"""The policy forbids the browser to fetch anything. Vega compiles its expressions, so it needs unsafe-eval."""


@dataclass(frozen=True, slots=True)
class Section:
    """A heading, facts by name, an explaining paragraph, trusted HTML, and blocks of :mod:`nasbed.drawing.blocks`."""

    title: str
    facts: Mapping[str, object]
    text: str = ""
    html: str = ""
    blocks: Sequence[PageBlock] = ()


def write_page(
    path: str | Path, title: str, sections: Sequence[Section], *, charts: Mapping[str, Chart] | None = None
) -> None:
    """Write the page; the file appears only when it is complete. Blocks refer to ``charts`` by name."""
    path = Path(path)
    figures = {}
    if charts:
        from nasbed.drawing.panels import page_panels
        from nasbed.drawing.vega import runtime

        figures = {name: page_panels(name, chart) for name, chart in charts.items()}
    html = environment().get_template("page.html").render(
        title=title,
        sections=sections,
        figures=figures,
        policy=POLICY,
        style=_source("style.css"),
        script=_source("page.js"),
        runtime=runtime() if charts else "",
    )  # fmt: skip
    with complete_file(path) as draft:
        draft.write_text(html, encoding="utf-8")


def write_numbers(folder: str | Path, numbers: Mapping[str, Any]) -> None:
    """Write ``numbers.json``, the numbers of a page for scripts, into a folder, which is created if needed."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    with complete_file(folder / "numbers.json") as draft:
        draft.write_text(json.dumps(numbers, indent=1, ensure_ascii=False, allow_nan=False) + "\n", encoding="utf-8")


@cache
def environment() -> Environment:
    """The templates under ``templates``, which escape every text."""
    from jinja2 import Environment, FunctionLoader, StrictUndefined

    environment = Environment(
        loader=FunctionLoader(_source),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
    )
    environment.filters |= {"readable": _readable, "script_json": _script_json, "least_rem": _least_rem}
    return environment


def _source(name: str) -> str:
    return files("nasbed.drawing").joinpath("templates", *name.split("/")).read_text(encoding="utf-8")


def _least_rem(cards: Sequence[Figure], figures: Mapping[str, Sequence[PagePanel]]) -> float:
    """The smallest width of cards with these figures: that of the widest panel and its margins."""
    return 2 + max(figures[figure.name][0].least_rem for figure in cards)


def _script_json(value: Any) -> Any:
    """JSON for a script element: less-than signs are escaped, so that no text can end the element."""
    from markupsafe import Markup

    text = json.dumps(value, allow_nan=False, separators=(",", ":"), ensure_ascii=False)
    return Markup(text.replace("<", "\\u003c"))


def _readable(fact: object) -> str:
    """A fact as text, the digits of an integer in groups of three."""
    try:
        return f"{fact:,d}".replace(",", "\u2009")
    except (TypeError, ValueError):
        return str(fact)
