"""The tables of the study of unseen datasets, published and measured, as text, for a page and as numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from nasbed.core.json_values import plain
from nasbed.drawing.number_tables import NumberTable
from nasbed.drawing.number_texts import MISSING, count_text
from nasbed.experiments.unseen.budget import random_method
from nasbed.experiments.unseen.preset_text import preset_text
from nasbed.experiments.unseen.published import Table as Accuracies
from nasbed.experiments.unseen.published import disagreements, remarks
from nasbed.studies.unseen.random_baseline import ChanceComparison, comparison_text, spread, summary_lines
from nasbed.studies.unseen.study import LARGE, ResultCell, UnseenStudy

MARK = "*"
WHOLE = 64
"""The epochs of a training in the paper."""
KEY = (
    f"here: one training of {WHOLE} epochs, or mean ± standard deviation over trainings [trainings × epochs, s: epochs "
    f"of the search before, p: by a preset]; {MARK} more than {LARGE:g} points from the published; {MISSING} not "
    "measured"
)
FOUND_KEY = "epochs: of search + of training; random: mean ± standard deviation over that many random architectures"


def unseen_tables(study: UnseenStudy) -> dict[str, NumberTable]:
    """Tables 1 to 3 by their headings."""
    paper = study.paper
    return {
        "Table 1: CNNs": _comparison_table(study, paper.cnn, paper.cnn_titles),
        "Table 2: NAS methods": _comparison_table(study, paper.nas, paper.nas_titles, study.unpublished),
        "Table 3: the best of each": _best(study),
    }


def _comparison_table(
    study: UnseenStudy, accuracies: Accuracies, titles: Mapping[str, str], additional: Sequence[str] = ()
) -> NumberTable:
    """A column per model of the paper, each followed by its measurements, then models that the paper lacks, and last
    the accuracy of a random guess."""
    columns, ids = ["dataset"], []
    for column, title in titles.items():
        columns.append(title)
        ids.append((column, ""))
        for model in study.measured([column]):
            columns.append("here" if model == column else f"here, {model}")
            ids.append((column, model))
    for model in additional:
        columns.append(f"here, {model} (not in the paper)")
        ids.append(("", model))
    rows = []
    for dataset, name in study.paper.datasets.items():
        texts = [
            cell_text(study.cells.get((dataset, model))) if model else f"{accuracies[dataset][column]:.2f}"
            for column, model in ids
        ]
        rows.append((name, *texts, f"{study.paper.chance[dataset]:.1f}"))
    return NumberTable((*columns, "Random"), tuple(rows))


def _best(study: UnseenStudy) -> NumberTable:
    paper = study.paper
    measured = [kind for kind in ("cnn", "nas") if any(study.best(dataset, kind) for dataset in paper.datasets)]
    columns, rows = ["dataset"], []
    for column, title in paper.best_titles.items():
        columns += [title, "here", "which"] if column in measured else [title]
    for dataset, name in paper.datasets.items():
        texts = [name]
        for column in paper.best_titles:
            texts.append(f"{paper.best[dataset][column]:.2f}")
            if column in measured:
                cell = study.best(dataset, column)
                texts += [cell_text(cell, marked=False), cell.model if cell else MISSING]
        rows.append(tuple(texts))
    return NumberTable(tuple(columns), tuple(rows))


def cell_text(cell: ResultCell | None, *, marked: bool = True) -> str:
    """A measured accuracy: mean, deviation, seeds and epochs, with a mark where it is far from the published one. One
    training by the paper's protocol is a number alone."""
    if cell is None:
        return MISSING
    deviation = f" ± {cell.std:.2f}" if cell.std is not None else ""
    mark = MARK if marked and cell.large else ""
    search = f" s{cell.search['epochs']}" if "epochs" in cell.search else ""
    preset = " p" if cell.preset else ""
    budget = f" [{len(cell.seeds)}×{cell.epochs}{search}{preset}]"
    return f"{cell.mean:.2f}{deviation}{'' if budget == f' [1×{WHOLE}]' else budget}{mark}"


def outcome(study: UnseenStudy) -> list[str]:
    """The outcome in sentences: how near the published accuracies are, and what was not measured."""
    cells = [cell for cell in study.cells.values() if cell.difference is not None]
    lines = [_coverage(study, cells)]
    if cells:
        lines.append(_agreement(study, cells))
    for heading, titles in (("table 1", study.paper.cnn_titles), ("table 2", study.paper.nas_titles)):
        absent = [title for column, title in titles.items() if not study.measured([column])]
        if absent:
            lines.append(f"Of {heading} not measured on any dataset: {', '.join(absent)}.")
    absent = [
        title for dataset, title in study.paper.datasets.items() if dataset not in {cell.dataset for cell in cells}
    ]
    if absent:
        lines.append(f"Datasets on which nothing was measured: {', '.join(absent)}.")
    short = sorted({cell.epochs for cell in cells if cell.epochs < WHOLE})
    if short:
        lines.append(f"The paper trains for {WHOLE} epochs; some of these had {', '.join(map(str, short))}.")
    for cell in cells:
        expected = study.paper.images[cell.dataset]
        if cell.images and cell.images != expected:
            lines.append(f"{_cell_name(study, cell)}: {_parts(cell.images)} images, the paper has {_parts(expected)}.")
    return lines


