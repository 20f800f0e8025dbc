"""NATS-Bench's query interface over nasbed tables.

It differs from the published package in these ways. The object's own generator draws trials, never the global one.
Results are those after the last epoch of a schedule; other epochs raise. A query for missing values raises with a list
of the available ones. There is no ``valtest``, and there are no weights of networks. ``time_cost`` is the training time
alone, as no table here has evaluation times.

An architecture's index is the published one only if a table was read from NATS-Bench's own folder and has all
architectures. For any other table it is the place in ``nasbed.space(…).enumerate()``: use architecture strings there.
"""

from __future__ import annotations

import math
import operator
import random
from collections.abc import Iterator
from functools import cached_property
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from nasbed.compat._nats_tables import DATASETS, Source, Tables, View, split_of
from nasbed.core.architecture import Architecture
from nasbed.core.errors import InvalidArchitecture, InvalidOption, NasbedError, UnknownName, nearest, shorten
from nasbed.spaces import space
from nasbed.spaces.edge_cell import EDGES
from nasbed.spaces.nb201 import NB201, NB201Skeleton

MILLION = 1e6
PREFIXES = {"train": "train", "validation": "valid", "test": "test"}
CLASSES = {"cifar10-valid": 10, "cifar10": 10, "cifar100": 100, "ImageNet16-120": 120}


class InfoDict(dict[str, Any]):
    """The known values, by the published names. Any other name is a KeyError that lists them."""

    def __init__(self, table: str, values: dict[str, Any]) -> None:
        super().__init__({key: value for key, value in values.items() if value is not None})
        self.table = table

    def __missing__(self, key: str) -> NoReturn:
        raise UnknownName(f"the table {self.table} has no {key} here; it has {', '.join(self)}")


