"""The figures of a validation: small panels, one figure each, which a narrow page stacks."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import altair as alt
import numpy as np

from nasbed.core.metric import Metric
from nasbed.drawing.anytime_figures import Axes, curve_layers
from nasbed.drawing.figures import metric_label
from nasbed.drawing.marks import Chart, diagonal_line, dots, inline, log_ticks, number
from nasbed.drawing.palette import FAINT, HUES
from nasbed.studies.validation.evaluations.figures import (
    cell_panels,
    embedding_panels,
    noise_panels,
    profile_panels,
    split_panels,
)
from nasbed.studies.validation.fits import Fits
from nasbed.studies.validation.leave_out import LeftOuts
from nasbed.studies.validation.panel import HEIGHT, SQUARE, WIDTH, Panel, name_colours
from nasbed.studies.validation.parameter_free import TRUE, ParameterFree
from nasbed.studies.validation.scoring import Scatter
from nasbed.studies.validation.searches.regions import RegionSearches
from nasbed.studies.validation.searches.trajectories import TrajectoryComparison
from nasbed.studies.validation.study import Validation
from nasbed.studies.validation.table_error import ALL, AgainstTable
from nasbed.studies.validation.topology import Topology
from nasbed.studies.validation.topology_effects import TopologyEffects
from nasbed.studies.validation.training_size import TrainingSize


def panels(study: Validation) -> dict[str, list[Panel]]:
    """The panels by part, for parts that have any."""
    metric = study.metric
    by_part = {
        "fits": _fits(study.fits, metric) if study.fits else [],
        "table": _against(study.table_error, metric) if study.table_error else [],
        "size": _size(study.size, metric) if study.size else [],
        "looo": _left_out(study.looo, "looo", metric) if study.looo else [],
        "random": _left_out(study.random, "random", metric) if study.random else [],
        "best": _left_out(study.best, "best", metric) if study.best else [],
        "rest": _left_out(study.rest, "rest", metric) if study.rest else [],
        "free": _free(study.free, metric) if study.free else [],
        "depth": _depth(study.depth, metric) if study.depth else [],
        "topologies": _topologies(study.topologies, metric) if study.topologies else [],
        "methods": profile_panels(study.profiles, metric) if study.profiles else [],
        "cells": cell_panels(study.cells, metric) if study.cells else [],
        "noise": noise_panels(study.noise, metric) if study.noise else [],
        "test": split_panels(study.test) if study.test else [],
        "tsne": embedding_panels(study.tsne) if study.tsne else [],
        "regions": _regions(study.regions) if study.regions else [],
        "trajectories": _trajectories(study.trajectories) if study.trajectories else [],
    }
    return {part: charts for part, charts in by_part.items() if charts}


# --- predicted against true ------------------------------------------------------------------------------------------


def _fits(fits: Fits, metric: Metric) -> list[Panel]:
    clouds = [(f"fits-{place}", fit.label, fit.points) for place, fit in enumerate(fits.fits)]
    return _clouds(clouds, metric)


def _left_out(fits: LeftOuts, part: str, metric: Metric) -> list[Panel]:
    clouds = [(f"{part}-{place}", f"{fit.label}: {fit.model}", fit.points) for place, fit in enumerate(fits.fits)]
    return _clouds(clouds, metric)


def _clouds(clouds: Sequence[tuple[str, str, Scatter]], metric: Metric) -> list[Panel]:
    """Predictions over evaluations, all on the same axes, which show most of the evaluations."""
    if not clouds:
        return []
    truths = np.concatenate([points.truth for _, _, points in clouds])
    predicted = np.concatenate([points.predicted for _, _, points in clouds])
    tail = (0.02, 1.0) if metric.direction == "maximize" else (0.0, 0.98)
    ends = np.quantile(truths, tail)
    low, high = float(ends[0]), float(ends[1])
    margin = 0.05 * (high - low) or 1.0
    domain = [low - margin, max(high, min(float(predicted.max()), high + margin)) + margin]
    return [Panel(name, title, _cloud(points, domain, metric)) for name, title, points in clouds]


def _cloud(points: Scatter, domain: list[float], metric: Metric) -> Chart:
    scale = alt.Scale(domain=domain, nice=False, clamp=True)
    rows = [{"x": x, "y": y} for x, y in zip(points.truth.tolist(), points.predicted.tolist(), strict=True)]
    unit = f" [{metric.unit}]" if metric.unit else ""
    base = alt.Chart(inline(rows)).mark_circle(size=14, opacity=0.55, color=HUES[0], clip=True)
    cloud = base.encode(
        alt.X("x:Q", title=f"evaluated{unit}").scale(scale).axis(tickCount=5),
        alt.Y("y:Q", title=f"predicted{unit}").scale(scale).axis(tickCount=5),
    )
    equality = diagonal_line(domain, x=alt.X("x:Q").scale(scale), y=alt.Y("y:Q").scale(scale))
    return (equality + cloud).properties(width=SQUARE, height=SQUARE)


# --- the table as a yardstick ----------------------------------------------------------------------------------------


def _against(errors: AgainstTable, metric: Metric) -> list[Panel]:
    unit = f" [{metric.unit}]" if metric.unit else ""
    labels = [rotation.label for rotation in errors.rotations if rotation.group == ALL]
    groups = list(dict.fromkeys(rotation.group for rotation in errors.rotations))
    panels = []
    for field, title in (("mae", f"mean absolute error{unit}"), ("kendall", "Kendall's correlation")):
        rows = [
            {"model": rotation.label, "group": rotation.group, "value": number(getattr(score, field))}
            for rotation in errors.rotations
            for score in rotation.by_seed
        ]
        base = alt.Chart(inline(rows), width=WIDTH, height=max(90, 44 * len(labels)))
        points = base.mark_point(size=60, filled=True, opacity=0.8).encode(
            alt.Y("model:N", sort=labels, title=None),
            alt.X("value:Q", title=title).scale(alt.Scale(zero=False, padding=12)).axis(tickCount=5),
            name_colours(groups, "group"),
            alt.YOffset("group:N", sort=groups),
        )
        panels.append(Panel(f"table-{field}", title, points))
    return panels


def _size(sizes: TrainingSize, metric: Metric) -> list[Panel]:
    unit = f" [{metric.unit}]" if metric.unit else ""
    panels = []
    for field, title, line in (
        ("mae", f"mean absolute error{unit}", sizes.table_mae),
        ("kendall", "Kendall's correlation", sizes.table_kendall),
    ):
        place = ("mae", "kendall").index(field)
        crossings = {label: pair[place] for label, pair in sizes.crossings.items()}
        panels.append(Panel(f"size-{field}", title, _size_panel(sizes, field, title, line, crossings)))
    return panels


def _size_panel(study: TrainingSize, field: str, title: str, line: float, crossings: Mapping[str, float]) -> Chart:
    rows = []
    for curve in study.curves:
        for size, values in zip(study.sizes, getattr(curve, field), strict=True):
            finite = values[np.isfinite(values)]
            if len(finite):
                ends = {"low": float(finite.min()), "high": float(finite.max())}
                rows.append({"name": curve.label, "x": size, "y": float(finite.mean()), **ends})
    labels = [curve.label for curve in study.curves]
    scale = alt.Scale(type="log" if field == "mae" else "linear", zero=False, nice=False, padding=8)
    base = alt.Chart(inline(rows)).encode(
        alt.X("x:Q", title="training architectures")
        .scale(alt.Scale(type="log", nice=False))
        .axis(values=log_ticks(study.sizes[0], study.sizes[-1])),
        name_colours(labels),
    )
    band = base.mark_area(opacity=0.15).encode(alt.Y("low:Q").scale(scale), alt.Y2("high:Q"))
    lines = base.mark_line(point=dots()).encode(alt.Y("y:Q", title=title).scale(scale).axis(tickCount=5))
    layers = [band, lines]
    if math.isfinite(line):
        level = alt.Chart(inline([{"y": line, "text": "table of one seed"}])).encode(alt.Y("y:Q").scale(scale))
        layers.append(level.mark_rule(color=FAINT, strokeDash=[5, 3], strokeWidth=1.5))
        layers.append(
            level.mark_text(align="left", dx=4, dy=-6, fontSize=11, color=FAINT).encode(
                alt.Text("text:N"), x=alt.value(0)
            )
        )
    passed = [{"name": label, "x": crossing} for label, crossing in crossings.items() if math.isfinite(crossing)]
    if passed:
        mark = alt.Chart(inline(passed)).mark_rule(strokeDash=[2, 2]).encode(alt.X("x:Q"), name_colours(labels))
        layers.append(mark)
    return alt.layer(*layers).properties(width=WIDTH, height=HEIGHT)


# --- kinds of architectures ------------------------------------------------------------------------------------------


def _free(study: ParameterFree, metric: Metric) -> list[Panel]:
    panels = []
    labels = list(dict.fromkeys(line.label for line in study.lines))
    labels.sort(key=lambda label: label == TRUE)
    values = [float(value) for line in study.lines for value in line.mean if math.isfinite(value)]
    pad = 0.05 * (max(values) - min(values)) or 1.0
    domain = [min(values) - pad, max(values) + pad]
    for kind in study.counts:
        rows = [
            {
                "name": line.label,
                "x": ratio,
                "y": mean,
                "low": mean - (std if math.isfinite(std) else 0.0),
                "high": mean + (std if math.isfinite(std) else 0.0),
            }
            for line in study.lines
            if line.kind == kind
            for ratio, mean, std in zip(study.ratios, line.mean.tolist(), line.std.tolist(), strict=True)
            if math.isfinite(mean)
        ]
        scale = alt.Scale(domain=domain, nice=False, clamp=True)
        base = alt.Chart(inline(rows)).encode(
            alt.X("x:Q", title="ratio of parameter-free operations").axis(format=".0%", tickCount=5),
            name_colours(labels),
        )
        lines = base.mark_line(point=dots()).encode(alt.Y("y:Q", title=metric_label(metric)).scale(scale))
        band = base.mark_area(opacity=0.2).encode(alt.Y("low:Q").scale(scale), alt.Y2("high:Q"))
        panels.append(Panel(f"free-{kind}", kind, (band + lines).properties(width=WIDTH, height=HEIGHT)))
    return panels


def _depth(topology: Topology, metric: Metric) -> list[Panel]:
    unit = f" [{metric.unit}]" if metric.unit else ""
    measures = (
        ("depth", "rank correlation", "sparse Kendall", topology.sparse_kendall),
        ("depth-mae", "error", f"mean absolute error{unit}", topology.mae),
    )
    return [
        Panel(
            name, title, _by_depth({label: dict(zip(topology.depths, v, strict=True)) for label, v in by.items()}, axis)
        )
        for name, title, axis, by in measures
        if any(math.isfinite(value) for values in by.values() for value in values)
    ]


def _by_depth(lines: Mapping[str, Mapping[int, float]], title: str) -> Chart:
    rows = [
        {"name": label, "x": depth, "y": value}
        for label, values in lines.items()
        for depth, value in values.items()
        if math.isfinite(value)
    ]
    chart = alt.Chart(inline(rows), width=WIDTH, height=HEIGHT).mark_line(point=dots())
    return chart.encode(
        alt.X("x:O", title="depth of the cell").axis(labelAngle=0),
        alt.Y("y:Q", title=title).scale(alt.Scale(zero=False, padding=10)),
        name_colours(list(lines)),
    )


def _topologies(study: TopologyEffects, metric: Metric) -> list[Panel]:
    unit = f" [{metric.unit}]" if metric.unit else ""
    labels = [effect.label for effect in study.effects]
    sources = {"topology": "rows", "operations": "columns", "both together, noise": "rest"}
    rows = [
        {"name": effect.label, "source": source, "value": getattr(effect.spread, field)}
        for effect in study.effects
        for source, field in sources.items()
    ]
    bars = alt.Chart(inline(rows), width=WIDTH, height=max(HEIGHT, 16 * len(rows))).mark_bar()
    spread = bars.encode(
        alt.Y("source:N", sort=list(sources), title=None),
        alt.X("value:Q", title=f"standard deviation{unit}").axis(tickCount=5),
        name_colours(labels),
        alt.YOffset("name:N", sort=labels),
    )
    means = _by_depth({effect.label: effect.by_depth for effect in study.effects}, f"mean, less that of all{unit}")
    return [Panel("topologies", "spread by its source", spread), Panel("topologies-depth", "by depth", means)]


# --- searches --------------------------------------------------------------------------------------------------------


def _regions(searches: Sequence[RegionSearches]) -> list[Panel]:
    panels = []
    for place, searched in enumerate(searches):
        name = "" if len(searches) == 1 else f"{searched.model}, "
        curves = _trajectories(searched.compared, f"regions-{place}")
        panels += [
            replace(panel, title=f"{name}fitted on {side.name}")
            for panel, side in zip(curves, (searched.compared.real, *searched.compared.surrogates), strict=True)
        ]
    return panels


def _trajectories(trajectories: TrajectoryComparison, part: str = "trajectories") -> list[Panel]:
    sides = (trajectories.real, *trajectories.surrogates)
    axes = Axes.over([curve for side in sides for curve in side.curves.values()], trajectories.metric)
    if trajectories.for_real:
        axes = replace(axes, title=axes.title.replace("regret of the mean", "regret of what was seen"))
    panels = []
    for place, side in enumerate(sides):
        title = f"on {side.name}" if place == 0 else f"on the surrogate: {side.name}"
        layers = curve_layers(side.curves, axes, name_colours(list(trajectories.methods)))
        panels.append(Panel(f"{part}-{place}", title, layers.properties(width=WIDTH, height=HEIGHT)))
    return panels
