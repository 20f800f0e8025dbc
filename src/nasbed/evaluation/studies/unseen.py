"""Tables 1 to 3 of the paper on unseen datasets, with what was measured here beside what is published."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, stdev

from nasbed.core.errors import InvalidOption
from nasbed.evaluation.studies.unseen_published import METHODS, Published, published
from nasbed.evaluation.studies.unseen_results import UnseenResult

LARGE = 3.0
"""Differences above so many points are marked."""


@dataclass(frozen=True, slots=True)
class Cell:
    """The test accuracy of a model on a dataset over seeds, in per cent; ``std`` is None with a single seed."""

    dataset: str
    model: str
    epochs: int
    mean: float
    std: float | None
    seeds: tuple[int, ...]
    diverged: int
    published: float | None
    images: tuple[int, ...] = ()  # trained on, validated with, tested with; empty where a result does not say

    @property
    def difference(self) -> float | None:
        """Points above the published accuracy."""
        return None if self.published is None else self.mean - self.published

    @property
    def large(self) -> bool:
        return self.difference is not None and abs(self.difference) > LARGE


@dataclass(frozen=True, slots=True)
class UnseenStudy:
    """What is published and, by dataset and model, what was measured. ``notes`` are of results that do not count."""

    paper: Published
    cells: dict[tuple[str, str], Cell]
    notes: tuple[str, ...]

    def measured(self, columns: Sequence[str]) -> list[str]:
        """The models that were measured and belong to these columns, in their order."""
        models = sorted({model for _, model in self.cells})
        return [model for column in columns for model in models if self.paper.column_of(model) == column]

    def best(self, dataset: str, column: str) -> Cell | None:
        """The best of the measured CNNs or NAS methods, as table 3 has it of the published ones."""
        columns = {"cnn": list(self.paper.cnn_titles), "nas": list(METHODS)}.get(column, [])
        found = [self.cells[dataset, model] for model in self.measured(columns) if (dataset, model) in self.cells]
        return max(found, key=lambda cell: cell.mean, default=None)


def unseen_study(results: Sequence[UnseenResult], *, epochs: int | None = None) -> UnseenStudy:
    """Put results of several seeds together. Those of other bytes, recipes or budgets are never mixed: of several
    settings for a dataset and a model that with the most epochs counts, of these that with the most seeds, of these the
    last. ``epochs`` takes results of that budget alone."""
    paper = published()
    known = {*paper.cnn_titles, *paper.nas_titles, *(each for others in paper.stand_in.values() for each in others)}
    settings: dict[tuple[str, str, int, str, str], dict[int, UnseenResult]] = {}
    notes = []
    for result in results:
        if result.dataset not in paper.datasets or result.model not in known:
            notes.append(f"{result.model} on {result.dataset}, seed {result.seed}: not in the paper's tables")
        elif epochs is None or result.epochs == epochs:
            same = settings.setdefault(result.setting, {})
            if result.seed in same:
                notes.append(f"{_named(result)}, seed {result.seed}: there twice, the last counts")
            same[result.seed] = result
    if epochs is not None and results and not settings:
        had = ", ".join(map(str, sorted({result.epochs for result in results})))
        raise InvalidOption(f"results of {epochs} epochs are asked for, there are those of {had}; choose one")
    chosen: dict[tuple[str, str], list[UnseenResult]] = {}
    for found in settings.values():
        own = list(found.values())
        key = own[0].dataset, own[0].model
        before = chosen.get(key)
        if before is None or (own[0].epochs, len(own)) >= (before[0].epochs, len(before)):
            own, before = before or [], own
            chosen[key] = before
        if own:
            notes.append(f"{_named(own[0])}, {_counted(len(own))}: of another setting than what is shown")
    cells = {}
    for key, own in chosen.items():
        values = [each.test_accuracy for each in own if each.test_accuracy is not None]
        if not values:
            notes.append(f"{_named(own[0])}: diverged with every seed, {_counted(len(own))}")
            continue
        cells[key] = Cell(
            dataset=key[0],
            model=key[1],
            epochs=own[0].epochs,
            mean=fmean(values),
            std=stdev(values) if len(values) > 1 else None,
            seeds=tuple(sorted(each.seed for each in own if each.test_accuracy is not None)),
            diverged=len(own) - len(values),
            published=paper.accuracy(*key),
            images=own[0].images,
        )
    return UnseenStudy(paper, cells, tuple(notes))


def _named(result: UnseenResult) -> str:
    return f"{result.model} on {result.dataset}, {result.epochs} epochs"


def _counted(count: int) -> str:
    return f"{count} seed{'s' if count > 1 else ''}"