class _Api:
    """Both search spaces. ``seed`` fixes which trials are drawn; the published package has no such argument."""

    space_name: str
    search_space_name: str
    full_train_epochs: int

    def __init__(
        self, file_path_or_dict: Source = None, fast_mode: bool = True, verbose: bool = False, *, seed: int | None = 0
    ) -> None:
        self.fast_mode = fast_mode
        self.verbose = verbose
        self._space = space(self.space_name)
        self._tables = Tables(file_path_or_dict, self._space)
        self._random = random.Random(seed)
        self._known_costs: dict[tuple[str, str, int], NDArray[np.float64]] = {}
        self.reset_time()

    # --- architectures -----------------------------------------------------------------------------------------------

    @cached_property
    def _codes(self) -> NDArray[np.int64]:
        """All architectures, by index."""
        published = self._tables.complete()
        if published is None:
            return self._space.codes(list(self._space.enumerate()))
        codes = np.concatenate([rows.codes for rows in published.batches()])
        numbers = np.ravel_multi_index(tuple(codes.T), tuple(codes.max(axis=0) + 1))
        _, first = np.unique(numbers, return_index=True)
        return codes[np.sort(first)]

    @cached_property
    def meta_archs(self) -> list[str]:
        return [self._space.format(arch) for arch in self._space.architectures(self._codes)]

    @cached_property
    def archstr2index(self) -> dict[str, int]:
        return {text: index for index, text in enumerate(self.meta_archs)}

    def __len__(self) -> int:
        return len(self._codes)

    def __getitem__(self, index: int) -> str:
        return self.meta_archs[index]

    def __iter__(self) -> Iterator[str]:
        return iter(self.meta_archs)

    def arch(self, index: int) -> str:
        return self._text(self._index(index))

    def random(self) -> int:
        """The index of a random architecture, by the object's own generator."""
        return self._random.randrange(len(self))

    def query_index_by_arch(self, arch: Any) -> int:
        """The index of an architecture string, of an object with ``tostr``, or of an index; -1 for anything else."""
        if isinstance(arch, int | np.integer) and not isinstance(arch, bool):
            index = operator.index(arch)
            if not 0 <= index < len(self):
                raise InvalidArchitecture(f"an architecture's index is 0 to {len(self) - 1}, got {index}")
            return index
        text = arch.tostr() if hasattr(arch, "tostr") else arch
        return self._place(text) if isinstance(text, str) else -1

    # --- results -----------------------------------------------------------------------------------------------------

    def get_more_info(
        self, index: Any, dataset: str, iepoch: int | None = None, hp: str | int = "12", is_random: bool | int = True
    ) -> dict[str, Any]:
        """Accuracies in percent, losses and seconds of a training.

        Args:
            index: the index or the text of an architecture.
            dataset: as the published package names it.
            iepoch: the last epoch, counted from 0; no other has results.
            hp: the epochs of the training.
            is_random: True draws one training, a seed chooses one, False averages over all.
        """
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
        return InfoDict(view.name, values)

    def simulate_train_eval(
        self, arch: Any, dataset: str, iepoch: int | None = None, hp: str | int = "12", account_time: bool = True
    ) -> tuple[float, float | None, float, float]:
        """Validation accuracy in percent, latency in seconds, the cost in seconds, and the cost of all calls so far.

        Args:
            arch: the index or the text of an architecture.
            dataset: cifar10, cifar100 or ImageNet16-120.
            iepoch: the last epoch, counted from 0; no other has results.
            hp: the epochs of the training.
            account_time: whether the cost is added to that of all calls.
        """
        if dataset not in ("cifar10", "cifar100", "ImageNet16-120"):
            raise InvalidOption(f"a search is on cifar10, cifar100 or ImageNet16-120, got {shorten(dataset)}")
        trained_on = "cifar10-valid" if dataset == "cifar10" else dataset
        info = self.get_more_info(arch, trained_on, iepoch=iepoch, hp=hp)
        accuracy, seconds = info["valid-accuracy"], info["train-all-time"]
        latency = self.get_latency(arch, trained_on, hp)
        if account_time:
            self._used_time += seconds
        return accuracy, latency, seconds, self._used_time

    def get_cost_info(self, index: Any, dataset: str, hp: str | int = "12") -> dict[str, Any]:
        """Millions of FLOPs and parameters, latency and training time in seconds: means over the trainings."""
        view = self._tables.view(dataset)
        epochs = view.trained(hp)
        row, repeats = self._trainings(view, index, epochs)
        costs = {name: float(self._cost(view, name, epochs)[row]) for name in ("flops", "params")}
        values = {name: None if math.isnan(value) else value for name, value in costs.items()}
        if view.splits != ("test",):
            seconds = view.value("train_time_s", row, repeats, epochs)
            values["latency"] = view.value("latency", row, repeats, epochs)
            values["T-train@epoch"] = None if seconds is None else seconds / epochs
            values["T-train@total"] = seconds
        return InfoDict(view.name, values)

    def get_latency(self, index: Any, dataset: str, hp: str | int = "12") -> float | None:
        """In seconds, for a batch of 256; ``None`` where it is not known."""
        view = self._tables.view(dataset)
        epochs = view.trained(hp)
        return view.value("latency", *self._trainings(view, index, epochs), epochs)

    def find_best(
        self,
        dataset: str,
        metric_on_set: str,
        flop_max: float | None = None,
        param_max: float | None = None,
        hp: str | int = "12",
        enforce_all: bool | None = None,
    ) -> tuple[int, float]:
        """The index with the highest mean accuracy, and that accuracy.

        Args:
            dataset: as the published package names it.
            metric_on_set: the split of the accuracy.
            flop_max: the most FLOPs, in millions.
            param_max: the most parameters, in millions.
            hp: the epochs of the training.
            enforce_all: has no effect.
        """
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

    def query_info_str_by_arch(self, arch: Any, hp: str | int = "12") -> str:
        """All known values of an architecture as text, one line per dataset."""
        index = self._index(arch)
        lines = [f"{self._text(index)} (index {index})"]
        for dataset in DATASETS:
            try:
                info = self.get_more_info(index, dataset, hp=hp, is_random=False)
            except NasbedError:
                continue
            values = {**info, **self.get_cost_info(index, dataset, hp)}
            lines.append(f"{dataset}: " + ", ".join(f"{key} {value:.4g}" for key, value in values.items()))
        return "\n".join(lines)

    def show(self, index: int) -> None:
        print(self.query_info_str_by_arch(index, str(self.full_train_epochs)))

    def get_net_param(self, index: int, dataset: str, seed: int | None, hp: str = "12") -> NoReturn:
        raise InvalidOption("tables have no trained weights; get them from NATS-Bench's full archive")

    # --- time --------------------------------------------------------------------------------------------------------

    @property
    def used_time(self) -> float:
        """The seconds of all simulated trainings since the last reset."""
        return self._used_time

    def reset_time(self) -> None:
        self._used_time = 0.0

    # --- the table ---------------------------------------------------------------------------------------------------

    @cached_property
    def _code_places(self) -> dict[tuple[int, ...], int]:
        return {tuple(code): index for index, code in enumerate(self._codes.tolist())}

    def _text(self, index: int) -> str:
        return self._space.format(Architecture(self.space_name, tuple(self._codes[index].tolist())))

    def _place(self, text: str) -> int:
        """The index of an architecture string, without the strings of all others; -1 for any other text."""
        try:
            arch = self._space.parse(text)
        except NasbedError:
            return -1
        return self._code_places.get(arch.code, -1) if self._space.format(arch) == text else -1

    def _index(self, arch: Any) -> int:
        index = self.query_index_by_arch(arch)
        if index < 0:
            raise InvalidArchitecture(f"{shorten(arch)} is not an architecture of {self.space_name}; see meta_archs")
        return index

    def _trainings(self, view: View, arch: Any, epochs: int) -> tuple[int, NDArray[np.int64]]:
        """The row of an architecture in a table, and its trainings there."""
        code = tuple(self._codes[self._index(arch)].tolist())
        row = view.cache.find(code)
        repeats = view.repeats(row, epochs) if row >= 0 else np.empty(0, dtype=np.int64)
        if not len(repeats):
            text = self._space.format(Architecture(self.space_name, code))
            raise InvalidArchitecture(f"{view.name} has no {epochs}-epoch result on {view.dataset} of {text}")
        return row, repeats

    def _cost(self, view: View, name: str, epochs: int) -> NDArray[np.float64]:
        """:meth:`_costs`, worked out once."""
        key = view.dataset, name, epochs
        if key not in self._known_costs:
            self._known_costs[key] = self._costs(view, name, epochs)
        return self._known_costs[key]

    def _costs(self, view: View, name: str, epochs: int) -> NDArray[np.float64]:
        """Millions of FLOPs or parameters of all architectures of a table, in its order; NaN where unknown."""
        key = {"flops": "flops", "params": "parameters"}[name]
        if key in view.cache.values:
            return view.means(key, epochs) / MILLION
        return np.full(len(view.cache), np.nan)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({len(self)} architectures)"


