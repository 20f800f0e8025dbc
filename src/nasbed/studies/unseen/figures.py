"""The figures of the study of unseen datasets: measured over published, the best of each, found over random."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt

from nasbed.drawing.marks import Chart, inline, series, shapes
from nasbed.drawing.palette import BAND, COLOURS, FAINT
from nasbed.studies.unseen.curves import curve_charts
from nasbed.studies.unseen.random_baseline import ChanceComparison
from nasbed.studies.unseen.study import LARGE, UnseenStudy

SIDE, ROW = 360, 34
PANEL_WIDTH, PANEL_ROW = 300, 22


def unseen_figures(study: UnseenStudy) -> dict[str, Chart]:
    """``best`` is table 3 as a figure. ``published-measured`` exists with measurements of the paper's models,
    ``curves`` and ``nas-curves`` with trainings that were validated epoch by epoch, ``found-chance`` with random
    architectures to compare with."""
    figures = {"best": _best_chart(study)}
    if any(cell.published is not None for cell in study.cells.values()):
        figures["published-measured"] = _published_chart(study)
    figures |= curve_charts(study)
    if (chart := found_chart(study)) is not None:
        figures["found-chance"] = chart
    return figures


def _published_chart(study: UnseenStudy) -> Chart:
    """Measured over published accuracies, and their differences by dataset."""
    rows: list[dict[str, Any]] = [
        {
            "model": cell.model,
            "dataset": study.paper.datasets[cell.dataset],
            "published": cell.published,
            "mean": cell.mean,
            "difference": cell.difference,
            "low": cell.difference - (cell.std or 0.0),
            "high": cell.difference + (cell.std or 0.0),
        }
        for cell in study.cells.values()
        if cell.difference is not None
    ]
    models = list(dict.fromkeys(row["model"] for row in rows))
    looks = series(models, "model", None), shapes(models, "model", None)
    return alt.hconcat(_scatter(rows, looks), _differences(study, rows, models, looks), spacing=32)


def _scatter(rows: list[dict[str, Any]], looks: tuple[Any, Any]) -> Chart:
    values = [row[key] for row in rows for key in ("published", "mean")]
    low, high = max(0.0, min(values) - 6), min(100.0, max(values) + 6)
    scale = alt.Scale(domain=[low, high], nice=False)

    def x(field: str) -> Any:
        return alt.X(f"{field}:Q", title="published test accuracy [%]").scale(scale)

    def y(field: str) -> Any:
        return alt.Y(f"{field}:Q", title="measured test accuracy [%]").scale(scale)

    line = alt.Chart(inline([{"x": end, "y": end, "below": end - LARGE, "above": end + LARGE} for end in (low, high)]))
    layers = [
        line.mark_area(color=BAND, clip=True).encode(x("x"), y("below"), alt.Y2("above:Q")),
        line.mark_line(color=FAINT, strokeDash=[4, 3], strokeWidth=1).encode(x("x"), y("y")),
        alt.Chart(inline(rows)).mark_point(filled=True, size=60, opacity=1).encode(x("published"), y("mean"), *looks),
    ]
    return alt.layer(*layers).properties(width=SIDE - 60, height=SIDE - 60)


def _differences(study: UnseenStudy, rows: list[dict[str, Any]], models: list[str], looks: tuple[Any, Any]) -> Chart:
    order = [title for title in study.paper.datasets.values() if title in {row["dataset"] for row in rows}]
    span = max(LARGE + 1, *(abs(row[key]) for row in rows for key in ("low", "high")))

    def x(field: str) -> Any:
        title = "measured − published [points]"
        return alt.X(f"{field}:Q", title=title).scale(domain=[-span, span], nice=True)

    base = alt.Chart(inline(rows)).encode(
        alt.Y("dataset:N", title=None, sort=order), alt.YOffset("model:N", sort=models), looks[0]
    )
    band = alt.Chart(inline([{"below": -LARGE, "above": LARGE, "zero": 0}]))
    layers = [
        band.mark_rect(color=BAND).encode(x("below"), alt.X2("above:Q")),
        band.mark_rule(color=FAINT, strokeDash=[4, 3]).encode(x("zero")),
        base.mark_rule().encode(x("low"), alt.X2("high:Q")),
        base.mark_point(filled=True, size=60, opacity=1).encode(x("difference"), looks[1]),
    ]
    height = max(SIDE - 60, len(order) * (14 + 12 * len(models)))
    return alt.layer(*layers).properties(width=SIDE - 60, height=height)


def _best_chart(study: UnseenStudy) -> Chart:
    paper = study.paper
    kinds = list(paper.best_titles.values())
    published = [
        {"dataset": title, "kind": paper.best_titles[column], "accuracy": value}
        for dataset, title in paper.datasets.items()
        for column, value in paper.best[dataset].items()
    ]
    measured = [
        {"dataset": title, "kind": paper.best_titles[column], "accuracy": cell.mean}
        for dataset, title in paper.datasets.items()
        for column in ("cnn", "nas")
        if (cell := study.best(dataset, column)) is not None
    ]
    guessed = [{"dataset": title, "accuracy": paper.chance[dataset]} for dataset, title in paper.datasets.items()]
    colour = alt.Color("kind:N", title=None, sort=kinds).scale(domain=kinds, range=list(COLOURS[: len(kinds)]))
    shape = alt.Shape("kind:N", title=None, sort=kinds).scale(domain=kinds, range=["circle", "square", "triangle-up"])
    order = list(paper.datasets.values())

    def base(rows: list[dict[str, Any]]) -> Any:
        return alt.Chart(inline(rows)).encode(
            alt.Y("dataset:N", title=None, sort=order),
            alt.X("accuracy:Q", title="test accuracy [%]").scale(domain=[0, 100]),
        )

    layers = [
        base(guessed).mark_tick(color=FAINT, thickness=1.5, size=14),
        base(published).mark_point(filled=True, size=60, opacity=1).encode(colour, shape),
    ]
    if measured:
        layers.append(base(measured).mark_point(filled=False, size=130, strokeWidth=1.8).encode(colour, shape))
    return alt.layer(*layers).properties(width=SIDE + 60, height=ROW * len(order))


def found_chart(study: UnseenStudy) -> Chart | None:
    """A panel per dataset; None where there are no random architectures to compare with."""
    with_chance = [comparison for comparison in study.ordered_comparisons() if comparison.by_chance]
    datasets = list(dict.fromkeys(comparison.dataset for comparison in with_chance))
    panels = [
        _panel(study, [comparison for comparison in with_chance if comparison.dataset == dataset])
        for dataset in datasets
    ]
    return alt.concat(*panels, columns=2, spacing=28) if panels else None


def _panel(study: UnseenStudy, comparisons: Sequence[ChanceComparison]) -> Chart:
    names = _names(comparisons)
    points: list[dict[str, Any]] = []
    ticks: list[dict[str, Any]] = []
    for name, comparison in zip(names, comparisons, strict=True):
        low, high = _band(comparison)
        points.append({"method": name, "accuracy": comparison.mean, "low": low, "high": high})
        ticks += [{"method": name, "accuracy": value} for value in comparison.by_chance]
    values = [row[key] for row in points for key in ("low", "high")] + [row["accuracy"] for row in ticks]
    room = 0.06 * (max(values) - min(values)) or 1.0
    scale = alt.Scale(domain=[max(0.0, min(values) - room), min(100.0, max(values) + room)], nice=False)

    def base(rows: list[dict[str, Any]], field: str = "accuracy") -> Any:
        return alt.Chart(inline(rows)).encode(
            alt.Y("method:N", title=None, sort=names),
            alt.X(f"{field}:Q", title="test accuracy [%]").scale(scale),
        )

    layers = [
        base(ticks).mark_tick(color=FAINT, thickness=1.5, size=12),
        base(points, "low").mark_rule(color=COLOURS[0]).encode(alt.X2("high:Q")),
        base(points).mark_point(filled=True, size=60, opacity=1, color=COLOURS[0]),
    ]
    title = study.dataset_title(comparisons[0].dataset)
    return alt.layer(*layers).properties(width=PANEL_WIDTH, height=PANEL_ROW * len(names), title=title)


def _band(comparison: ChanceComparison) -> tuple[float, float]:
    """The mean minus and plus one standard deviation, which is 0 for a single training."""
    mean, count = comparison.mean, len(comparison.accuracies)
    std = (sum((value - mean) ** 2 for value in comparison.accuracies) / (count - 1)) ** 0.5 if count > 1 else 0.0
    return mean - std, mean + std


def _names(comparisons: Sequence[ChanceComparison]) -> list[str]:
    """Unique names for the rows of a panel: the method, and where needed its seed, epochs of search and of training."""
    parts = [
        (comparison.model, f"seed {comparison.search_seed}", f"{comparison.search_epochs} + {comparison.epochs}")
        for comparison in comparisons
    ]
    for count in (1, 2, 3):
        names = [" ".join(comparison[:count]) for comparison in parts]
        if len(set(names)) == len(names):
            return names
    return [f"{name} ({place})" for place, name in enumerate(names, start=1)]
