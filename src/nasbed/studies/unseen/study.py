"""Tables 1 to 3 of the paper on unseen datasets: published accuracies and our own measurements."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean, stdev
from typing import Any

from nasbed.core.errors import InvalidOption
from nasbed.drawing.number_texts import count_text
from nasbed.experiments.unseen.budget import random_method
from nasbed.experiments.unseen.published import METHODS, PublishedTables, published
from nasbed.experiments.unseen.results import Setting, UnseenResult
from nasbed.studies.unseen.random_baseline import ChanceComparison, chance_comparisons

LARGE = 3.0
"""Differences above this many points are marked."""


@dataclass(frozen=True, slots=True)
class ResultCell:
    """The test accuracy of a model on a dataset over seeds, in per cent; ``std`` is None with a single seed.

    For a NAS method, ``architectures`` counts the architectures found, ``search`` has the settings of the search and
    ``skeleton`` those of the trained network; ``preset`` is as in its results. ``shipped`` says that the measurement
    came with nasbed. ``curve`` is the mean validation accuracy after each epoch, where it was measured.
    """

    dataset: str
    model: str
    epochs: int
    mean: float
    std: float | None
    seeds: tuple[int, ...]
    diverged: int
    published: float | None
    images: tuple[int, ...] = ()  # trained on, validated with, tested with; empty where a result does not say
    architectures: int = 0
    search: Mapping[str, Any] = field(default_factory=dict)
    skeleton: Mapping[str, Any] = field(default_factory=dict)
    preset: Mapping[str, Any] = field(default_factory=dict)
    shipped: bool = False
    curve: Mapping[int, float] = field(default_factory=dict)

    @property
    def difference(self) -> float | None:
        """Points above the published accuracy."""
        return None if self.published is None else self.mean - self.published

    @property
    def large(self) -> bool:
        return self.difference is not None and abs(self.difference) > LARGE


@dataclass(frozen=True, slots=True)
class UnseenStudy:
    """The published tables and, by dataset and model, the measured cells. ``notes`` are about results that do not
    count. ``comparisons`` are found architectures against random ones, also on datasets that the paper lacks.
    ``sources`` is how many results came with nasbed, and how many are the user's own."""

    paper: PublishedTables
    cells: dict[tuple[str, str], ResultCell]
    notes: tuple[str, ...]
    comparisons: tuple[ChanceComparison, ...] = ()
    sources: tuple[int, int] = (0, 0)

    def measured(self, columns: Sequence[str]) -> list[str]:
        """The measured models of these columns, in the order of the columns."""
        models = sorted({model for _, model in self.cells})
        return [model for column in columns for model in models if self.paper.column_of(model) == column]

    def dataset_title(self, dataset: str) -> str:
        """The paper's name of a dataset; the id of one that the paper lacks."""
        return self.paper.datasets.get(dataset, dataset)

    def ordered_comparisons(self) -> list[ChanceComparison]:
        """The comparisons in the paper's order of datasets and spaces, the best of each first."""
        datasets, searches = list(self.paper.datasets), list(self.paper.nas_titles)

        def place(order: list[str], name: str) -> tuple[int, str]:
            return (order.index(name), "") if name in order else (len(order), name)

        return sorted(
            self.comparisons,
            key=lambda comparison: (
                place(datasets, comparison.dataset),
                place(searches, random_method(comparison.space)),
                -comparison.mean,
            ),
        )

    @property
    def unpublished(self) -> list[str]:
        """The measured NAS methods that are not in the paper."""
        return sorted({model for _, model in self.cells} - set(self.measured(self._columns)))

    @property
    def _columns(self) -> list[str]:
        return [*self.paper.cnn_titles, *self.paper.nas_titles]

    def best(self, dataset: str, column: str) -> ResultCell | None:
        """The best of the measured CNNs or NAS methods, as table 3 has it for the published ones."""
        columns = {"cnn": list(self.paper.cnn_titles), "nas": list(METHODS)}.get(column, [])
        cells = [self.cells[dataset, model] for model in self.measured(columns) if (dataset, model) in self.cells]
        return max(cells, key=lambda cell: cell.mean, default=None)


