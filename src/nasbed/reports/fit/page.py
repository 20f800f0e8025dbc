"""The page of a fitted surrogate: the errors of its predictions, the coverage of its intervals, its provenance."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import altair as alt
import numpy as np

from nasbed.core.metric import Metric
from nasbed.drawing.blocks import Figure, FigureGroup, TableBlock, TableCell, table_block
from nasbed.drawing.figures import metric_label
from nasbed.drawing.marks import Chart, diagonal_line, inline, level_line, log_ticks, significant
from nasbed.drawing.page import Section, write_page
from nasbed.drawing.palette import HUES
from nasbed.drawing.themes import NUMBER
from nasbed.reports.fit.data import LEVELS, FitData, figure_rows, fit_data, level_table, noise_text
from nasbed.surrogates.artefact import Artefact
from nasbed.surrogates.examples import Examples

HEIGHT = 300
MOST_POINTS = 2000
BEFORE, AFTER = "spread between members", "calibrated"
TITLES = {
    "scatter": "Predicted against measured",
    "residuals": "Residuals",
    "calibration": "Nominal and real coverage",
    "coverage": "Coverage by predicted value",
    "runtime": "Predicted against measured time",
}
TEXTS = {
    "scatter": "Each point is an evaluation of the test part, which nothing was fitted on; on the line, prediction and "
    "measurement agree.",
    "residuals": "Measured minus predicted. The line joins medians among neighbours in predicted value; the band holds "
    "90 % of them.",
    "calibration": "How many evaluations lie within intervals of a nominal share: on the line, an interval holds what "
    "it says. The spread between members is what the paper takes; the calibrated deviation is learned from "
    "evaluations that members did not see.",
    "coverage": "The share that 90 % intervals hold among neighbours in predicted value.",
    "runtime": "Training time as measured and as predicted; the benchmark's simulated clock runs on predictions.",
}

LEVELS_TEXT = (
    "The same figures at each fidelity. The noise drawn is the standard deviation of noisy answers over the test part; "
    "the noise measured is that of repeats around their mean, or of residuals where nothing was repeated. All other "
    "sections are of the highest fidelity."
)


def write_fit_report(
    path: str | Path,
    artefact: Artefact,
    test: Examples,
    *,
    runtime_method: str | None = None,
    times: Mapping[str, float] | None = None,
    command: str = "",
) -> None:
    """Write one self-contained page about a fitted surrogate.

    Args:
        path: the page's file.
        artefact: the fitted surrogate.
        test: held-out evaluations.
        runtime_method: restricts runtimes to those of one method.
        times: seconds by name.
        command: the command that fitted the surrogate.
    """
    manifest = artefact.manifest
    data = fit_data(artefact, test, runtime_method=runtime_method)
    charts = _charts(data, manifest.metric)
    rows = tuple((TableCell(name), TableCell(value, "number")) for name, value in figure_rows(manifest, times))
    levels = level_table(manifest)
    sections = [
        Section("How well it fits", {}, text=_lead(artefact, len(test)), blocks=[TableBlock((), rows, "plain")]),
        *([] if levels is None else [Section("By fidelity", {}, text=LEVELS_TEXT, blocks=[table_block(levels)])]),
        Section("Predictions", {}, blocks=[_figures("scatter", "residuals")]),
        Section("Intervals", {}, blocks=[_figures("calibration", "coverage")]),
    ]
    if "runtime" in charts:
        sections.append(Section("Runtime", {}, blocks=[_figures("runtime")]))
    sections.append(Section("Data and settings", _facts(artefact, command)))
    write_page(path, manifest.name, sections, charts=charts)


def _lead(artefact: Artefact, rows: int) -> str:
    manifest = artefact.manifest
    count = manifest.member_count
    return (
        f"{count} member{'s' if count != 1 else ''} of {manifest.members.model} predict "
        f"{metric_label(manifest.metric)} in "
        f"{manifest.space}. Figures are those of {rows:,} evaluations that nothing was fitted on."
    )


def _figures(*names: str) -> FigureGroup:
    return FigureGroup(tuple(Figure(name, TITLES[name], TEXTS[name]) for name in names), "cards")


def _facts(artefact: Artefact, command: str) -> dict[str, object]:
    manifest, provenance = artefact.manifest, artefact.manifest.provenance
    facts: dict[str, object] = {
        "table": provenance.get("table", ""),
        "fitted on": "{:,} evaluations of {:,} architectures".format(
            provenance.get("rows", 0), provenance.get("architectures", 0)
        ),
        "methods": ", ".join(
            f"{name or 'not recorded'} ({count:,})" for name, count in provenance.get("methods", {}).items()
        ),
        "fidelity": ", ".join(map(str, manifest.fidelities)) if manifest.fidelity >= 0 else "not recorded",
        "settings": ", ".join(f"{name} = {value}" for name, value in manifest.members.settings.items()),
        "noise of queries": noise_text(artefact),
        "exact costs": ", ".join(manifest.exact) or "none",
        "seed of the split": provenance.get("split_seed", ""),
        "licence": manifest.licence,
        "citation": manifest.citation,
        "made": f"{manifest.created} by nasbed {manifest.nasbed_version}",
        "command": command,
    }
    return {name: fact for name, fact in facts.items() if fact != ""}


# --- figures ---------------------------------------------------------------------------------------------------------


def _charts(data: FitData, metric: Metric) -> dict[str, Chart]:
    charts = {
        "scatter": _scatter(data, metric),
        "residuals": _residuals(data, metric),
        "calibration": _calibration(data),
        "coverage": _coverage(data, metric),
    }
    if len(data.runtime_s):
        charts["runtime"] = _runtime(data)
    return charts


def _sample(count: int) -> Any:
    """The rows to draw: all, or a random sample of ``MOST_POINTS``."""
    if count <= MOST_POINTS:
        return np.arange(count)
    return np.sort(np.random.default_rng(0).choice(count, MOST_POINTS, replace=False))


def _round_columns(*columns: Any) -> list[list[float]]:
    return [[significant(value, 5) for value in column.tolist()] for column in columns]


def _axis(field: str, title: str, ends: tuple[float, float] | None = None, **scale: Any) -> Any:
    kind = alt.X if field == "x" else alt.Y
    options = {"zero": False, "nice": False, **scale} | ({} if ends is None else {"domain": list(ends)})
    ticks = {"values": log_ticks(*ends)} if ends and scale.get("type") == "log" else {"tickCount": 5}
    return kind(f"{field}:Q", title=title, scale=alt.Scale(**options)).axis(**ticks)


def _margin(*columns: Any) -> tuple[float, float]:
    """The ends of an axis around all values."""
    low, high = min(float(column.min()) for column in columns), max(float(column.max()) for column in columns)
    room = (high - low) * 0.03 or 1.0
    return low - room, high + room


def _scatter(data: FitData, metric: Metric) -> Chart:
    sample = _sample(len(data.truth))
    ends = _margin(data.truth, data.predicted)
    columns = _round_columns(data.predicted[sample], data.truth[sample], data.std[sample])
    rows = [{"x": x, "y": y, "std": std} for x, y, std in zip(*columns, strict=True)]
    points = alt.Chart(inline(rows)).mark_point(**_dot()).encode(
        x=_axis("x", f"predicted {metric_label(metric)}", ends),
        y=_axis("y", "measured", ends),
        tooltip=_tips(x="predicted", y="measured", std="deviation"),
    )  # fmt: skip
    return alt.layer(points, diagonal_line(ends)).properties(height=HEIGHT)


def _residuals(data: FitData, metric: Metric) -> Chart:
    sample = _sample(len(data.truth))
    ends = _margin(data.predicted)
    columns = _round_columns(data.predicted[sample], (data.truth - data.predicted)[sample])
    points = alt.Chart(inline([{"x": x, "y": y} for x, y in zip(*columns, strict=True)])).mark_point(**_dot())
    points = points.encode(
        x=_axis("x", f"predicted {metric_label(metric)}", ends),
        y=_axis("y", "measured minus predicted"),
        tooltip=_tips(x="predicted", y="residual"),
    )
    bins = [
        {"x": bin.predicted, "low": bin.residual.low, "middle": bin.residual.estimate, "high": bin.residual.high}
        for bin in data.bins
    ]
    base = alt.Chart(inline(bins)).encode(x="x:Q")
    band = base.mark_area(color=HUES[1], opacity=0.22).encode(y="low:Q", y2="high:Q")
    line = base.mark_line(color=HUES[1]).encode(y="middle:Q")
    return alt.layer(points, level_line(0), band, line).properties(height=HEIGHT)


def _calibration(data: FitData) -> Chart:
    rows = [
        {"x": level, "y": share, "what": deviation}
        for deviation, shares in ((BEFORE, data.raw_coverage), (AFTER, data.coverage))
        for level, share in zip(LEVELS, shares, strict=True)
    ]
    base = alt.Chart(inline(rows)).encode(
        x=_axis("x", "nominal share", (0, 1)),
        y=_axis("y", "share of evaluations within", (0, 1)),
        color=_before_and_after(),
        tooltip=_tips(x="nominal", y="held", what="deviation"),
    )
    return alt.layer(diagonal_line((0, 1)), base.mark_line(), base.mark_point(filled=True, size=40)).properties(
        height=HEIGHT
    )


def _coverage(data: FitData, metric: Metric) -> Chart:
    rows = [
        {"x": bin.predicted, "y": share, "what": deviation, "count": bin.count}
        for bin in data.bins
        for deviation, share in ((BEFORE, bin.raw_coverage), (AFTER, bin.coverage))
    ]
    base = alt.Chart(inline(rows)).encode(
        x=_axis("x", f"predicted {metric_label(metric)}"),
        y=_axis("y", "share within 90 % intervals", (0, 1)),
        color=_before_and_after(),
        tooltip=_tips(x="predicted", y="held", what="deviation", count="evaluations"),
    )
    return alt.layer(level_line(0.9), base.mark_line(), base.mark_point(filled=True, size=40)).properties(height=HEIGHT)


def _runtime(data: FitData) -> Chart:
    sample = _sample(len(data.runtime_s))
    columns = data.predicted_runtime_s, data.runtime_s
    low, high = min(float(column.min()) for column in columns), max(float(column.max()) for column in columns)
    ends = low / 1.05, high * 1.05
    rows = [{"x": x, "y": y} for x, y in zip(*_round_columns(*(column[sample] for column in columns)), strict=True)]
    points = alt.Chart(inline(rows)).mark_point(**_dot()).encode(
        x=_axis("x", "predicted training time [s]", ends, type="log"),
        y=_axis("y", "measured [s]", ends, type="log"),
        tooltip=_tips(x="predicted", y="measured"),
    )  # fmt: skip
    return alt.layer(points, diagonal_line(ends)).properties(height=HEIGHT)


def _dot() -> dict[str, Any]:
    return {"filled": True, "size": 18, "opacity": 0.45, "color": HUES[0], "strokeWidth": 0}


def _tips(**titles: str) -> list[Any]:
    return [
        alt.Tooltip(f"{field}:N", title=title)
        if field == "what"
        else alt.Tooltip(f"{field}:Q", title=title, format=NUMBER)
        for field, title in titles.items()
    ]


def _before_and_after() -> Any:
    colour = alt.Color("what:N", title=None).scale(domain=[BEFORE, AFTER], range=[HUES[1], HUES[0]])
    return colour.legend(orient="top", symbolOpacity=1, symbolType="stroke", symbolSize=200)
