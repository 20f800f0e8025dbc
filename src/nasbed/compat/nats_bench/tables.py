"""The tables that answer for NATS-Bench's datasets and their splits.

NATS-Bench trained on CIFAR-10 twice: ``cifar10-valid`` networks saw half of the training set and are validated on the
rest, ``cifar10`` networks saw all of it and are tested. A table named ``…/cifar10`` that has validation results holds
the first training's train and validation results and, where it has any, the second one's test results. Each is answered
under its own name only.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nasbed.compat._tables import is_table, table_by_id, tables_of_file
from nasbed.compat.nats_bench.answers import epochs_of
from nasbed.core.errors import BadFile, InvalidOption, UnknownName, nearest, shorten
from nasbed.core.home import tables_folder
from nasbed.results.manifest import FILE_NAME
from nasbed.results.store import Results
from nasbed.spaces import SearchSpace

DATASETS = ("cifar10-valid", "cifar10", "cifar100", "ImageNet16-120")
FORMAT = "nats-bench"
PUBLISHED = {"nb201": "NATS-tss-v1_0-3ffb9-simple", "nats-sss": "NATS-sss-v1_0-50262-simple"}
FAMILIES = {"nb201": ("nats-tss", "nb201"), "nats-sss": ("nats-sss",)}
"""By search space: the published folder's name, and the ids under which its tables are found, best first."""

Source = str | Path | Mapping[str, Any] | None


class View:
    """A table as one dataset, for the splits that it may answer there."""

    def __init__(self, dataset: str, results: Results, splits: tuple[str, ...]) -> None:
        self._open_tables_with = dataset, results, splits
        self.dataset = dataset
        self.name = results.about.name
        self.cache = results.cache()
        self.columns = {key: np.asarray(column) for key, column in self.cache.values.items()}
        self.splits = tuple(split for split in splits if f"{split}_accuracy" in self.columns)
        self._percent = {
            metric.key: 100.0 if metric.name == "accuracy" and metric.bounds == (0, 1) else 1.0
            for metric in results.about.metrics
        }

    def __reduce__(self) -> tuple[type[View], tuple[str, Results, tuple[str, ...]]]:
        return type(self), self._open_tables_with

    def trained(self, hp: str | int, iepoch: int | None = None) -> int:
        """The fidelity that is the end of a schedule of ``hp`` epochs; raises for an epoch before its end."""
        epochs = epochs_of(hp)
        if epochs not in self.cache.fidelities:
            available = ", ".join(repr(str(fidelity)) for fidelity in self.cache.fidelities)
            raise InvalidOption(f"{self.name} has trainings of hp={available}, got hp={str(hp)!r}; pass one of them")
        if iepoch is not None and iepoch != epochs - 1:
            raise InvalidOption(
                f"{self.name} has results after the last epoch only, got iepoch={iepoch} of {epochs}; omit iepoch"
            )
        return epochs

    def repeats(self, row: int, fidelity: int) -> NDArray[np.int64]:
        """The stored trainings of an architecture that have a result for this dataset."""
        position = self.cache.fidelities.index(fidelity)
        measured = np.zeros(self.cache.repeats, dtype=bool)
        for split in self.splits:
            measured |= ~np.isnan(self.columns[f"{split}_accuracy"][row, position])
        return np.flatnonzero(measured)

    def value(self, key: str, row: int, repeats: NDArray[np.int64], fidelity: int) -> float | None:
        """The mean of a column over some repeats, accuracies in percent; ``None`` unless all of them have it."""
        if key not in self.columns:
            return None
        values = self.columns[key][row, self.cache.fidelities.index(fidelity)][repeats].astype(np.float64)
        return None if np.isnan(values).any() else float(values.mean()) * self._percent.get(key, 1.0)

    def means(self, key: str, fidelity: int) -> NDArray[np.float64]:
        """Every architecture's mean of a column, in the table's order, accuracies in percent."""
        return self.cache.mean(key, fidelity) * self._percent.get(key, 1.0)


