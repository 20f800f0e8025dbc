"""Searches over their epochs: what is predicted, what the supernet reaches, how many connections skip."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import altair as alt
import numpy as np
from numpy.typing import NDArray

from nasbed.drawing.figures import metric_label
from nasbed.drawing.marks import Chart, inline, number, series
from nasbed.drawing.palette import COLOURS, FAINT
from nasbed.studies.one_shot.study import OneShotStudy, RandomReference, WatchedMethod, WatchedSearch

WIDTH, HEIGHT, LOW = 260, 190, 110
TOGETHER = 380, 260
MARK, WRONG = COLOURS[4], COLOURS[1]
PREDICTED, SUPERNET, SKIPS = COLOURS[0], COLOURS[2], (COLOURS[1], COLOURS[3])
SHAPES = ("triangle-up", "diamond", "square", "cross")
REFERENCES = {"random, mean": [5, 4], "random, best": [1, 3]}
FEW = 12
"""Up to this number of epochs, each epoch is drawn as a dot."""
Column = Callable[[WatchedSearch], NDArray[np.generic]]
Row = dict[str, Any]


def one_shot_figures(study: OneShotStudy) -> dict[str, Chart]:
    """``method-1``, ``method-2`` …, on axes that all share, and ``together``."""
    axes = _TrajectoryAxes.over(study)
    figures = {f"method-{index}": _method(study, method, axes) for index, method in enumerate(study.methods, 1)}
    return figures | {"together": _together(study, axes)}


@dataclass(frozen=True, slots=True)
class _TrajectoryAxes:
    """The same for every method, so that they can be compared by eye."""

    last: int
    prediction: tuple[float, float]
    supernet: tuple[float, float]
    skips: int
    label: str

    @classmethod
    def over(cls, study: OneShotStudy) -> _TrajectoryAxes:
        searches = [search for method in study.methods for search in method.searches]
        columns = [column for search in searches for column in (search.prediction, search.benchmark_prediction)]
        predictions = [value for column in columns for value in column.tolist()]
        references = [method.reference for method in study.methods]
        predictions += [value for reference in references for value in (reference.mean, reference.best)]
        return cls(
            last=max(int(search.epochs[-1]) for search in searches),
            prediction=_span(predictions, above=0.16),
            supernet=_span([value for search in searches for value in search.supernet.tolist()]),
            skips=max((int(column.max()) for search in searches for column in search.skips.values()), default=0),
            label=metric_label(study.metric),
        )

    def x(self, field: str = "epoch", *, labelled: bool) -> Any:
        """The epochs; a panel above another one has ticks without labels."""
        step = next(step for step in (1, 2, 5, 10, 20, 50, 100, 200, 500, self.last) if self.last <= 6 * step)
        ticks = [1, *range(max(2, step), self.last + 1, step)]
        scale = alt.Scale(domain=[1, max(2, self.last)], nice=False, padding=8)
        x = alt.X(f"{field}:Q", title="search epoch" if labelled else None).scale(scale)
        return x.axis(values=ticks, format="d", grid=False, labels=labelled)


def _span(values: Iterable[float], *, above: float = 0.06) -> tuple[float, float]:
    finite = [value for value in values if math.isfinite(value)] or [0.0]
    width = max(finite) - min(finite) or 1.0
    return min(finite) - 0.06 * width, max(finite) + above * width


def _y(title: str, span: tuple[float, float], **axis: Any) -> Any:
    y = alt.Y("value:Q", title=title).scale(domain=list(span), nice=False, zero=False)
    return y.axis(**({"tickCount": 4, "minExtent": 34, "maxExtent": 34} | axis))


def _method(study: OneShotStudy, method: WatchedMethod, axes: _TrajectoryAxes) -> Chart:
    panels = [_prediction_panel(study, method, axes), _supernet(study, method, axes, labelled=not study.kinds)]
    if study.kinds:
        panels.append(_skips(study, method, axes))
    return alt.vconcat(*panels, spacing=8, title=method.name)


def _prediction_panel(study: OneShotStudy, method: WatchedMethod, axes: _TrajectoryAxes) -> Chart:
    y = _y(axes.label, axes.prediction)
    layers = _lines(
        method, lambda search: search.prediction, axes.x(labelled=False), y, PREDICTED, dots=axes.last <= FEW
    )
    marks = [
        {"epoch": stop.architecture_epoch, "value": number(stop.prediction), "rule": _stop(rule)}
        for search in method.searches
        for rule, stop in search.stops.items()
        if stop is not None
    ]
    if method.judge.left_out:
        layers.insert(0, _data_seen(method, axes.x(labelled=False), y))
    layers = [
        *_wrong(method, axes),
        _references(method.reference, y),
        *layers,
        _marks(study, marks, axes.x(labelled=False), y),
    ]
    return alt.layer(*layers).properties(width=WIDTH, height=HEIGHT)


def _supernet(study: OneShotStudy, method: WatchedMethod, axes: _TrajectoryAxes, *, labelled: bool) -> Chart:
    x, y = axes.x(labelled=labelled), _y("supernet acc. [%]", axes.supernet)
    layers = _lines(method, lambda search: search.supernet, x, y, SUPERNET, dots=axes.last <= FEW)
    marks = [
        {"epoch": stop.after, "value": number(float(search.supernet[stop.after - 1])), "rule": _stop(rule)}
        for search in method.searches
        for rule, stop in search.stops.items()
        if stop is not None
    ]
    return alt.layer(*layers, _marks(study, marks, x, y)).properties(width=WIDTH, height=LOW)


def _skips(study: OneShotStudy, method: WatchedMethod, axes: _TrajectoryAxes) -> Chart:
    top = max(2, axes.skips)
    step = max(1, math.ceil(top / 4))
    x = axes.x(labelled=True)
    y = _y("skip connections", (-0.04 * top, top * 1.06), values=list(range(0, top + 1, step)), format="d")
    colours = [SKIPS[place % len(SKIPS)] for place in range(len(study.kinds))]
    colour = alt.Color("kind:N", title=None, sort=study.kinds).scale(domain=study.kinds, range=colours)
    colour = colour.legend(None) if len(study.kinds) == 1 else colour.legend(**_legend("stroke"))
    layers = []
    for place, kind in enumerate(study.kinds):
        dash = [5, 2] if place else [1, 0]  # so that both are seen where they coincide
        rows, means = _rows(method, lambda search, kind=kind: search.skips[kind])  # type: ignore[misc]
        thin = alt.Chart(inline([{**row, "kind": kind} for row in rows]))
        bold = alt.Chart(inline([{**row, "kind": kind} for row in means]))
        layers.append(thin.mark_line(strokeWidth=1, opacity=0.4).encode(x, y, colour, alt.Detail("seed:N")))
        layers.append(bold.mark_line(strokeWidth=2.2, strokeDash=dash).encode(x, y, colour))
    return alt.layer(*layers).properties(width=WIDTH, height=LOW)


def _rows(method: WatchedMethod, column: Column) -> tuple[list[Row], list[Row]]:
    """The points of all seeds, and those of their mean."""
    seeds = [
        {"seed": str(search.seed), "epoch": epoch, "value": number(float(value))}
        for search in method.searches
        for epoch, value in zip(search.epochs.tolist(), column(search).tolist(), strict=True)
    ]
    means = [{"epoch": epoch, "value": number(value)} for epoch, value in enumerate(method.mean(column).tolist(), 1)]
    return seeds, means


def _lines(method: WatchedMethod, column: Column, x: Any, y: Any, colour: str, *, dots: bool) -> list[Chart]:
    """A thin line per seed and a thick one for their mean.

    Args:
        method: the method and its searches.
        column: the values of a search, one per epoch.
        x, y: the encodings of the axes.
        colour: the colour of the lines.
        dots: whether each epoch of the mean is a dot.
    """
    rows, means = _rows(method, column)
    thin = alt.Chart(inline(rows)).encode(x, y, alt.Detail("seed:N"))
    point: Any = {"size": 22, "color": colour, "filled": True} if dots else False
    return [
        thin.mark_line(strokeWidth=1, opacity=0.4, color=colour),
        alt.Chart(inline(means)).mark_line(strokeWidth=2.2, color=colour, point=point).encode(x, y),
    ]


def _data_seen(method: WatchedMethod, x: Any, y: Any) -> Chart:
    """The mean prediction of the benchmark itself, which has seen the method's data."""
    means = _rows(method, lambda search: search.benchmark_prediction)[1]
    return (
        alt.Chart(inline(means))
        .mark_line(strokeWidth=1.6, strokeDash=[4, 3], color=PREDICTED, opacity=0.55)
        .encode(x, y)
    )


