"""The figures of judged proxies: the paper's three heat maps, and correlation over all against that at the top."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, isfinite
from typing import Any

import altair as alt

from nasbed.drawing.label_places import label_places
from nasbed.drawing.marks import DIVERGING, SEQUENTIAL, Chart, diagonal_line, inline, number
from nasbed.drawing.number_texts import MISSING
from nasbed.drawing.palette import COLOURS, INK, ON_DARK, ON_LIGHT, PALE, PAPER
from nasbed.evaluation.proxies import JudgedTask

CELL_WIDTH, CELL_HEIGHT = 76, 25
SIDE = 380
PANELS_A_ROW = 2
FAR = 10
"""Pixels from a point to its name above which a line joins them."""
TRAINING = "one training"
HIGH = 0.5
"""The correlation over all architectures at which a proxy counts as good."""


def proxies_figures(judged: Sequence[JudgedTask]) -> dict[str, Chart]:
    """Charts by name: ``spearman``, ``top`` and ``overlap`` are proxies by tasks, ``global-against-top`` has a panel
    per task."""
    names = task_titles(judged)
    order = ordered_proxies(judged)
    top = " / ".join(dict.fromkeys(f"{task.yardstick.top_percent:g} %" for task in judged))
    maps = {
        "spearman": ("spearman", "Spearman, all architectures"),
        "top": ("top_spearman", f"Spearman within the true top {top}"),
        "overlap": ("rbo", "normalised rank-biased overlap"),
    }
    figures = {
        name: _heat_map(judged, names, order, measure, title, across=name == "overlap")
        for name, (measure, title) in maps.items()
    }
    return figures | {"global-against-top": _scatter(judged, names)}


def task_titles(judged: Sequence[JudgedTask]) -> list[str]:
    """The names of tasks, repeated ones with a number."""
    titles: list[str] = []
    for task in judged:
        repeats = sum(earlier.name == task.name for earlier in judged[: len(titles)])
        titles.append(f"{task.name} ({repeats + 1})" if repeats else task.name)
    return titles


def ordered_proxies(judged: Sequence[JudgedTask]) -> list[str]:
    """All proxies, by their mean Spearman correlation over all architectures, the highest first."""
    values: dict[str, list[float]] = {}
    for task in judged:
        for proxy in task.proxies:
            finite = values.setdefault(proxy.name, [])
            if isfinite(proxy.value("spearman")):
                finite.append(proxy.value("spearman"))
    return sorted(values, key=lambda name: (-sum(values[name]) / len(values[name]) if values[name] else 2.0, name))


def _heat_map(
    judged: Sequence[JudgedTask], names: Sequence[str], order: Sequence[str], measure: str, title: str, *, across: bool
) -> Chart:
    """Proxies by tasks, coloured by a measure.

    Args:
        judged: the tasks.
        names: their names.
        order: the proxies in the order of the rows.
        measure: the name of the measure.
        title: the title of the figure.
        across: whether colours run from 0 to the highest value; otherwise they run from -1 to 1.
    """
    rows: list[dict[str, Any]] = []
    for name, task in zip(names, judged, strict=True):
        values = {judged_proxy.name: judged_proxy.value(measure) for judged_proxy in task.proxies}
        rows += [{"task": name, "proxy": proxy, "value": number(values.get(proxy, float("nan")))} for proxy in order]
    for row in rows:
        row["text"] = MISSING if row["value"] is None else f"{row['value']:.2f}".replace("-", "\u2212")
    highest = ceil(10 * max([row["value"] for row in rows if row["value"] is not None], default=1.0) + 1e-9) / 10
    scale = (
        alt.Scale(scheme=SEQUENTIAL, domain=[0, max(highest, 0.1)], clamp=True)
        if across
        else alt.Scale(scheme=DIVERGING, domain=[-1, 1], domainMid=0)
    )
    dark = f"datum.value < {0.6 * highest}" if across else "abs(datum.value) > 0.66"
    base = alt.Chart(inline(rows)).encode(
        alt.X("task:N", title=None, sort=list(names)).axis(
            orient="top", labelAngle=-30, labelLimit=260, domain=False, ticks=False
        ),
        alt.Y("proxy:N", title=None, sort=list(order)).axis(domain=False, ticks=False, labelLimit=200),
    )
    cells = base.mark_rect(stroke=PAPER, strokeWidth=1).encode(alt.Color("value:Q", legend=None).scale(scale))
    missing = base.transform_filter("datum.value === null").mark_rect(color=PAPER, stroke=PALE, strokeDash=[3, 2])
    text = base.mark_text(fontSize=12).encode(
        alt.Text("text:N"),
        color=alt.when("datum.value === null")
        .then(alt.value(INK))
        .when(dark)
        .then(alt.value(ON_DARK))
        .otherwise(alt.value(ON_LIGHT)),
    )
    return (cells + missing + text).properties(
        title=title,
        width=CELL_WIDTH * len(names),
        height=CELL_HEIGHT * len(order),
        view=alt.ViewBackground(stroke=None),
    )


# --- global against top ----------------------------------------------------------------------------------------------


def _scatter(judged: Sequence[JudgedTask], names: Sequence[str]) -> Chart:
    panels = [_panel(name, task, _domain(judged)) for name, task in zip(names, judged, strict=True)]
    lines = [panels[first : first + PANELS_A_ROW] for first in range(0, len(panels), PANELS_A_ROW)]
    if len(panels) == 1:
        return panels[0]
    return alt.vconcat(*(alt.hconcat(*line, spacing=28) for line in lines), spacing=24)


def _domain(judged: Sequence[JudgedTask]) -> tuple[float, float]:
    """One range for both axes of all panels, so that panels can be compared and the diagonal means equality."""
    values = [0.0, 0.5]
    for task in judged:
        for proxy in task.proxies:
            for measure in (proxy.measures["spearman"], proxy.measures["top_spearman"]):
                values += measure.value, measure.low, measure.high
        if task.ceiling is not None:
            values += task.ceiling.spearman, task.ceiling.top_spearman
    finite = [value for value in values if isfinite(value)]
    return max(-1.0, min(finite) - 0.05), min(1.0, max(finite) + 0.05)


def _panel(name: str, task: JudgedTask, domain: tuple[float, float]) -> Chart:
    rows = _points(task, domain)
    scale = alt.Scale(domain=list(domain), nice=False)
    top = f"the true top {task.yardstick.top_percent:g} %"

    def x(field: str = "x") -> Any:
        return alt.X(f"{field}:Q", title="Spearman, all architectures").scale(scale).axis(tickCount=6, grid=False)

    def y(field: str = "y") -> Any:
        return alt.Y(f"{field}:Q", title=f"Spearman within {top}").scale(scale).axis(tickCount=6, grid=False)

    diagonal = diagonal_line(domain, x=x(), y=y(), width=1.2)
    zero = alt.Chart(inline([{"zero": 0}]))
    zeros = [
        zero.mark_rule(color=PALE).encode(x("zero")),
        zero.mark_rule(color=PALE).encode(y("zero")),
    ]
    base = alt.Chart(inline(rows))
    colour = alt.Color("kind:N", legend=None).scale(
        domain=["kept", "lost", "training"], range=[COLOURS[0], COLOURS[1], INK]
    )
    spans = base.mark_rule(opacity=0.22, strokeWidth=1.5).encode(x(), y("low"), alt.Y2("high:Q"), colour)
    leaders = base.transform_filter("datum.far").mark_rule(strokeWidth=1)
    dots = base.mark_point(filled=True, size=60, opacity=1).encode(
        x(),
        y(),
        colour,
        alt.Shape("kind:N", legend=None).scale(
            domain=["kept", "lost", "training"], range=["circle", "circle", "diamond"]
        ),
    )
    names = base.mark_text(fontSize=12, align="center", baseline="middle")
    halo = base.mark_text(fontSize=12, align="center", baseline="middle", stroke=PAPER, strokeWidth=4, color=PAPER)
    label_encoding = (x("label_x"), y("label_y"), alt.Text("name:N"))
    layers = [
        *zeros,
        diagonal,
        spans,
        halo.encode(*label_encoding),
        leaders.encode(x(), y(), alt.X2("edge_x:Q"), alt.Y2("edge_y:Q"), colour),
        dots,
        names.encode(*label_encoding, colour),
    ]
    return alt.layer(*layers).properties(title=name, width=SIDE, height=SIDE)


def _points(task: JudgedTask, domain: tuple[float, float]) -> list[dict[str, Any]]:
    """A row per proxy that has both correlations; proxies whose correlation is lost at the top have their own kind."""
    rows: list[dict[str, Any]] = []
    for proxy in task.proxies:
        over_all, at_top = proxy.measures["spearman"], proxy.measures["top_spearman"]
        if not isfinite(over_all.value) or not isfinite(at_top.value):
            continue
        low, high = (at_top.low, at_top.high) if isfinite(at_top.low) else (at_top.value, at_top.value)
        kind = "lost" if lost_at_the_top(task, proxy.name) else "kept"
        rows.append(
            {"name": proxy.name, "x": over_all.value, "y": at_top.value, "low": low, "high": high, "kind": kind}
        )
    ceiling = task.ceiling
    if ceiling is not None and isfinite(ceiling.spearman) and isfinite(ceiling.top_spearman):
        top = ceiling.top_spearman
        rows.append({"name": TRAINING, "x": ceiling.spearman, "y": top, "low": top, "high": top, "kind": "training"})
    start, span = domain[0], domain[1] - domain[0]
    pixels = [((row["x"] - start) / span * SIDE, (1 - (row["y"] - start) / span) * SIDE) for row in rows]
    labels = label_places(pixels, [row["name"] for row in rows], width=SIDE, height=SIDE)
    for row, label in zip(rows, labels, strict=True):
        for field, (across, down) in (("label", label.middle), ("edge", label.edge)):
            row |= {f"{field}_x": start + across / SIDE * span, f"{field}_y": start + (1 - down / SIDE) * span}
        row["far"] = label.distance > FAR
    return rows


def lost_at_the_top(task: JudgedTask, name: str) -> bool:
    """Whether a proxy's Spearman correlation is 0.5 or more over all architectures, and within the top negative or not
    significantly above 0."""
    measures = task.proxy(name).measures
    top = measures["top_spearman"]
    return measures["spearman"].value >= HIGH and isfinite(top.value) and (top.low <= 0 or top.value <= 0)