def _agreement(study: UnseenStudy, cells: Sequence[ResultCell]) -> str:
    """How near the published accuracies are. Each counts once: a variant only where the network itself is not
    measured."""
    by_place: dict[tuple[str, str], ResultCell] = {}
    for cell in cells:
        place = (cell.dataset, study.paper.column_of(cell.model))
        if place not in by_place or cell.model == place[1]:
            by_place[place] = cell
    counted = list(by_place.values())
    apart = sum(abs(cell.difference or 0.0) for cell in counted) / len(counted)
    near = sum(not cell.large for cell in counted)
    variants = sorted({cell.model for cell in cells if cell not in counted})
    left_out = f" Variants beside the network itself do not count: {', '.join(variants)}." if variants else ""
    return (
        f"The mean absolute difference is {apart:.2f} points; {near} of {len(counted)} are within {LARGE:g}.{left_out}"
    )


def far_lines(study: UnseenStudy) -> list[str]:
    """A line for each model that is far from the published accuracies, the furthest first."""
    large = [cell for cell in study.cells.values() if cell.difference is not None and cell.large]
    by_model: dict[str, list[str]] = {}
    for cell in sorted(large, key=lambda cell: -abs(cell.difference or 0.0)):
        trainings = count_text(len(cell.seeds), "training")
        text = f"{cell.difference:+.2f} on {study.paper.datasets[cell.dataset]} ({trainings})"
        by_model.setdefault(cell.model, []).append(text)
    return [f"{model}, points from the published: {', '.join(texts)}." for model, texts in by_model.items()]


def _coverage(study: UnseenStudy, cells: Sequence[ResultCell]) -> str:
    """How many of the paper's accuracies are measured, by table, and how many of these the user measured."""
    paper = study.paper

    def covered(columns: Mapping[str, str], measured: Sequence[ResultCell]) -> int:
        places = {(cell.dataset, paper.column_of(cell.model)) for cell in measured}
        return sum(column in columns for _, column in places)

    tables = (paper.cnn_titles, paper.nas_titles)
    counts = [covered(columns, cells) for columns in tables]
    totals = [len(columns) * len(paper.datasets) for columns in tables]
    own = sum(covered(columns, [cell for cell in cells if not cell.shipped]) for columns in tables)
    parts = ", ".join(
        f"{count} of {total} in table {number}"
        for number, (count, total) in enumerate(zip(counts, totals, strict=True), 1)
    )
    shipped = sum(counts) - own
    origin = f" {own} are your own, {shipped} come with nasbed." if own and shipped else ""
    return f"Measured here: {sum(counts)} of the {sum(totals)} accuracies of tables 1 and 2 ({parts}).{origin}"


def budget_lines(study: UnseenStudy) -> list[str]:
    """The budgets of the NAS methods, and what the paper says of its own."""
    datasets: dict[tuple[str, str, str], list[str]] = {}
    for cell in study.cells.values():
        if cell.search:
            preset = preset_text(cell.preset, search_epochs=cell.search.get("epochs", 0), epochs=cell.epochs)
            key = (
                cell.model,
                f"{preset}; {_search_text(cell.search)}" if preset else _search_text(cell.search),
                ", ".join(f"{name} {value}" for name, value in cell.skeleton.items()),
            )
            datasets.setdefault(key, []).append(f"{study.paper.datasets[cell.dataset]} ({cell.architectures})")
    alike: dict[tuple[str, str, str], list[str]] = {}
    for (model, search, network), names in datasets.items():
        alike.setdefault((search, network, ", ".join(names)), []).append(model)
    lines = [
        f"{', '.join(models)}: {search}; trained with {network or 'the usual network'}, on (architectures) {names}."
        for (search, network, names), models in alike.items()
    ]
    if lines:
        lines.append(
            "The paper had its methods run in their preset configuration (section 6) and does not say how what they "
            "found was trained: budgets differ."
        )
    return lines