def _wrong(method: WatchedMethod, axes: _TrajectoryAxes) -> list[Chart]:
    """The epochs in which searches go wrong, shaded and labelled."""
    spans = [
        {"epoch": search.failure.epoch, "end": int(search.epochs[-1])}
        for search in method.searches
        if search.failure is not None
    ]
    if not spans:
        return []
    x = axes.x(labelled=False)
    words = {"epoch": max(span["end"] for span in spans), "words": "goes wrong"}
    return [
        alt.Chart(inline(spans)).mark_rect(color=WRONG, opacity=0.11).encode(x, alt.X2("end:Q")),
        alt.Chart(inline([words]))
        .mark_text(color=WRONG, align="right", baseline="top", dx=-2, fontSize=12, fontStyle="italic")
        .encode(x, alt.Text("words:N"), y=alt.value(4)),
    ]


def _references(reference: RandomReference, y: Any) -> Chart:
    values = (reference.mean, reference.best)
    rows = [{"value": value, "reference": name} for name, value in zip(REFERENCES, values, strict=True)]
    dash = alt.StrokeDash("reference:N", title=None, sort=list(REFERENCES))
    dash = dash.scale(domain=list(REFERENCES), range=list(REFERENCES.values())).legend(**_legend("stroke"))
    return alt.Chart(inline(rows)).mark_rule(color=FAINT, strokeWidth=1.4).encode(y, dash)