class NATStopology(_Api):
    """The cells of NAS-Bench-201."""

    space_name = "nb201"
    search_space_name = "topology"
    full_train_epochs = full_epochs_in_paper = 200

    def _costs(self, view: View, name: str, epochs: int) -> NDArray[np.float64]:
        """The counts equal the published numbers, except for repeats that reuse a smaller cell's result. FLOPs are the
        multiply-adds and one for each output of the classifier."""
        classes = CLASSES[view.dataset]
        skeleton = NB201Skeleton(classes=classes, image=16 if view.dataset == "ImageNet16-120" else 32)
        codes = np.asarray(view.cache.codes)
        if name == "params":
            return NB201().parameters(codes, skeleton) / MILLION
        return (NB201().multiply_adds(codes, skeleton) + classes) / MILLION

    def get_net_config(self, index: int, dataset: str) -> dict[str, Any]:
        """The network that is built around a cell."""
        classes = CLASSES[self._tables.view(dataset).dataset]
        return {"name": "infer.tiny", "C": 16, "N": 5, "arch_str": self.arch(index), "num_classes": classes}

    @staticmethod
    def str2lists(arch_str: str) -> list[tuple[tuple[str, int], ...]]:
        """For each node after the input, its (operation, source node) pairs."""
        options = NB201().to_options(NB201().parse(arch_str))
        edges = list(zip(EDGES, options, strict=True))
        return [tuple((op, source) for (source, target), op in edges if target == node) for node in (1, 2, 3)]

    @staticmethod
    def str2matrix(arch_str: str) -> NDArray[np.float64]:
        """The number of the operation on the edge from node j to node i, at [i, j]."""
        matrix = np.zeros((4, 4))
        for (source, target), op in zip(EDGES, NB201().parse(arch_str).code, strict=True):
            matrix[target, source] = op
        return matrix


class NATSsize(_Api):
    """Channel counts of a fixed network."""

    space_name = "nats-sss"
    search_space_name = "size"
    full_train_epochs = full_epochs_in_paper = 90


def create(
    file_path_or_dict: Source,
    search_space: str,
    fast_mode: bool = True,
    verbose: bool = False,
    *,
    seed: int | None = 0,
) -> NATStopology | NATSsize:
    """Open the tables of a search space. The same ``seed`` and the same calls give the same answers.

    Args:
        file_path_or_dict: NATS-Bench's own folder, which is read once; a results folder or a folder of them; a table's
            id; a dictionary of these by dataset; or ``None`` for the tables folder.
        search_space: ``tss`` (``topology``) or ``sss`` (``size``).
        fast_mode: Accepted and ignored.
        verbose: Accepted and ignored.
        seed: The seed of random answers.
    """
    if search_space in ("tss", "topology"):
        return NATStopology(file_path_or_dict, fast_mode, verbose, seed=seed)
    if search_space in ("sss", "size"):
        return NATSsize(file_path_or_dict, fast_mode, verbose, seed=seed)
    raise InvalidOption(f"a search space is tss (topology) or sss (size), got {shorten(search_space)}")


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


__all__ = ["NATSsize", "NATStopology", "create"]
