"""NATS-Bench's answers from nasbed tables: results after the last epoch of each schedule.

A query for missing values raises with a list of the available ones. There is no ``valtest``. A simulated training costs
its training time alone, as no table has evaluation times.

An architecture's index is the published one only if a table was read from NATS-Bench's own folder and has all
architectures. For any other table it is the place in ``nasbed.space(…).enumerate()``: use architecture strings there.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nasbed.compat.nats_bench.answers import CLASSES, InfoDict, epochs_of, trained_on
from nasbed.compat.nats_bench.arch_results import ArchResults
from nasbed.compat.nats_bench.results_count import ResultsCount
from nasbed.compat.nats_bench.tables import DATASETS, Tables, View, split_of
from nasbed.core.architecture import Architecture
from nasbed.core.errors import InvalidArchitecture, InvalidOption, NasbedError, UnknownName, nearest
from nasbed.spaces import SearchSpace
from nasbed.spaces.nb201 import NB201, NB201Skeleton

MILLION = 1e6
PREFIXES = {"train": "train", "validation": "valid", "test": "test"}
EVALUATION_NAMES = {"cifar10": {"test": "ori-test"}}
"""By dataset: what an evaluation of a split is called, where it is not ``x-valid`` and ``x-test``."""
SIZE_CELL = "|nor_conv_3x3~0|+|nor_conv_3x3~0|nor_conv_3x3~1|+|skip_connect~0|nor_conv_3x3~1|nor_conv_3x3~2|"
"""The cell of every network of the size space: of all cells, that with the best validation accuracy on CIFAR-100."""


class TableAnswers:
    """Answers from tables. ``generator`` draws trainings."""

    def __init__(self, tables: Tables, space: SearchSpace, generator: random.Random) -> None:
        self._tables = tables
        self._space = space
        self._random = generator
        self._known_costs: dict[tuple[str, str, int], NDArray[np.float64]] = {}

    # --- architectures -----------------------------------------------------------------------------------------------

    @property
    def name(self) -> str:
        return self._tables.source_name()

    @cached_property
    def _codes(self) -> NDArray[np.int64]:
        """All architectures, by index."""
        published = self._tables.complete()
        return self._space.codes(list(self._space.enumerate())) if published is None else published.architecture_codes()

    @cached_property
    def _code_places(self) -> dict[tuple[int, ...], int]:
        return {tuple(code): index for index, code in enumerate(self._codes.tolist())}

    def __len__(self) -> int:
        return len(self._codes)

    def texts(self) -> list[str]:
        return [self._space.format(arch) for arch in self._space.architectures(self._codes)]

    def text(self, index: int) -> str:
        return self._space.format(Architecture(self._space.name, tuple(self._codes[index].tolist())))

    def index_of(self, text: str) -> int:
        try:
            arch = self._space.parse(text)
        except NasbedError:
            return -1
        return self._code_places.get(arch.code, -1) if self._space.format(arch) == text else -1

    def evaluated(self) -> Sequence[int]:
        return range(len(self))

    def hps(self) -> list[str]:
        epochs = {fidelity for dataset in self._available() for fidelity in self._tables.view(dataset).cache.fidelities}
        return [str(fidelity) for fidelity in sorted(epochs)]

    def _available(self) -> list[str]:
        """The datasets that have a table."""
        available = []
        for dataset in DATASETS:
            try:
                self._tables.view(dataset)
            except NasbedError:
                continue
            available.append(dataset)
        return available

    # --- results -----------------------------------------------------------------------------------------------------

    def more_info(
        self, index: int, dataset: str, *, iepoch: int | None, hp: str | int, is_random: bool | int
    ) -> InfoDict:
        view = self._tables.view(dataset)
        epochs = view.trained(hp, iepoch)
        row, repeats = self._trainings(view, index, epochs)
        if is_random is True:
            repeats = repeats[[self._random.randrange(len(repeats))]]
        elif is_random is not False:
            repeats = _with_seed(view, row, epochs, repeats, is_random)
        values: dict[str, Any] = {}
        for split in view.splits:
            for name in ("loss", "accuracy"):
                values[f"{PREFIXES[split]}-{name}"] = view.value(f"{split}_{name}", row, repeats, epochs)
        if view.splits != ("test",):
            seconds = view.value("train_time_s", row, repeats, epochs)
            values["train-all-time"] = seconds
            values["train-per-time"] = None if seconds is None else seconds / epochs
        return _known(view, values)

    def simulated(
        self, index: int, dataset: str, *, iepoch: int | None, hp: str | int
    ) -> tuple[float, float | None, float]:
        info = self.more_info(index, trained_on(dataset), iepoch=iepoch, hp=hp, is_random=True)
        view = self._tables.view(trained_on(dataset))
        latency = view.value("latency", *self._trainings(view, index, epochs_of(hp)), epochs_of(hp))
        return info["valid-accuracy"], latency, info["train-all-time"]

    def cost_info(self, index: int, dataset: str, hp: str | int) -> InfoDict:
        view = self._tables.view(dataset)
        epochs = view.trained(hp)
        row, repeats = self._trainings(view, index, epochs)
        costs = {name: float(self._cost(view, name, epochs)[row]) for name in ("flops", "params")}
        values = {name: None if math.isnan(value) else value for name, value in costs.items()}
        values["latency"] = view.value("latency", row, repeats, epochs)
        if view.splits != ("test",):
            seconds = view.value("train_time_s", row, repeats, epochs)
            values["T-train@epoch"] = None if seconds is None else seconds / epochs
            values["T-train@total"] = seconds
        return _known(view, values)

    def meta_info(self, index: int, hp: str | int) -> ArchResults:
        """The trainings of an architecture with what a table has of them: the figures after the last epoch, and the
        training time in equal shares."""
        results = ArchResults(index, self.text(index), self._random)
        for dataset in self._available():
            view = self._tables.view(dataset)
            epochs = epochs_of(hp)
            row = view.cache.find(tuple(self._codes[index].tolist()))
            if epochs not in view.cache.fidelities or row < 0:
                continue
            for repeat in view.repeats(row, epochs):
                training = self._training(view, row, repeat, epochs)
                results.update(dataset, training.seed, training)
        if not results.all_results:
            raise InvalidOption(f"{self.name} has no trainings of hp={str(hp)!r} of architecture {index}")
        return results

    def _training(self, view: View, row: int, repeat: np.int64, epochs: int) -> ResultsCount:
        places = np.array([repeat])
        last = epochs - 1
        seeds = view.cache.seeds
        seed = int(repeat) if seeds is None else int(seeds[row, view.cache.fidelities.index(epochs), repeat])
        sets = EVALUATION_NAMES.get(view.dataset, {"validation": "x-valid", "test": "x-test"})
        names = [name for split, name in sets.items() if split in view.splits]
        figures = {
            column: {
                f"{name}@{last}": view.value(f"{split}_{key}", row, places, epochs)
                for split, name in sets.items()
                if split in view.splits
            }
            for column, key in (("eval_acc1es", "accuracy"), ("eval_losses", "loss"))
        }
        state: dict[str, Any] = {
            "name": view.dataset,
            "seed": seed,
            "epochs": epochs,
            "params": _number(self._cost(view, "params", epochs)[row]),
            "flop": _number(self._cost(view, "flops", epochs)[row]),
            "arch_config": self._config(view, row),
            "eval_names": names,
            **figures,
        }
        if "train" in view.splits:
            seconds = view.value("train_time_s", row, places, epochs)
            latency = view.value("latency", row, places, epochs)
            state["train_acc1es"] = {last: view.value("train_accuracy", row, places, epochs)}
            state["train_losses"] = {last: view.value("train_loss", row, places, epochs)}
            state["train_times"] = None if seconds is None else dict.fromkeys(range(epochs), seconds / epochs)
            state["latency"] = None if latency is None else [latency]
        return ResultsCount(state)

    def _config(self, view: View, row: int) -> dict[str, Any]:
        text = self._space.format(Architecture(self._space.name, tuple(view.cache.codes[row].tolist())))
        classes = CLASSES[view.dataset]
        if self._space.name == NB201.name:
            return {"channel": 16, "num_cells": 5, "arch_str": text, "class_num": classes}
        return {"name": "infer.shape.tiny", "channels": text, "genotype": SIZE_CELL, "class_num": classes}

    def find_best(
        self,
        dataset: str,
        metric_on_set: str,
        *,
        flop_max: float | None,
        param_max: float | None,
        hp: str | int,
        enforce_all: bool | None,
    ) -> tuple[int, float]:
        dataset, split = split_of(dataset, metric_on_set)
        view = self._tables.view(dataset)
        epochs = view.trained(hp)
        if split not in view.splits:
            raise UnknownName(f"{view.name} has no {split} results for {dataset}; {nearest(split, view.splits)}")
        means = view.means(f"{split}_accuracy", epochs)
        for name, limit in (("flops", flop_max), ("params", param_max)):
            if limit is not None:
                costs = self._cost(view, name, epochs)
                if np.isnan(costs).all():
                    raise UnknownName(f"{view.name} has no {name} for {dataset}; omit that limit")
                means = np.where(costs <= limit, means, np.nan)
        rows = view.cache.find_many(self._codes)
        by_index = np.where(rows >= 0, means[rows], np.nan)
        if np.isnan(by_index).all():
            raise InvalidOption(f"no architecture of {view.name} is within the limits; raise flop_max or param_max")
        best = int(np.nanargmax(by_index))
        return best, float(by_index[best])

    # --- the table ---------------------------------------------------------------------------------------------------

    def _trainings(self, view: View, index: int, epochs: int) -> tuple[int, NDArray[np.int64]]:
        """The row of an architecture in a table, and its trainings there."""
        row = view.cache.find(tuple(self._codes[index].tolist()))
        repeats = view.repeats(row, epochs) if row >= 0 else np.empty(0, dtype=np.int64)
        if not len(repeats):
            raise InvalidArchitecture(
                f"{view.name} has no {epochs}-epoch result on {view.dataset} of {self.text(index)}"
            )
        return row, repeats

    def _cost(self, view: View, name: str, epochs: int) -> NDArray[np.float64]:
        """:meth:`_costs`, worked out once."""
        key = view.dataset, name, epochs
        if key not in self._known_costs:
            self._known_costs[key] = self._costs(view, name, epochs)
        return self._known_costs[key]

    def _costs(self, view: View, name: str, epochs: int) -> NDArray[np.float64]:
        """Millions of FLOPs or parameters of all architectures of a table, in its order; NaN where unknown.

        Those of topologies are counted. The counts equal the published numbers, except for repeats that reuse a smaller
        cell's result. FLOPs are the multiply-adds and one for each output of the classifier.
        """
        if self._space.name == NB201.name:
            classes = CLASSES[view.dataset]
            skeleton = NB201Skeleton(classes=classes, image=16 if view.dataset == "ImageNet16-120" else 32)
            codes = np.asarray(view.cache.codes)
            if name == "params":
                return NB201().parameters(codes, skeleton) / MILLION
            return (NB201().multiply_adds(codes, skeleton) + classes) / MILLION
        key = {"flops": "flops", "params": "parameters"}[name]
        if key in view.cache.values:
            return view.means(key, epochs) / MILLION
        return np.full(len(view.cache), np.nan)


def _known(view: View, values: dict[str, Any]) -> InfoDict:
    return InfoDict(view.name, {key: value for key, value in values.items() if value is not None})


def _number(value: np.float64) -> float | None:
    return None if np.isnan(value) else float(value)


def _with_seed(view: View, row: int, epochs: int, repeats: NDArray[np.int64], seed: int) -> NDArray[np.int64]:
    """The training with a seed."""
    seeds = view.cache.seeds
    available = [] if seeds is None else seeds[row, view.cache.fidelities.index(epochs)][repeats].tolist()
    if seed not in available:
        raise InvalidOption(
            f"{view.name} has trainings of this architecture with the seeds "
            f"{', '.join(map(str, available)) or '(unknown)'}, got is_random={seed!r}"
        )
    return repeats[[available.index(seed)]]