def _stop(rule: str) -> str:
    return f"stop: {rule}"


def _marks(study: OneShotStudy, rows: Sequence[Row], x: Any, y: Any) -> Chart:
    names = [_stop(rule) for rule in study.rules]
    shape = alt.Shape("rule:N", title=None, sort=names).scale(domain=names, range=list(SHAPES[: len(names)]))
    shape = (
        shape.legend(**_legend(None), symbolFillColor=MARK, symbolStrokeColor=FAINT) if names else shape.legend(None)
    )
    points = alt.Chart(inline(rows)).mark_point(size=75, filled=True, fill=MARK, stroke=FAINT, strokeWidth=1, opacity=1)
    return points.encode(x, y, shape)


def _legend(symbol: str | None) -> dict[str, Any]:
    options: dict[str, Any] = {"orient": "bottom", "direction": "vertical", "columns": 1, "symbolOpacity": 1}
    return options | ({"symbolType": symbol} if symbol else {})


def _together(study: OneShotStudy, axes: _TrajectoryAxes) -> Chart:
    """The mean prediction of every method, over epochs and over search time."""
    rows = [
        {"method": method.name, "epoch": epoch, "time": time, "value": number(value)}
        for method in study.methods
        for epoch, (time, value) in enumerate(
            zip(method.mean(lambda search: search.time_s), method.mean(lambda search: search.prediction), strict=True),
            1,
        )
    ]
    longest = max((row["time"] for row in rows), default=1.0)
    y = _y(axes.label, axes.prediction)
    time = alt.X("time:Q", title="search time [s]").scale(domain=[0, longest], nice=False, padding=8)
    time = time.axis(tickCount=6, grid=False)
    colour = series([method.name for method in study.methods], "method", None)
    panels = []
    for x in (axes.x(labelled=True), time):
        lines = alt.Chart(inline(rows)).mark_line(point={"size": 22, "filled": True} if axes.last <= FEW else False)
        panel = alt.layer(_references(study.reference, y), lines.encode(x, y, colour))
        panels.append(panel.properties(width=TOGETHER[0], height=TOGETHER[1]))
    return alt.hconcat(*panels, spacing=30)
