"""Tables 1 to 3 of the paper on unseen datasets, with what was measured here beside what is published."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean, stdev
from typing import Any

from nasbed.core.errors import InvalidOption
from nasbed.experiments.unseen.published import METHODS, PublishedTables, published
from nasbed.experiments.unseen.results import Setting, UnseenResult
from nasbed.studies.unseen.compared import Compared, compared

LARGE = 3.0
"""Differences above so many points are marked."""


@dataclass(frozen=True, slots=True)
class Cell:
    """The test accuracy of a model on a dataset over seeds, in per cent; ``std`` is None with a single seed. Of a NAS
    method there are so many ``architectures``, found as ``search`` says, in the network ``skeleton``."""

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

    @property
    def difference(self) -> float | None:
        """Points above the published accuracy."""
        return None if self.published is None else self.mean - self.published

    @property
    def large(self) -> bool:
        return self.difference is not None and abs(self.difference) > LARGE


@dataclass(frozen=True, slots=True)
class UnseenStudy:
    """What is published and, by dataset and model, what was measured. ``notes`` are of results that do not count;
    ``compared`` has what was found against what was taken by chance, on datasets of any name."""

    paper: PublishedTables
    cells: dict[tuple[str, str], Cell]
    notes: tuple[str, ...]
    compared: tuple[Compared, ...] = ()

    def measured(self, columns: Sequence[str]) -> list[str]:
        """The models that were measured and belong to these columns, in their order."""
        models = sorted({model for _, model in self.cells})
        return [model for column in columns for model in models if self.paper.column_of(model) == column]

    @property
    def others(self) -> list[str]:
        """The NAS methods that were measured and are not in the paper."""
        return sorted({model for _, model in self.cells} - set(self.measured(self._columns)))

    @property
    def _columns(self) -> list[str]:
        return [*self.paper.cnn_titles, *self.paper.nas_titles]

    def best(self, dataset: str, column: str) -> Cell | None:
        """The best of the measured CNNs or NAS methods, as table 3 has it of the published ones."""
        columns = {"cnn": list(self.paper.cnn_titles), "nas": list(METHODS)}.get(column, [])
        found = [self.cells[dataset, model] for model in self.measured(columns) if (dataset, model) in self.cells]
        return max(found, key=lambda cell: cell.mean, default=None)


def unseen_study(results: Sequence[UnseenResult], *, epochs: int | None = None) -> UnseenStudy:
    """Put results of several seeds together. Those of other bytes, recipes or budgets are never mixed: of several
    settings for a dataset and a model that with the most epochs counts, of these that with the most epochs of search,
    of these that with the most trainings, of these the last. ``epochs`` takes results of that budget alone."""
    paper = published()
    known = {*paper.cnn_titles, *paper.nas_titles, *(each for others in paper.stand_in.values() for each in others)}
    settings: dict[Setting, dict[tuple[int, int], UnseenResult]] = {}
    notes = []
    absent: Counter[str] = Counter()
    for result in results:
        if result.dataset not in paper.datasets:
            absent[result.dataset] += 1
        elif not (result.model in known or result.search):
            absent[f"{result.model} on {result.dataset}"] += 1
        elif epochs is None or result.epochs == epochs:
            same = settings.setdefault(result.setting, {})
            if result.seeds in same:
                notes.append(f"{_named(result)}, {_seeded(result)}: there twice, the last counts")
            same[result.seeds] = result
    if epochs is not None and results and not any(result.epochs == epochs for result in results):
        had = ", ".join(map(str, sorted({result.epochs for result in results})))
        raise InvalidOption(f"results of {epochs} epochs are asked for, there are those of {had}; choose one")
    chosen: dict[tuple[str, str], list[UnseenResult]] = {}
    for found in settings.values():
        own = list(found.values())
        key = own[0].dataset, own[0].model
        before = chosen.get(key)
        if before is None or _weight(own) >= _weight(before):
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
            architectures=len({each.search_seed for each in own if each.test_accuracy is not None and each.search}),
            search=own[0].search,
            skeleton=own[0].recipe.get("skeleton", {}),
        )
    for what, count in absent.items():
        notes.append(f"{what}, {count} result{'s' if count > 1 else ''}: not in the paper's tables")
    asked = [each for each in results if epochs is None or each.epochs == epochs]
    return UnseenStudy(paper, cells, tuple(notes), tuple(compared(asked)))


def _weight(own: Sequence[UnseenResult]) -> tuple[int, int, int]:
    return own[0].epochs, own[0].search_epochs, len(own)


def _named(result: UnseenResult) -> str:
    search = f" after {result.search_epochs} of search" if result.search_epochs else ""
    return f"{result.model} on {result.dataset}, {result.epochs} epochs{search}"


def _seeded(result: UnseenResult) -> str:
    search = f"search seed {result.search_seed}, " if result.search_seed is not None else ""
    return f"{search}seed {result.seed}"


def _counted(count: int) -> str:
    return f"{count} seed{'s' if count > 1 else ''}"
