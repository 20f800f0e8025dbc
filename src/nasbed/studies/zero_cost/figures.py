"""The own figures of a study of zero-cost proxies: the top against a reference, and few points."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt

from nasbed.drawing.marks import Chart, inline, number
from nasbed.drawing.palette import COLOURS, FAINT, INK, PALE
from nasbed.reports.proxies.figures import proxies_figures
from nasbed.studies.zero_cost.few_points import SHUFFLED, VARIANTS
from nasbed.studies.zero_cost.samples import GLOBAL, TOP
from nasbed.studies.zero_cost.study import StudiedTask, ZeroCostStudy

WIDTH, HEIGHT, ROW = 290, 230, 24
BELOW, WITHIN, ABOVE = "below the reference", "within it", "above it"
MODEL_TITLES = {"lgb": "LightGBM", "svr": "ε-support vectors"}


def zero_cost_figures(study: ZeroCostStudy) -> dict[str, Chart]:
    """The paper's figures 1 to 3 as ``spearman``, ``top`` and ``overlap``, ``global-against-top``, and ours: ``range``
    and ``few-points``."""
    figures = proxies_figures([task.judged for task in study.tasks])
    figures["range"] = _in_rows([_range_panel(task) for task in study.tasks], per_row=3)
    if any(task.few_points is not None for task in study.tasks):
        figures["few-points"] = _few_points(study.tasks)
    return figures


def _in_rows(panels: Sequence[Chart], *, per_row: int) -> Chart:
    if len(panels) == 1:
        return panels[0]
    lines = [panels[first : first + per_row] for first in range(0, len(panels), per_row)]
    return alt.vconcat(*(alt.hconcat(*line, spacing=28) for line in lines), spacing=24)


def _range_panel(task: StudiedTask) -> Chart:
    """One row per proxy, ordered by the correlation over all: its correlation within the top, and the reference."""
    measures = task.measures
    order = measures.order(GLOBAL)
    rows = []
    for place, proxy in enumerate(measures.proxies):
        in_top = measures.value(TOP, proxy)
        expected = measures.reference.in_top(place) if measures.reference is not None else None
        row: dict[str, Any] = {"proxy": proxy, "all": number(measures.value(GLOBAL, proxy)), "seen": number(in_top)}
        if expected is not None:
            row |= {"low": number(expected.low), "high": number(expected.high), "mean": number(expected.estimate)}
            row["kind"] = BELOW if in_top < expected.low else ABOVE if in_top > expected.high else WITHIN
        rows.append(row)
    finite = [row[key] for row in rows for key in ("all", "seen", "low") if row.get(key) is not None]
    low = max(-1.0, min([-0.25, *finite]) - 0.05)
    base = alt.Chart(inline(rows)).encode(
        alt.Y("proxy:N", title=None, sort=order).axis(domain=False, ticks=False, labelLimit=140)
    )

    def x(field: str) -> Any:
        title = "Spearman: within the top (dots), over all (ring)"
        scale = alt.Scale(domain=[low, 1.0], nice=False)
        return alt.X(f"{field}:Q", title=title).scale(scale).axis(values=[-1.0, -0.5, 0.0, 0.5, 1.0])

    zero = alt.Chart(inline([{"zero": 0}])).mark_rule(color=FAINT).encode(x("zero"))
    kinds = [BELOW, WITHIN, ABOVE]
    colour = alt.Color("kind:N", title=None, sort=kinds).scale(domain=kinds, range=[COLOURS[1], COLOURS[0], COLOURS[2]])
    colour = colour.legend(orient="bottom", direction="horizontal")
    layers = [
        zero,
        base.mark_rule(strokeWidth=9, color=PALE).encode(x("low"), alt.X2("high:Q")),
        base.mark_tick(color=INK, thickness=1.5, size=9).encode(x("mean")),
        base.mark_point(size=38, color=INK, strokeWidth=1.2, filled=False).encode(x("all")),
        base.mark_point(size=60, filled=True, opacity=1).encode(x("seen"), colour),
    ]
    return alt.layer(*layers).properties(title=measures.task, width=WIDTH - 30, height=ROW * len(rows))


def _few_points(tasks: Sequence[StudiedTask]) -> Chart:
    """One row per task, one panel per model; all panels of a row share the axis."""
    lines = []
    for task in tasks:
        if task.few_points is None:
            continue
        points = task.few_points
        rows: list[dict[str, Any]] = []
        for (model, variant), taus in points.taus.items():
            for size, repeats in zip(points.sizes, taus, strict=True):
                mean, std = float(repeats.mean()), float(repeats.std(ddof=1)) if variant != SHUFFLED else 0.0
                rows.append(
                    {
                        "model": model,
                        "variant": variant,
                        "size": size,
                        "mean": mean,
                        "low": mean - std,
                        "high": mean + std,
                    }
                )
        span = [min(row["low"] for row in rows), max(row["high"] for row in rows)]
        panels = [
            _curve(task.name, model, [r for r in rows if r["model"] == model], points.sizes, span)
            for model in points.models
        ]
        lines.append(alt.hconcat(*panels, spacing=28))
    return lines[0] if len(lines) == 1 else alt.vconcat(*lines, spacing=24)


def _curve(task: str, model: str, rows: Sequence[dict[str, Any]], sizes: Sequence[int], span: Sequence[float]) -> Chart:
    room = 0.03 * (span[1] - span[0] or 1.0)
    scale = alt.Scale(domain=[span[0] - room, span[1] + room], nice=False)
    names = list(VARIANTS)
    colour = alt.Color("variant:N", title=None, sort=names).scale(domain=names, range=[*COLOURS[:3], FAINT])
    colour = colour.legend(orient="bottom", direction="horizontal", symbolOpacity=1, symbolType="stroke")
    dash = alt.StrokeDash("variant:N", title=None, sort=names, legend=None).scale(
        domain=names, range=[[1, 0]] * 3 + [[5, 4]]
    )
    base = alt.Chart(inline(rows)).encode(
        alt.X("size:Q", title="trained architectures")
        .scale(type="log", domain=[sizes[0], sizes[-1]], nice=False, padding=10)
        .axis(values=list(sizes), format="d", grid=False)
    )

    def y(field: str) -> Any:
        return alt.Y(f"{field}:Q", title="Kendall's tau, held out").scale(scale).axis(tickCount=6)

    unshuffled = base.transform_filter(f"datum.variant !== '{SHUFFLED}'")
    band = unshuffled.mark_area(opacity=0.18).encode(y("low"), alt.Y2("high:Q"), colour)
    lines = base.mark_line(point={"size": 36, "filled": True}).encode(y("mean"), colour, dash)
    return (band + lines).properties(title=f"{task}: {MODEL_TITLES.get(model, model)}", width=WIDTH, height=HEIGHT)
