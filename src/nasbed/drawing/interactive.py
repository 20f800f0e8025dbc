"""Figures that answer to the pointer, on a page that needs nothing else: Vega specifications, one copy of the runtime,
a legend that all figures share, and colours that follow the reader's light or dark mode."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from html import escape
from typing import Any

from nasbed.drawing.figures import COLOURS
from nasbed.drawing.marks import Chart

HUES = (*COLOURS[:6], "#8A8F98")
"""The colours that show on white and on black."""
DASHES: tuple[tuple[int, ...], ...] = ((1, 0), (7, 3), (2, 3))
"""With seven colours, 21 kinds of line that are told apart with any colour vision."""

POLICY = "default-src 'none'; script-src 'unsafe-inline' 'unsafe-eval'; style-src 'unsafe-inline'; img-src data:"
"""The browser itself refuses to fetch anything for the page. (Vega compiles its expressions: it needs unsafe-eval.)"""


@dataclass(frozen=True, slots=True)
class Look:
    """How a method is drawn, the same in all figures."""

    colour: str
    dash: tuple[int, ...]


def looks(methods: Sequence[str]) -> dict[str, Look]:
    """By position: colours first, then the same colours dashed, then dotted.

    >>> looks(["rs", "re"])["re"]
    Look(colour='#D55E00', dash=(1, 0))
    """
    return {method: Look(HUES[i % len(HUES)], DASHES[i // len(HUES) % len(DASHES)]) for i, method in enumerate(methods)}


_INK, _FAINT, _LINE = "#1f2430", "#667085", "#e4e7ec"
_CONFIG: dict[str, Any] = {
    "background": "transparent",
    "font": "system-ui, 'Liberation Sans', sans-serif",
    "view": {"stroke": None},
    "axis": {
        "labelFontSize": 12,
        "titleFontSize": 13,
        "titleFontWeight": "normal",
        "labelColor": _INK,
        "titleColor": _INK,
        "gridColor": _LINE,
        "domainColor": _FAINT,
        "tickColor": _FAINT,
        "labelOverlap": "greedy",
    },
    "legend": {"labelColor": _INK, "titleColor": _INK, "titleFontWeight": "normal"},
    "line": {"strokeWidth": 2},
}

STYLE = """
:root { color-scheme: light dark; --paper: #fff; --raised: #f6f7f9; --tip: #1f2430; --on-tip: #fff; }
@media (prefers-color-scheme: dark) {
:root { --paper: #14171f; --raised: #1d212c; --ink: #e6e9ef; --faint: #9aa4b5; --line: #2e3442; --tip: #e6e9ef;
--on-tip: #14171f; }
}
html { background: var(--paper); }
body { overflow-wrap: anywhere; }
.chart { width: 100%; min-height: 60px; }
.chart svg { display: block; }
.chart .role-axis-label text, .chart .role-axis-title text, .chart .role-legend-label text,
.chart .role-legend-title text, .chart .role-title text { fill: var(--ink); }
.chart .role-axis-grid line { stroke: var(--line); }
.chart .role-axis-domain line, .chart .role-axis-tick line { stroke: var(--faint); }
.legend { position: sticky; top: 0; z-index: 2; display: flex; flex-wrap: wrap; gap: .35rem; padding: .6rem 0;
background: var(--paper); border-bottom: 1px solid var(--line); }
.legend button { display: inline-flex; align-items: center; gap: .4rem; font: inherit; font-size: .85rem;
color: var(--ink); background: var(--raised); border: 1px solid var(--line); border-radius: 1rem;
padding: .15rem .7rem; cursor: pointer; flex: none; max-width: 100%; text-align: left; }
.legend button[aria-pressed=false] { opacity: .45; text-decoration: line-through; }
.key { width: 1.6rem; max-width: none; height: .7rem; flex: none; vertical-align: middle; }
.tip { position: fixed; z-index: 3; pointer-events: none; background: var(--tip); color: var(--on-tip);
border-radius: 6px; padding: .4rem .6rem; font-size: .8rem; line-height: 1.35; max-width: min(20rem, 80vw);
font-variant-numeric: tabular-nums; }
.tip[hidden] { display: none; }
.tip b { font-weight: 500; opacity: .75; margin-right: .4rem; }
@media (max-width: 40rem) { .legend { flex-wrap: nowrap; overflow-x: auto; } }
@media print { .legend { position: static; } }
"""

SCRIPT = """
(() => {
  "use strict";
  const tip = document.body.appendChild(document.createElement("div"));
  tip.className = "tip";
  tip.hidden = true;
  function tell(_, event, item, value) {
    tip.hidden = value === null || value === undefined || value === "";
    if (tip.hidden) return;
    const row = item.datum && item.datum.datum;  // of the nearest point, whose texts Vega-Lite leaves out of the value
    if (row && "method" in value) value = {...value, method: row.method};
    tip.replaceChildren(...Object.entries(value).map(([name, text]) => {
      const line = document.createElement("div"), label = document.createElement("b");
      label.textContent = name;
      line.append(label, String(text));
      return line;
    }));
    const box = tip.getBoundingClientRect(), room = document.documentElement.clientWidth - box.width - 8;
    const above = event.clientY - box.height - 14;
    tip.style.left = Math.max(8, Math.min(event.clientX + 14, room)) + "px";
    tip.style.top = (above > 0 ? above : event.clientY + 18) + "px";
  }
  const views = [];
  for (const place of document.querySelectorAll(".chart")) {
    const specification = JSON.parse(document.getElementById(place.dataset.figure).textContent);
    const options = {mode: "vega", renderer: "svg", actions: false, tooltip: tell};
    views.push(vegaEmbed(place, specification, options).then(drawn => drawn.view));
  }
  const buttons = [...document.querySelectorAll(".legend button")];
  async function show() {
    const off = buttons.filter(each => each.getAttribute("aria-pressed") === "false");
    const now = off.map(each => each.dataset.method);
    for (const each of document.querySelectorAll("[data-panel]")) each.hidden = now.includes(each.dataset.panel);
    for (const view of await Promise.all(views)) {
      if ("hidden" in view.getState().signals) await view.signal("hidden", now).runAsync();
    }
    document.documentElement.dataset.shown = String(buttons.length - now.length);
  }
  for (const button of buttons) button.addEventListener("click", () => {
    button.setAttribute("aria-pressed", String(button.getAttribute("aria-pressed") === "false"));
    show();
  });
  Promise.all(views).then(show);
})();
"""


def head() -> str:
    """What the page's head needs."""
    return f'<meta http-equiv="Content-Security-Policy" content="{escape(POLICY)}">\n<style>{STYLE}</style>'


def key(look: Look) -> str:
    """A short piece of a method's line, for a legend or a table."""
    dash = "" if look.dash == (1, 0) else f' stroke-dasharray="{" ".join(map(str, look.dash))}"'
    return (
        f'<svg class="key" viewBox="0 0 26 10" aria-hidden="true"><path d="M1 5H25" stroke="{look.colour}" '
        f'stroke-width="3.5"{dash}/></svg>'
    )


def legend(styles: Mapping[str, Look]) -> str:
    """A button a method, which shows or hides it in all figures of the page."""
    buttons = "".join(
        f'<button type="button" aria-pressed="true" data-method="{escape(method)}">{key(look)}{escape(method)}</button>'
        for method, look in styles.items()
    )
    return f'<div class="legend" role="group" aria-label="methods shown">{buttons}</div>'


def place(name: str, label: str) -> str:
    """Where on the page a figure is drawn."""
    return f'<div class="chart" data-figure="figure-{escape(name)}" role="img" aria-label="{escape(label)}"></div>'


def scripts(charts: Mapping[str, Chart]) -> str:
    """The figures' specifications, the Vega runtime, and what ties them together: for the end of the body.

    The specifications are compiled here, so that a faulty one is found when the page is written, not when it is read.
    """
    parts = [
        f'<script type="application/json" id="figure-{escape(name)}">{_for_script(specification(chart))}</script>'
        for name, chart in charts.items()
    ]
    return "\n".join([*parts, f"<script>{_runtime()}</script>", f"<script>{SCRIPT}</script>"])


@cache
def _runtime() -> str:
    import vl_convert

    bundle = str(vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;"))
    return bundle.replace("</script", "<\\/script")


def specification(chart: Chart) -> dict[str, Any]:
    """A chart as a Vega specification as wide as its place on the page."""
    import vl_convert

    description = chart.to_dict(validate=False)
    description |= {"width": "container", "config": _CONFIG, "autosize": {"type": "fit-x", "contains": "padding"}}
    description.pop("$schema", None)
    compiled: dict[str, Any] = vl_convert.vegalite_to_vega(json.dumps(description))
    return compiled


def _for_script(value: Any) -> str:
    """JSON that no text in it can end: a less-than sign never stands for itself."""
    return json.dumps(value, allow_nan=False, separators=(",", ":"), ensure_ascii=False).replace("<", "\\u003c")
