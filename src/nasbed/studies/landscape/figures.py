"""The figures of NAS-Bench-101's section 3, drawn from a landscape study."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import altair as alt
import numpy as np

from nasbed.drawing.figures import metric_label
from nasbed.drawing.marks import (
    DIVERGING,
    HEIGHT,
    SEQUENTIAL,
    WIDTH,
    Chart,
    beside,
    colour_range,
    dots,
    inline,
    level_line,
    log_ticks,
    mean_rows,
    number,
    rectangles,
    series,
)
from nasbed.drawing.palette import COLOURS, ON_DARK, ON_LIGHT
from nasbed.evaluation.landscape import Ecdf
from nasbed.studies.landscape.study import IN_TABLE, IN_TABLE_RANKS, LandscapeStudy, Shape

TIME_LABEL = "training time [s]"
MOST_LINES = 6
NUMBER_OF = "number of "
COUNTS = alt.SchemeParams(name=SEQUENTIAL, extent=[0.15, 0.95])
"""The colour map without its ends, which are invisible on a black or a white page."""


def landscape_figures(study: LandscapeStudy) -> dict[str, Chart]:
    """The figures that the study has numbers for, by name."""
    figures: dict[str, Chart | None] = {
        "distributions": _distributions(study),
        "costs": _costs(study),
        **_replacements(study),
        "shapes": _shapes(study),
        "walks": _walks(study),
        "distance": _distance(study),
        "volume": _volume(study),
        "fidelities": _fidelities(study),
    }
    return {name: chart for name, chart in figures.items() if chart is not None}


def _distributions(study: LandscapeStudy) -> Chart:
    curves = {metric.split or metric.name: curve for metric, curve in study.distributions.items()}
    low = min(curve.quantile(0.01) for curve in curves.values())
    high = max(curve.quantile(1.0) for curve in curves.values())
    if _on_log_axis(study):
        low, high = (
            min(curve.quantile(0.001) for curve in curves.values()),
            max(f.quantile(0.99) for f in curves.values()),
        )
    label = metric_label(study.metric)
    if len(curves) > 1 and study.metric.split:
        label = label.removeprefix(f"{study.metric.split} ")
    x = alt.X("value:Q", title=label).scale(_scale(study, domain=[low, high]))
    title = f"mean over repeats after {study.fidelity} {study.fidelity_unit}"
    left = _curves(curves, x, title=title, legend=None)
    if not study.noise:
        return left
    noise = {str(fidelity): curve for fidelity, curve in study.noise.items()}
    middle = min(curve.quantile(0.5) for curve in noise.values())
    start = max(min(curve.quantile(0.03) for curve in noise.values()), middle / 1000, 1e-12)
    end = max(curve.quantile(0.99) for curve in noise.values())
    x = alt.X("value:Q", title=f"standard deviation of {metric_label(study.noise_metric)}")
    x = x.scale(alt.Scale(type="log", domain=[start, end], nice=False)).axis(values=log_ticks(start, end))
    return beside(left, _curves(noise, x, title="noise between repeats", legend=study.fidelity_unit))


def _curves(curves: Mapping[str, Ecdf], x: Any, *, title: str, legend: str | None) -> Chart:
    rows = [
        {"curve": name, "value": value, "fraction": fraction}
        for name, curve in curves.items()
        for value, fraction in zip(curve.values.tolist(), curve.fractions.tolist(), strict=True)
    ]
    y = alt.Y("fraction:Q", title="fraction of architectures").scale(alt.Scale(domain=[0, 1]))
    chart = alt.Chart(inline(rows), title=title, width=WIDTH, height=HEIGHT)
    return chart.mark_line(interpolate="step-after", clip=True).encode(x, y, series(list(curves), "curve", legend))


def _costs(study: LandscapeStudy) -> Chart | None:
    costs = study.costs
    if costs is None:
        return None
    x = alt.X("x:Q", title=TIME_LABEL).scale(alt.Scale(zero=False, nice=False)).axis(tickCount=6)
    tight = alt.Scale(zero=False, nice=False)
    density = alt.Chart(inline(rectangles(costs.by_time_and_metric))).mark_rect()
    density = density.encode(
        x,
        alt.X2("x2"),
        alt.Y("y:Q", title=metric_label(study.metric)).scale(tight),
        alt.Y2("y2"),
        alt.Color("count:Q", title="architectures").scale(alt.Scale(type="log", scheme=COUNTS, domainMin=0.5)),
    )
    floor, ceiling = costs.by_time_and_metric.y_edges[[0, -1]].tolist()
    front = [{"x": x, "y": y} for x, y in costs.front.tolist() if floor <= y <= ceiling]
    line = alt.Chart(inline(front)).mark_line(interpolate="step-after", color=COLOURS[1], point=dots(COLOURS[1]))
    layers = density + line.encode(alt.X("x:Q"), alt.Y("y:Q"))
    if costs.named:
        layers += _named_points(costs.named, floor, ceiling)
    right = layers.properties(title="the best 95 %, and those that none beats", width=WIDTH, height=HEIGHT)
    if costs.by_time_and_parameters is None:
        return right
    cells = rectangles(costs.by_time_and_parameters, scale=1e-6)
    low, high = colour_range(cells)
    colours = alt.Scale(scheme=SEQUENTIAL, domain=[low, high], clamp=True, type=_kind(study, low))
    left = alt.Chart(inline(cells), title="all architectures", width=WIDTH, height=HEIGHT).mark_rect()
    left = left.encode(
        x,
        alt.X2("x2"),
        alt.Y("y:Q", title="parameters [million]").scale(alt.Scale(nice=False)),
        alt.Y2("y2"),
        alt.Color("mean:Q", title=["mean", metric_label(study.metric)]).scale(colours),
    )
    return beside(left, right)


def _named_points(named: Mapping[str, np.ndarray], floor: float, ceiling: float) -> Chart:
    """Each named architecture as a labelled diamond, its neighbours as small crosses."""
    rows = [
        {"x": x, "y": y, "label": "" if place else name, "kind": "neighbour" if place else "named"}
        for name, cells in named.items()
        for place, (x, y) in enumerate(cells.tolist())
        if floor <= y <= ceiling
    ]
    base = alt.Chart(inline(rows)).encode(alt.X("x:Q"), alt.Y("y:Q"))
    colour = COLOURS[3]
    crosses = base.transform_filter("datum.kind == 'neighbour'").mark_point(
        shape="cross", size=45, filled=True, opacity=1, color=colour
    )
    diamonds = base.transform_filter("datum.kind == 'named'").mark_point(
        shape="diamond", size=90, filled=True, color=colour, stroke=ON_LIGHT
    )
    text = base.mark_text(dx=8, align="left", fontWeight="bold", fontSize=12).encode(alt.Text("label:N"))
    return crosses + diamonds + text


def _replacements(study: LandscapeStudy) -> dict[str, Chart]:
    charts: dict[str, Chart] = {}
    for index, replacement in enumerate(study.replacements, 1):
        names = list(replacement.operations)
        rows = [
            {
                "from": before,
                "to": after,
                "change": number(replacement.change[i, j]),
                "time": number(100 * replacement.relative_time[i, j]),
            }
            for i, before in enumerate(names)
            for j, after in enumerate(names)
            if replacement.counts[i, j]
        ]
        suffix = f", {' and '.join(replacement.where)}" if len(study.replacements) > 1 else ""
        panels = [_pairs(rows, names, "change", title=f"change of {metric_label(study.metric)}{suffix}")]
        if np.isfinite(replacement.relative_time).any():
            panels.append(_pairs(rows, names, "time", title="change of training time [%]"))
        charts["operations" if len(study.replacements) == 1 else f"operations-{index}"] = beside(*panels)
    return charts


def _pairs(rows: list[dict[str, Any]], names: list[str], field: str, *, title: str) -> Chart:
    side = max(56 * len(names), 200)
    bound = max((abs(row[field]) for row in rows if row[field] is not None), default=1.0) or 1.0
    base = alt.Chart(inline(rows)).encode(
        alt.X("to:N", title="by", sort=names).axis(orient="top", labelAngle=-30, domain=False, ticks=False),
        alt.Y("from:N", title="replacing", sort=names).axis(domain=False, ticks=False),
    )
    colours = alt.Scale(scheme=DIVERGING, domain=[-bound, bound], domainMid=0)
    squares = base.mark_rect().encode(alt.Color(f"{field}:Q", legend=None).scale(colours))
    text = base.mark_text(fontSize=12).encode(
        alt.Text(f"{field}:Q", format="+.2f" if 0.1 <= bound < 1000 else "+.2g"),
        color=alt.condition(f"abs(datum['{field}']) > {0.6 * bound}", alt.value(ON_DARK), alt.value(ON_LIGHT)),
    )
    view = alt.ViewBackground(stroke=None)
    return (squares + text).properties(title=title, width=side, height=side * 0.72, view=view)


def _shapes(study: LandscapeStudy) -> Chart | None:
    names = list(study.shapes)
    if not names:
        return None
    if len(names) > MOST_LINES:
        rows = [names[start : start + 3] for start in range(0, len(names), 3)]
        return alt.vconcat(*(alt.hconcat(*(_by_choice(study, name) for name in row), spacing=24) for row in rows))
    panels = [_by_key(study.shapes, "metric", f"mean {metric_label(study.metric)}")]
    if all(shape.time_s is not None for shape in study.shapes.values()):
        panels.append(_by_key(study.shapes, "time_s", f"mean {TIME_LABEL}"))
    return beside(*panels)


def _by_key(shapes: Mapping[str, Shape], quantity: str, label: str) -> Chart:
    are_counts = all(name.startswith(NUMBER_OF) for name in shapes)
    names = [name.removeprefix(NUMBER_OF) for name in shapes]
    rows = [
        row | {"property": name}
        for name, shape in zip(names, shapes.values(), strict=True)
        for row in mean_rows(getattr(shape, quantity))
    ]
    title = "number of times in the architecture" if are_counts else " or ".join(names)
    base = alt.Chart(inline(rows)).encode(
        alt.X("key:O", title=title).axis(labelAngle=0), series(names, "property", None)
    )
    tight = alt.Scale(zero=False)
    lines = base.mark_line(point=dots()).encode(alt.Y("mean:Q", title=label).scale(tight))
    bars = base.mark_rule().encode(alt.Y("low:Q").scale(tight), alt.Y2("high"))
    return (lines + bars).properties(width=WIDTH, height=HEIGHT)


def _by_choice(study: LandscapeStudy, name: str) -> Chart:
    shape = study.shapes[name]
    rows = [row | {"label": label} for row, label in zip(mean_rows(shape.metric), shape.labels, strict=True)]
    chart = alt.Chart(inline(rows), width=210, height=150, title=name)
    return chart.mark_line(point=dots(COLOURS[0]), color=COLOURS[0]).encode(
        alt.X("label:O", title=None, sort=list(shape.labels)).axis(labelAngle=0),
        alt.Y("mean:Q", title=f"mean {metric_label(study.metric)}").scale(_scale(study)).axis(tickCount=4),
    )


def _walks(study: LandscapeStudy) -> Chart | None:
    rows = [
        {"walk": name, "x": math.sqrt(lag), "y": value, "low": value - 2 * error, "high": value + 2 * error}
        | {"ragged": len(study.walks) > 2 and name in (IN_TABLE, IN_TABLE_RANKS)}
        for name, walk in study.walks.items()
        for lag, (value, error) in enumerate(zip(walk.correlations, walk.standard_errors, strict=True))
        if math.isfinite(value) and lag
    ]
    if not rows:
        return None
    colour = series(list(study.walks), "walk", None)
    span = alt.Scale(domain=[-0.1, 1.0], nice=False)
    base = alt.Chart(inline(rows)).encode(
        alt.X("x:Q", title="distance covered, √ of the number of steps").axis(tickMinStep=1), colour
    )
    band = base.mark_area(opacity=0.15, clip=True).encode(alt.Y("low:Q").scale(span), alt.Y2("high"))
    dash = alt.StrokeDash("ragged:N", legend=None).scale(alt.Scale(domain=[False, True], range=[[1, 0], [3, 3]]))
    line = base.mark_line(clip=True).encode(alt.Y("y:Q", title="autocorrelation").scale(span), dash)
    return (level_line(0) + band + line).properties(width=520, height=300)


def _distance(study: LandscapeStudy) -> Chart:
    rows = mean_rows(study.distance.by_distance)
    counts = study.distance.by_distance.counts
    for row, share in zip(rows, (np.cumsum(counts) / counts.sum()).tolist(), strict=True):
        row["within"] = share
    x = alt.X("key:O", title="edits to the best architecture").axis(labelAngle=0)
    scale = _scale(study)
    base = alt.Chart(inline(rows)).encode(x)
    mean = base.mark_line(point=dots(COLOURS[0]), color=COLOURS[0]).encode(
        alt.Y("mean:Q", title=f"mean {metric_label(study.metric)}").scale(scale)
    )
    bars = base.mark_rule(color=COLOURS[0]).encode(alt.Y("low:Q").scale(scale), alt.Y2("high"))
    left = (mean + bars).properties(width=WIDTH, height=HEIGHT, title="quality by distance")
    near = alt.Chart(inline(rows), width=WIDTH, height=HEIGHT, title="how much of the table is near")
    right = near.mark_line(point=dots(COLOURS[2]), color=COLOURS[2]).encode(
        x, alt.Y("within:Q", title="fraction within the distance").scale(alt.Scale(domain=[0, 1]))
    )
    return beside(left, right)


def _volume(study: LandscapeStudy) -> Chart | None:
    peak = study.peak
    if peak is None:
        return None
    volumes = {"the best alone": peak.near_best, "all as good as the best": peak.near_as_good}
    rows = [
        {"near": name, "distance": distance, "within": volume.fraction_within(distance)}
        for name, volume in volumes.items()
        if volume is not None
        for distance in range(len(volume.counts))
    ]
    x = alt.X("distance:O", title="edits to the nearest encoding").axis(labelAngle=0)
    y = alt.Y("within:Q", title="fraction of all encodings").scale(alt.Scale(domain=[0, 1]))
    chart = alt.Chart(inline(rows), width=520, height=300).mark_line(point=dots())
    return chart.encode(x, y, series([name for name, volume in volumes.items() if volume is not None], "near", None))


def _fidelities(study: LandscapeStudy) -> Chart | None:
    if len(study.fidelities) < 2:
        return None
    names = [str(fidelity) for fidelity in study.fidelities]
    rows = [
        {"one": first, "other": second, "spearman": number(study.fidelity_correlations[i, j])}
        for i, first in enumerate(names)
        for j, second in enumerate(names)
    ]
    side = max(60 * len(names), 200)
    base = alt.Chart(inline(rows)).encode(
        alt.X("one:N", title=study.fidelity_unit, sort=names).axis(labelAngle=0, domain=False, ticks=False),
        alt.Y("other:N", title=study.fidelity_unit, sort=names).axis(domain=False, ticks=False),
    )
    colours = alt.Scale(scheme=SEQUENTIAL, domain=[0, 1], clamp=True)
    squares = base.mark_rect().encode(alt.Color("spearman:Q", title="Spearman").scale(colours))
    text = base.mark_text(fontSize=13).encode(
        alt.Text("spearman:Q", format=".2f"),
        color=alt.condition("datum.spearman > 0.6", alt.value(ON_LIGHT), alt.value(ON_DARK)),
    )
    return (squares + text).properties(width=side, height=side * 0.8)


def _on_log_axis(study: LandscapeStudy) -> bool:
    """Errors and losses spread over orders of magnitude; accuracies do not."""
    return study.metric.direction == "minimize" and study.metric.bounds[0] >= 0 and study.best_value > 0


def _kind(study: LandscapeStudy, lowest: float) -> Any:
    return "log" if _on_log_axis(study) and lowest > 0 else "linear"


def _scale(study: LandscapeStudy, domain: list[float] | None = None) -> alt.Scale:
    lowest = study.best_value if domain is None else domain[0]
    extent: dict[str, Any] = {"padding": 12} if domain is None else {"domain": domain}
    return alt.Scale(type=_kind(study, lowest), zero=False, nice=False, **extent)
