"""What a notebook shows in a cell: a card of facts and a table, and charts that need no network."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import altair as alt

from nasbed.drawing.page import environment
from nasbed.drawing.themes import FILE_THEME


@dataclass(frozen=True, slots=True)
class NotebookCard:
    """A title, a trusted picture as SVG, facts by name, a table, lines of text, and code to copy."""

    title: str
    facts: Mapping[str, object] = field(default_factory=dict)
    picture: str = ""
    columns: Sequence[str] = ()
    rows: Sequence[Sequence[object]] = ()
    lines: Sequence[str] = ()
    code: str = ""

    def html(self) -> str:
        """The card as HTML; every text is escaped."""
        return environment().get_template("notebook.html").render(card=self)


class NotebookChart(alt.LayerChart):
    """A layered chart that a notebook shows without a network.

    A notebook that draws Vega-Lite itself, as JupyterLab and VS Code do, gets the chart; any other gets it as SVG.
    Altair alone would load its scripts from the web.
    """

    def _repr_mimebundle_(self, *_: Any, **__: Any) -> dict[str, Any]:
        import vl_convert

        chart = self.to_dict()
        chart["config"] = {**FILE_THEME, **chart.get("config", {})}
        version = alt.SCHEMA_VERSION.removeprefix("v").partition(".")[0]
        return {
            f"application/vnd.vegalite.v{version}+json": chart,
            "image/svg+xml": str(vl_convert.vegalite_to_svg(json.dumps(chart))),
            "text/plain": repr(self),
        }