def unseen_study(
    own: Sequence[UnseenResult], *, shipped: Sequence[UnseenResult] = (), epochs: int | None = None
) -> UnseenStudy:
    """Combine results of several seeds.

    Results of different bytes, recipes or budgets are never mixed. Of several settings for a dataset and a model, the
    one with the most epochs counts; then one from a preset, the one with the most epochs of search, with the most
    trainings, the last.

    Args:
        own: The user's results.
        shipped: Results that come with nasbed. They are shown where the user has none for a dataset and a model.
        epochs: Select results of this budget.
    """
    _check_epochs([*shipped, *own], epochs)
    own = [result for result in own if epochs is None or result.epochs == epochs]
    replaced = {(result.dataset, result.model) for result in own}
    shipped = [
        result
        for result in shipped
        if (epochs is None or result.epochs == epochs) and (result.dataset, result.model) not in replaced
    ]
    results = [*shipped, *own]
    paper = published()
    stand_ins = {model for models in paper.stand_in.values() for model in models}
    paper_models = {*paper.cnn_titles, *paper.nas_titles, *stand_ins}
    settings: dict[Setting, dict[tuple[int, int], UnseenResult]] = {}
    notes = []
    absent: Counter[str] = Counter()
    for result in results:
        if result.dataset not in paper.datasets:
            absent[result.dataset] += 1
        elif not (result.model in paper_models or result.search):
            absent[f"{result.model} on {result.dataset}"] += 1
        else:
            by_seed = settings.setdefault(result.setting, {})
            if result.seeds in by_seed:
                notes.append(f"{_setting_name(result)}, {_seed_names(result)}: occurs twice, the last counts")
            by_seed[result.seeds] = result
    selection: dict[tuple[str, str], list[UnseenResult]] = {}
    for by_seeds in settings.values():
        group = list(by_seeds.values())
        key = group[0].dataset, group[0].model
        rival = selection.get(key)
        if rival is None or _weight(group) >= _weight(rival):
            group, rival = rival or [], group
            selection[key] = rival
        if group:
            trainings = count_text(len(group), "training")
            notes.append(f"{_setting_name(group[0])}, {trainings}: of another setting than what is shown")
    cells = {}
    for key, group in selection.items():
        converged = [result for result in group if result.test_accuracy is not None]
        values = [result.test_accuracy for result in converged if result.test_accuracy is not None]
        if not values:
            notes.append(f"{_setting_name(group[0])}: diverged, {count_text(len(group), 'training')}")
            continue
        cells[key] = ResultCell(
            dataset=key[0],
            model=key[1],
            epochs=group[0].epochs,
            mean=fmean(values),
            std=stdev(values) if len(values) > 1 else None,
            seeds=tuple(sorted(result.seed for result in converged)),
            diverged=len(group) - len(converged),
            published=paper.accuracy(*key),
            images=group[0].images,
            architectures=len({result.search_seed for result in converged if result.search}),
            search=group[0].search,
            skeleton=group[0].recipe.get("skeleton", {}),
            preset=group[0].preset,
            shipped=key not in replaced,
            curve=mean_curve(converged),
        )
    for name, count in absent.items():
        notes.append(f"{name}, {count} result{'s' if count > 1 else ''}: not in the paper's tables")
    return UnseenStudy(paper, cells, tuple(notes), tuple(chance_comparisons(results)), (len(shipped), len(own)))


def mean_curve(results: Sequence[UnseenResult]) -> dict[int, float]:
    """The mean validation accuracy over trainings after each epoch that all of them validated, in order."""
    curves = [{int(epoch): value for epoch, value in result.validated.items()} for result in results]
    by_epoch = {epoch: [curve.get(epoch) for curve in curves] for epoch in sorted(curves[0])}
    return {
        epoch: fmean(value for value in values if value is not None)
        for epoch, values in by_epoch.items()
        if None not in values
    }


def _check_epochs(results: Sequence[UnseenResult], epochs: int | None) -> None:
    if epochs is not None and results and not any(result.epochs == epochs for result in results):
        had = ", ".join(map(str, sorted({result.epochs for result in results})))
        raise InvalidOption(f"no result has {epochs} epochs, there are results of {had}; choose one")


def _weight(group: Sequence[UnseenResult]) -> tuple[int, bool, int, int]:
    return group[0].epochs, bool(group[0].preset), group[0].search_epochs, len(group)


def _setting_name(result: UnseenResult) -> str:
    search = f" after {result.search_epochs} of search" if result.search_epochs else ""
    return f"{result.model} on {result.dataset}, {result.epochs} epochs{search}"


def _seed_names(result: UnseenResult) -> str:
    search = f"search seed {result.search_seed}, " if result.search_seed is not None else ""
    return f"{search}seed {result.seed}"
