"""Architectures that NAS methods found on unseen datasets against random ones, as a table and a figure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt

from nasbed.drawing.marks import Chart, inline
from nasbed.drawing.number_tables import NumberTable
from nasbed.drawing.number_texts import MISSING
from nasbed.drawing.palette import COLOURS, FAINT
from nasbed.experiments.unseen.budget import RANDOM
from nasbed.studies.unseen.chance import ChanceComparison, spread, summary_lines
from nasbed.studies.unseen.study import UnseenStudy

WIDTH, ROW = 300, 22
EXPLAINED = (
    "A point is what a method found, the mean over its trainings with one standard deviation; ticks are architectures "
    "by chance from the same space, trained alike. Each dataset has its own axis."
)
FOUND_KEY = "epochs: of search + of training; by chance: mean ± standard deviation over so many architectures"


def found_table(study: UnseenStudy) -> NumberTable | None:
    """A row per found architecture, the best of a dataset and space first; None where there is none."""
    rows = [
        (
            _title(study, comparison),
            comparison.model,
            str(comparison.search_seed),
            f"{comparison.search_epochs} + {comparison.epochs}",
            spread(comparison.accuracies),
            f"{spread(comparison.by_chance)} ({len(comparison.by_chance)})" if comparison.by_chance else MISSING,
            MISSING if comparison.difference is None else f"{comparison.difference:+.2f}",
            f"{comparison.beaten} of {len(comparison.by_chance)}" if comparison.by_chance else MISSING,
        )
        for comparison in _ordered(study)
    ]
    columns = ("dataset", "method", "seed", "epochs", "found [%]", "by chance [%]", "difference", "beats")
    return NumberTable(columns, tuple(rows), numbers=2) if rows else None


def found_lines(study: UnseenStudy) -> list[str]:
    """What to measure where no random architecture was trained alike, and a summary of all comparisons."""
    alone: dict[tuple[str, str], list[str]] = {}
    for comparison in _ordered(study):
        if not comparison.by_chance:
            alone.setdefault((_title(study, comparison), RANDOM[comparison.space]), []).append(comparison.model)
    return [
        *(
            f"{title}: no architecture by chance was trained like those of {', '.join(dict.fromkeys(models))}; measure "
            f"{chance} at the same settings."
            for (title, chance), models in alone.items()
        ),
        *summary_lines(study.comparisons),
    ]


def found_chart(study: UnseenStudy) -> Chart | None:
    """A panel per dataset; None where there are no random architectures to compare with."""
    with_chance = [comparison for comparison in _ordered(study) if comparison.by_chance]
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
    title = _title(study, comparisons[0])
    return alt.layer(*layers).properties(width=WIDTH, height=ROW * len(names), title=title)


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


def _ordered(study: UnseenStudy) -> list[ChanceComparison]:
    order = {dataset: place for place, dataset in enumerate(study.paper.datasets)}
    return sorted(
        study.comparisons,
        key=lambda comparison: (
            order.get(comparison.dataset, len(order)),
            comparison.dataset,
            comparison.space != "darts",
            -comparison.mean,
        ),
    )


def _title(study: UnseenStudy, comparison: ChanceComparison) -> str:
    return study.paper.datasets.get(comparison.dataset, comparison.dataset)