def found_table(study: UnseenStudy) -> NumberTable | None:
    """A row per found architecture, the best of a dataset and space first; None where there is none."""
    rows = [
        (
            study.dataset_title(comparison.dataset),
            comparison.model,
            str(comparison.search_seed),
            f"{comparison.search_epochs} + {comparison.epochs}",
            spread(comparison.accuracies),
            f"{spread(comparison.by_chance)} ({len(comparison.by_chance)})" if comparison.by_chance else MISSING,
            MISSING if comparison.difference is None else f"{comparison.difference:+.2f}",
            f"{comparison.beaten} of {len(comparison.by_chance)}" if comparison.by_chance else MISSING,
        )
        for comparison in study.ordered_comparisons()
    ]
    columns = ("dataset", "method", "seed", "epochs", "found [%]", "random [%]", "difference", "beats")
    return NumberTable(columns, tuple(rows), numbers=2) if rows else None


def found_lines(study: UnseenStudy) -> list[str]:
    """Advice on missing random architectures, and a summary of all comparisons."""
    alone: dict[tuple[str, str], list[str]] = {}
    for comparison in study.ordered_comparisons():
        if not comparison.by_chance:
            alone.setdefault((study.dataset_title(comparison.dataset), random_method(comparison.space)), []).append(
                comparison.model
            )
    return [
        *(
            f"{title}: no random architecture was trained like those of {', '.join(dict.fromkeys(models))}; measure "
            f"{random} at the same settings."
            for (title, random), models in alone.items()
        ),
        *summary_lines(study.comparisons),
    ]


def comparison_lines(study: UnseenStudy) -> list[str]:
    """Found architectures against random ones, by dataset, and a summary; empty where no architecture was found."""
    ordered = sorted(study.comparisons, key=lambda comparison: comparison.dataset)
    return [
        *(comparison_text(comparison, study.dataset_title(comparison.dataset)) for comparison in ordered),
        *summary_lines(ordered),
    ]


def _search_text(search: Mapping[str, Any]) -> str:
    if "epochs" not in search:
        return "one random architecture per seed"
    images = f"{search['epoch_images']} images" if search.get("epoch_images") else "all images"
    titles = {"channels": "channels", "cells": "cells", "batch": "batches of", "precision": "in"}
    network = ", ".join(f"{title} {search[name]}" for name, title in titles.items() if search.get(name) is not None)
    epochs = f"{search['epochs']} epoch{'s' if search['epochs'] > 1 else ''}"
    return f"searched for {epochs} of {images} ({network})"


def paper_lines(study: UnseenStudy) -> list[str]:
    """Whether the paper's tables agree with each other, and remarks on them."""
    wrong = disagreements(study.paper)
    return [
        *(wrong or ["Table 3 is the best of table 1 and of table 2's three methods on all datasets."]),
        *remarks(study.paper),
    ]


def unseen_numbers(study: UnseenStudy) -> dict[str, Any]:
    """Every number of the page."""
    paper = study.paper
    numbers: dict[str, Any] = plain(
        {
            "source": paper.source,
            "published": {"cnn": paper.cnn, "nas": paper.nas, "best": paper.best, "chance": paper.chance},
            "measured": [
                {
                    "dataset": cell.dataset,
                    "model": cell.model,
                    "epochs": cell.epochs,
                    "seeds": cell.seeds,
                    "diverged": cell.diverged,
                    "images": cell.images,
                    "mean": cell.mean,
                    "std": cell.std,
                    "published": cell.published,
                    "difference": cell.difference,
                    "architectures": cell.architectures,
                    "search": cell.search,
                    "skeleton": cell.skeleton,
                    "preset": cell.preset,
                    "shipped": cell.shipped,
                }
                for cell in study.cells.values()
            ],
            "compared": [_comparison_numbers(comparison) for comparison in study.comparisons],
            "outcome": outcome(study),
            "far": far_lines(study),
            "budgets": budget_lines(study),
            "comparison": comparison_lines(study),
            "paper": paper_lines(study),
            "notes": study.notes,
            "results": {"shipped": study.sources[0], "own": study.sources[1]},
        }
    )
    return numbers


def _comparison_numbers(comparison: ChanceComparison) -> dict[str, Any]:
    names = ("dataset", "model", "space", "search_seed", "search_epochs", "epochs")
    return {name: getattr(comparison, name) for name in names} | {
        "found": comparison.accuracies,
        "by_chance": comparison.by_chance,
        "mean": comparison.mean,
        "difference": comparison.difference,
        "beaten": comparison.beaten,
    }


def _parts(counts: Sequence[int]) -> str:
    return " + ".join(f"{count:_}".replace("_", " ") for count in counts)


def _cell_name(study: UnseenStudy, cell: ResultCell) -> str:
    return f"{cell.model} on {study.paper.datasets[cell.dataset]} ({count_text(len(cell.seeds), 'training')})"