class Tables:
    """The tables of one search space, each opened on first access."""

    def __init__(self, source: Source, space: SearchSpace) -> None:
        self.space = space
        self._views: dict[str, View] = {}
        self._open_tables: dict[str, Results] = {}
        self._family: str | None = None
        if source is None:
            self._find_default()
        elif isinstance(source, Mapping):
            for dataset, table in source.items():
                if dataset not in DATASETS:
                    raise InvalidOption(
                        f"a dictionary maps {', '.join(DATASETS)} to tables, got {shorten(dataset)}; for NATS-Bench's "
                        "own data give the path of its folder"
                    )
                self._open_tables[dataset.lower()] = self._check_space(_open(table))
        else:
            self._find(source)

    def view(self, dataset: str) -> View:
        """The table of a dataset, by NATS-Bench's name for it."""
        if dataset not in DATASETS:
            raise InvalidOption(f"a dataset is one of {', '.join(DATASETS)}, got {shorten(dataset)}")
        if dataset not in self._views:
            self._views[dataset] = self._make_view(dataset)
        return self._views[dataset]

    def _make_view(self, dataset: str) -> View:
        results = self._table(dataset.lower()) or (self._table("cifar10") if dataset == "cifar10-valid" else None)
        if results is None:
            raise UnknownName(f"there is no table of {dataset} in {self.source_name()}; import NATS-Bench's own folder")
        splits: tuple[str, ...] = ("train", "validation", "test")
        if dataset == "cifar10-valid" and results.about.name.split("/")[-1] == "cifar10":
            splits = ("train", "validation")
        elif dataset == "cifar10":
            splits = ("test",) if "validation_accuracy" in results.cache().values else ("train", "test")
        view = View(dataset, results, splits)
        required = {"cifar10-valid": "validation", "cifar10": "test"}.get(dataset)
        if required not in (None, *view.splits):
            alternative = {"cifar10-valid": "cifar10", "cifar10": "cifar10-valid"}[dataset]
            raise UnknownName(
                f"{dataset} needs {required} results, the table {view.name} has none; query {alternative}, or "
                "import NATS-Bench's own folder"
            )
        return view

    def _table(self, dataset: str) -> Results | None:
        if dataset not in self._open_tables and self._family is not None:
            name = f"{self._family}/{dataset}"
            if is_table(tables_folder() / name) or (self._family == "nb201" and dataset != "cifar10-valid"):
                self._open_tables[dataset] = self._check_space(table_by_id(name))
        return self._open_tables.get(dataset)

    def complete(self) -> Results | None:
        """A table in the published order. A complete table from NATS-Bench's own folder has it already."""
        for dataset in DATASETS if self._family != "nb201" else ():
            results = self._table(dataset.lower())
            if results and results.about.name.startswith("nats-") and results.manifest.architectures == self.space.size:
                return results
        return None

    def _find_default(self) -> None:
        """nasbed's own tables, or else the published folder where NATS-Bench looks for it, or else those of an
        installed package."""
        families = FAMILIES[self.space.name]
        torch_home = Path(os.environ.get("TORCH_HOME", Path.home() / ".torch"))
        published = torch_home / PUBLISHED[self.space.name]
        if not any((tables_folder() / families[0]).glob(f"*/{FILE_NAME}")) and published.exists():
            self._find(published)
            return
        present = [family for family in families if any((tables_folder() / family).glob(f"*/{FILE_NAME}"))]
        self._family = present[0] if present else families[-1]

    def _find(self, source: str | Path) -> None:
        path = Path(source).expanduser()
        families = FAMILIES[self.space.name]
        if is_table(path):
            tables = [Results.open(path)]
        elif inside := sorted(path.glob(f"*/{FILE_NAME}")):
            tables = [Results.open(manifest.parent) for manifest in inside]
        elif str(source) in families:
            self._family = str(source)
            return
        elif path.exists() or path.name in PUBLISHED.values():
            tables = tables_of_file(path, FORMAT)
        else:
            tables = [table_by_id(str(source))]
        for results in tables:
            self._open_tables[self._check_space(results).about.name.split("/")[-1]] = results

    def _check_space(self, results: Results) -> Results:
        if results.about.space != self.space.name:
            raise BadFile(
                f"this search space is {self.space.name}, the table {results.about.name} is of {results.about.space}; "
                "pass the other search_space"
            )
        return results

    def source_name(self) -> str:
        """Where the tables come from, in words."""
        return self._family or ", ".join(results.about.name for results in self._open_tables.values())


def _open(table: str | Path) -> Results:
    return Results.open(Path(table)) if is_table(Path(table)) else table_by_id(str(table))


def split_of(dataset: str, metric_on_set: str) -> tuple[str, str]:
    """The dataset and split that ``find_best`` means; ``valid`` on CIFAR-10 is ``cifar10-valid``."""
    splits = {"train": "train", "valid": "validation", "x-valid": "validation", "test": "test", "x-test": "test"}
    if metric_on_set == "ori-test" and dataset in ("cifar10", "cifar10-valid"):
        return dataset, "test"
    if metric_on_set not in splits:
        raise InvalidOption(
            f"a metric is on one of {', '.join(splits)}, got {shorten(metric_on_set)}; {nearest(metric_on_set, splits)}"
        )
    return ("cifar10-valid" if (dataset, metric_on_set) == ("cifar10", "valid") else dataset), splits[metric_on_set]
