"""The tables of the paper on unseen datasets as data, and their consistency."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources

from nasbed.core.errors import InvalidOption, nearest

METHODS = ("pc-darts", "drnas", "bonsai-net")
"""The columns of table 2 that are NAS methods; the others are random searches."""

Table = Mapping[str, Mapping[str, float]]
"""Accuracies in per cent by dataset and by column, both in the paper's order."""


@dataclass(frozen=True, slots=True)
class PublishedTables:
    """Tables 1 (``cnn``), 2 (``nas``) and 3 (``best``), and titles of rows and columns by id. ``chance`` is the
    accuracy of a random guess by dataset, in per cent. ``stand_in`` has other ids whose measurements belong to a
    column. ``images`` is how many of a dataset are trained on, validated with and tested with."""

    source: str
    datasets: Mapping[str, str]
    cnn_titles: Mapping[str, str]
    nas_titles: Mapping[str, str]
    best_titles: Mapping[str, str]
    stand_in: Mapping[str, tuple[str, ...]]
    chance: Mapping[str, float]
    images: Mapping[str, tuple[int, ...]]
    cnn: Table
    nas: Table
    best: Table

    def dataset_called(self, name: str) -> str:
        """The id of one of the paper's datasets, however its name is spelled.

        >>> published().dataset_called("AddNIST")
        'addnist'
        """
        if name.lower() not in self.datasets:
            raise InvalidOption(f"no dataset of the paper is called {name!r}; {nearest(name, self.datasets)}")
        return name.lower()

    def column_of(self, model: str) -> str:
        """The column of table 1 or 2 to which a measured model belongs; the model itself where there is none."""
        return next((column for column, models in self.stand_in.items() if model in models), model)

    def accuracy(self, dataset: str, model: str) -> float | None:
        """The published accuracy of a network or method of tables 1 and 2 on a dataset."""
        column = self.column_of(model)
        rows = {**self.cnn.get(dataset, {}), **self.nas.get(dataset, {})}
        return rows.get(column)


@cache
def published() -> PublishedTables:
    """The paper's tables.

    >>> published().accuracy("addnist", "resnet18")
    92.08
    """
    text = resources.files(__package__ or "").joinpath("published.toml").read_text(encoding="utf-8")
    content = tomllib.loads(text)
    titles = content["titles"]

    def table(name: str) -> Table:
        return {dataset: dict(zip(titles[name], content[name][dataset], strict=True)) for dataset in titles["datasets"]}

    return PublishedTables(
        source=content["source"],
        datasets=titles["datasets"],
        cnn_titles=titles["cnn"],
        nas_titles=titles["nas"],
        best_titles=titles["best"],
        stand_in={column: tuple(models) for column, models in content["stand_in"].items()},
        chance={dataset: 100 / content["classes"][dataset] for dataset in titles["datasets"]},
        images={dataset: tuple(content["images"][dataset]) for dataset in titles["datasets"]},
        cnn=table("cnn"),
        nas=table("nas"),
        best=table("best"),
    )


def disagreements(paper: PublishedTables) -> list[str]:
    """Where table 3 differs from the best CNN of table 1 or the best NAS method of table 2."""
    differences = []
    for dataset, title in paper.datasets.items():
        best_cnn = max(paper.cnn[dataset].values())
        best_nas = max(paper.nas[dataset][method] for method in METHODS)
        for column, expected, number in (("cnn", best_cnn, 1), ("nas", best_nas, 2)):
            if (printed := paper.best[dataset][column]) != expected:
                differences.append(
                    f"{title}: the best of table {number} is {expected}, table 3 has {printed} as "
                    f"{paper.best_titles[column]}"
                )
    return differences


def remarks(paper: PublishedTables) -> list[str]:
    """Facts that table 3 does not show: random searches that beat it, and accuracies below a random guess."""
    lines = []
    for dataset, title in paper.datasets.items():
        for search in (name for name in paper.nas_titles if name not in METHODS):
            value, best = paper.nas[dataset][search], paper.best[dataset]
            if value > best["nas"]:
                beaten = "all of table 3" if value > max(best.values()) else "the NAS column of table 3"
                lines.append(f"{title}: {paper.nas_titles[search]} has {value} in table 2, above {beaten}")
        titles = {**paper.cnn_titles, **paper.nas_titles}
        for column, value in {**paper.cnn[dataset], **paper.nas[dataset]}.items():
            if value < paper.chance[dataset]:
                lines.append(f"{title}: {titles[column]} has {value}, below the {paper.chance[dataset]:g} of a guess")
    return lines
