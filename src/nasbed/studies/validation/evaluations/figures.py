"""The figures of the parts that describe evaluations: methods, cells, noise, validation against test, the map."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt
import numpy as np

from nasbed.core.metric import Metric
from nasbed.drawing.figures import metric_label
from nasbed.drawing.marks import SEQUENTIAL, Chart, inline
from nasbed.drawing.palette import FAINT, HUES, INK, ON_DARK, ON_LIGHT, PAPER, looks
from nasbed.evaluation.landscape import ValueGroup
from nasbed.studies.validation.evaluations.cell_depths import ONLY_CELL
from nasbed.studies.validation.evaluations.cell_distributions import DEPTH, CellDistributions
from nasbed.studies.validation.evaluations.embedding import Embedding
from nasbed.studies.validation.evaluations.method_profiles import MethodProfiles
from nasbed.studies.validation.evaluations.seed_noise import SeedNoise
from nasbed.studies.validation.evaluations.split_agreement import SplitAgreement
from nasbed.studies.validation.panel import HEIGHT, SQUARE, WIDTH, Panel

DEPTH_COLOURS = alt.SchemeParams(name=SEQUENTIAL, extent=[0.05, 0.9])
"""The colour map without its light end, which is hard to see on white."""


def cell_title(cell: str) -> str:
    """The name of a cell in a heading: ``normal cell``, or ``cell`` where there is one."""
    return cell if cell == ONLY_CELL else f"{cell} cell"


# --- methods ---------------------------------------------------------------------------------------------------------


def profile_panels(study: MethodProfiles, metric: Metric) -> list[Panel]:
    """The distributions of all methods in one panel, and the shares of depths of each cell (figures 7 and 10)."""
    panels = [Panel("methods-ecdf", "what each method evaluated", _distributions(study, metric))]
    for cell, depths in study.depths.items():
        rows = [
            {"method": profile.method, "depth": depth, "share": share}
            for profile in study.profiles
            for depth, share in zip(depths, profile.depth_shares[cell], strict=True)
        ]
        panels.append(Panel(f"methods-depth-{cell}", f"depth of the {cell_title(cell)}", _shares(rows)))
    return panels


def _distributions(study: MethodProfiles, metric: Metric) -> Chart:
    methods = [profile.method for profile in study.profiles]
    rows = [
        {"name": profile.method, "x": value, "y": round(fraction, 4)}
        for profile in study.profiles
        for value, fraction in zip(
            profile.distribution.values.tolist(), profile.distribution.fractions.tolist(), strict=True
        )
    ]
    steps = [
        curve.quantile(at) for curve in (profile.distribution for profile in study.profiles) for at in (0.02, 0.98)
    ]
    tail = [min(steps), max(row["x"] for row in rows)]
    if metric.direction == "minimize":
        tail = [min(row["x"] for row in rows), max(steps)]
    styles = looks(methods)
    columns = max(1, WIDTH // (30 + 7 * max(map(len, methods))))
    legend = alt.Legend(orient="top", title=None, columns=columns, symbolStrokeWidth=2, symbolSize=160)
    colour = alt.Color("name:N", sort=methods, legend=legend)
    dash = alt.StrokeDash("name:N", sort=methods, legend=legend)
    return (
        alt.Chart(inline(rows), width=WIDTH, height=HEIGHT + 60)
        .mark_line(interpolate="step-after", clip=True, strokeWidth=1.8)
        .encode(
            alt.X("x:Q", title=metric_label(metric)).scale(alt.Scale(domain=tail, nice=False)).axis(tickCount=5),
            alt.Y("y:Q", title="share of architectures up to here").axis(format=".0%", tickCount=5),
            colour.scale(domain=methods, range=[style.colour for style in styles.values()]),
            dash.scale(domain=methods, range=[list(style.dash) for style in styles.values()]),
        )
    )


def _shares(rows: list[dict[str, Any]]) -> Chart:
    methods = list(dict.fromkeys(row["method"] for row in rows))
    base = alt.Chart(inline(rows), width=WIDTH - 60, height=20 * len(methods)).encode(
        alt.X("depth:O", title="depth").axis(labelAngle=0, orient="top", domain=False, ticks=False),
        alt.Y("method:N", sort=methods, title=None).axis(domain=False, ticks=False),
    )
    cells = base.mark_rect().encode(
        alt.Color("share:Q", legend=None).scale(alt.Scale(scheme=SEQUENTIAL, domain=[0, 1]))
    )
    ink = alt.condition("datum.share > 0.55", alt.value(ON_LIGHT), alt.value(ON_DARK))
    return cells + base.mark_text(fontSize=11).encode(alt.Text("share:Q", format=".0%"), color=ink)


# --- cells -----------------------------------------------------------------------------------------------------------


def cell_panels(study: CellDistributions, metric: Metric) -> list[Panel]:
    """A violin for each depth, and for each number of parameter-free operations (figures 9, 14 and 21a)."""
    every = [group for distribution in study.distributions for group in distribution.groups]
    ends = np.array([group.ends for group in every])
    counts = [group.count for group in every]
    middle = np.repeat([group.median for group in every], counts)
    spread = float(np.quantile(middle, 0.99) - np.quantile(middle, 0.01)) or 1.0
    spread += float(np.mean([group.high - group.low for group in every]))
    lows, highs = float(ends[:, 0].min()), float(ends[:, 1].max())
    if metric.direction == "maximize":
        lows = max(lows, min(group.low for group in every) - spread)
    else:
        highs = min(highs, max(group.high for group in every) + spread)
    panels = []
    for place, distribution in enumerate(study.distributions):
        name = DEPTH if distribution.property == DEPTH else f"number of {distribution.property}"
        title = f"{cell_title(distribution.cell)}, {distribution.property}"
        chart = _violins(distribution.groups, name, [lows, highs], metric)
        panels.append(Panel(f"cells-{place}", title, chart))
    return panels


def _violins(groups: Sequence[ValueGroup], name: str, domain: list[float], metric: Metric) -> Chart:
    """A violin for each group, cut off at its least and greatest value; only a line for a group that has too few."""
    keys = [group.key for group in groups]
    sides: list[dict[str, Any]] = []
    for group in groups:
        widest = float(group.density.max(initial=0.0)) or 1.0
        for value, density in zip(group.grid.tolist(), (0.45 * group.density / widest).tolist(), strict=True):
            sides.append({"key": group.key, "y": value, "x": group.key - density, "x2": group.key + density})
    middles = [
        {"key": group.key, "low": group.low, "high": group.high, "median": group.median, "count": group.count}
        | {"least": group.ends[0], "most": group.ends[1]}
        for group in groups
    ]
    x = alt.Scale(domain=[min(keys) - 0.6, max(keys) + 0.6], nice=False)
    y = alt.Scale(domain=domain, nice=False)
    layers: list[Chart] = []
    if sides:
        body = alt.Chart(inline(sides)).mark_area(orient="horizontal", opacity=0.45, color=HUES[0], clip=True)
        layers.append(body.encode(alt.Y("y:Q").scale(y), alt.X("x:Q").scale(x), alt.X2("x2:Q"), alt.Detail("key:O")))
    base = alt.Chart(inline(middles)).encode(
        alt.X("key:Q", title=name).scale(x).axis(values=sorted(keys), format="d", grid=False, labelOverlap=False)
    )
    reach = base.mark_rule(strokeWidth=1, color=FAINT, clip=True)
    box = base.mark_rule(strokeWidth=4, color=INK, clip=True)
    layers.append(reach.encode(alt.Y("least:Q").scale(y), alt.Y2("most:Q")))
    layers.append(box.encode(alt.Y("low:Q", title=metric_label(metric)).scale(y).axis(tickCount=5), alt.Y2("high:Q")))
    dot = base.mark_point(filled=True, size=26, color=PAPER, stroke=INK, strokeWidth=1, opacity=1, clip=True)
    layers.append(dot.encode(alt.Y("median:Q").scale(y)))
    counts = base.mark_text(fontSize=9, color=FAINT, dy=-4, baseline="bottom").encode(
        alt.Text("count:Q", format="d"), y=alt.value(0)
    )
    return alt.layer(*layers, counts).properties(width=WIDTH, height=HEIGHT)


# --- noise, and validation against test ------------------------------------------------------------------------------


def noise_panels(study: SeedNoise, metric: Metric) -> list[Panel]:
    """The deviation between seeds over the mean (figure 8)."""
    unit = f" [{metric.unit}]" if metric.unit else ""
    rows = [{"x": x, "y": y} for x, y in zip(study.mean.tolist(), study.std.tolist(), strict=True)]
    tight = alt.Scale(zero=False, padding=8)
    points = alt.Chart(inline(rows), width=WIDTH, height=HEIGHT).mark_circle(size=22, opacity=0.55, color=HUES[0])
    points = points.encode(
        alt.X("x:Q", title=f"mean {metric_label(metric)}").scale(tight).axis(tickCount=5),
        alt.Y("y:Q", title=f"standard deviation{unit}").axis(tickCount=5),
    )
    return [Panel("noise", f"{len(rows)} architectures with {study.seeds} seeds each", points)]


def split_panels(study: SplitAgreement) -> list[Panel]:
    """The validation metric over the test metric, of a sample."""
    rows = [{"x": x, "y": y} for x, y in zip(study.points.truth.tolist(), study.points.predicted.tolist(), strict=True)]
    tight = alt.Scale(zero=False, padding=6)
    points = alt.Chart(inline(rows), width=SQUARE, height=SQUARE).mark_circle(size=14, opacity=0.55, color=HUES[0])
    points = points.encode(
        alt.X("x:Q", title=metric_label(study.test)).scale(tight).axis(tickCount=5),
        alt.Y("y:Q", title=metric_label(study.validation)).scale(tight).axis(tickCount=5),
    )
    return [Panel("test", "means of architectures", points)]


# --- the map ---------------------------------------------------------------------------------------------------------


def embedding_panels(embedding: Embedding) -> list[Panel]:
    """The map by rank, by the depth of each cell and by method (figures 11 to 13)."""
    places = [{"x": round(x, 2), "y": round(y, 2)} for x, y in embedding.points.tolist()]
    ranks = [place | {"rank": round(rank, 4)} for place, rank in zip(places, embedding.rank.tolist(), strict=True)]
    ranks.sort(key=lambda row: -row["rank"])
    axis = alt.Axis(labels=False, ticks=False, grid=False, domain=False, title=None)
    tight = alt.Scale(zero=False, nice=False, padding=6)

    def points(rows: list[dict[str, Any]], **look: Any) -> Any:
        base = alt.Chart(inline(rows), width=WIDTH, height=WIDTH).mark_circle(size=16, **look)
        return base.encode(alt.X("x:Q", axis=axis).scale(tight), alt.Y("y:Q", axis=axis).scale(tight))

    legend = alt.Legend(orient="top", format=".0%", gradientLength=WIDTH - 60, title="rank, 0 % the best")
    colour = alt.Color("rank:Q").scale(alt.Scale(scheme=SEQUENTIAL, reverse=True, domain=[0, 1])).legend(legend)
    panels = [Panel("tsne-rank", "by rank", points(ranks, opacity=0.85).encode(colour))]
    for cell, depth in embedding.depth.items():
        depths = [place | {"depth": level} for place, level in zip(places, depth.tolist(), strict=True)]
        legend = alt.Legend(orient="top", title="depth", symbolOpacity=1)
        colour = alt.Color("depth:O", legend=legend).scale(alt.Scale(scheme=DEPTH_COLOURS))
        chart = points(depths, opacity=0.85).encode(colour)
        panels.append(Panel(f"tsne-depth-{cell}", f"by the depth of the {cell_title(cell)}", chart))
    for index, (method, visited) in enumerate(embedding.by_method.items()):
        inside = [place for place, is_visited in zip(places, visited.tolist(), strict=True) if is_visited]
        outside = [place for place, is_visited in zip(places, visited.tolist(), strict=True) if not is_visited]
        share = f"{len(inside) / max(len(places), 1):.0%} of the points"
        layers = points(outside, color=FAINT, opacity=0.15) + points(inside, color=HUES[index % len(HUES)], opacity=0.8)
        panels.append(Panel(f"tsne-method-{index}", f"evaluated by {method}: {share}", layers))
    return panels
