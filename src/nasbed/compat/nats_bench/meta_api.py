"""The methods that both search spaces of NATS-Bench have."""

from __future__ import annotations

import operator
import random
from collections.abc import Iterator
from functools import cached_property
from typing import Any, NoReturn

import numpy as np

from nasbed.compat.nats_bench.answers import NatsAnswers
from nasbed.compat.nats_bench.arch_results import ArchResults
from nasbed.compat.nats_bench.archive_answers import ArchiveAnswers
from nasbed.compat.nats_bench.archives import open_archive
from nasbed.compat.nats_bench.table_answers import TableAnswers
from nasbed.compat.nats_bench.tables import DATASETS, Source, Tables
from nasbed.core.errors import InvalidArchitecture, InvalidOption, NasbedError, shorten
from nasbed.spaces import space


class NASBenchMetaAPI:
    """Both search spaces. ``seed`` fixes which trials are drawn; the published package has no such argument."""

    space_name: str
    search_space_name: str
    full_train_epochs: int
    full_epochs_in_paper: int

    def __init__(
        self, file_path_or_dict: Source = None, fast_mode: bool = True, verbose: bool = False, *, seed: int | None = 0
    ) -> None:
        self.fast_mode = fast_mode
        self.verbose = verbose
        self._random = random.Random(seed)
        searched = space(self.space_name)
        archive = open_archive(file_path_or_dict, searched)
        self._answers: NatsAnswers = (
            TableAnswers(Tables(file_path_or_dict, searched), searched, self._random)
            if archive is None
            else ArchiveAnswers(archive, searched, self._random)
        )
        self.archive_dir = None if archive is None or archive.folder is None else str(archive.folder)
        self.reset_time()

    # --- architectures -----------------------------------------------------------------------------------------------

    @cached_property
    def meta_archs(self) -> list[str]:
        return self._answers.texts()

    @cached_property
    def archstr2index(self) -> dict[str, int]:
        return {text: index for index, text in enumerate(self.meta_archs)}

    @property
    def evaluated_indexes(self) -> set[int]:
        """The architectures that have been read."""
        return set(self._answers.evaluated())

    @property
    def avaliable_hps(self) -> list[str]:
        """The numbers of epochs of the trainings, as texts, spelt as published."""
        return self._answers.hps()

    @property
    def is_topology(self) -> bool:
        return self.search_space_name == "topology"

    @property
    def is_size(self) -> bool:
        return self.search_space_name == "size"

    def __len__(self) -> int:
        return len(self._answers)

    def __getitem__(self, index: int) -> str:
        return self.meta_archs[index]

    def __iter__(self) -> Iterator[str]:
        return iter(self.meta_archs)

    def arch(self, index: int) -> str:
        return self._answers.text(self._index(index))

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
        return self._answers.index_of(text) if isinstance(text, str) else -1

    # --- results -----------------------------------------------------------------------------------------------------

    def get_more_info(
        self, index: Any, dataset: str, iepoch: int | None = None, hp: str | int = "12", is_random: bool | int = True
    ) -> dict[str, Any]:
        """Accuracies in percent, losses and seconds of a training.

        Args:
            index: The index or the text of an architecture.
            dataset: As the published package names it.
            iepoch: The epoch, counted from 0; the last one by default, and the only one that a table has.
            hp: The epochs of the training.
            is_random: True draws one training, a seed chooses one, False averages over all.
        """
        return self._answers.more_info(self._index(index), dataset, iepoch=iepoch, hp=hp, is_random=is_random)

    def simulate_train_eval(
        self, arch: Any, dataset: str, iepoch: int | None = None, hp: str | int = "12", account_time: bool = True
    ) -> tuple[float, float | None, float, float]:
        """Validation accuracy in percent, latency in seconds, the cost in seconds, and the cost of all calls so far.

        Args:
            arch: The index or the text of an architecture.
            dataset: cifar10, cifar100 or ImageNet16-120.
            iepoch: The epoch to stop after, counted from 0; the last one by default.
            hp: The epochs of the training.
            account_time: Whether the cost is added to that of all calls.
        """
        accuracy, latency, seconds = self._answers.simulated(self._index(arch), dataset, iepoch=iepoch, hp=hp)
        if account_time:
            self._used_time += seconds
        return accuracy, latency, seconds, self._used_time

    def get_cost_info(self, index: Any, dataset: str, hp: str | int = "12") -> dict[str, Any]:
        """Millions of FLOPs and parameters, latency and times in seconds: means over the trainings."""
        return self._answers.cost_info(self._index(index), dataset, hp)

    def get_latency(self, index: Any, dataset: str, hp: str | int = "12") -> float | None:
        """In seconds, for a batch of 256; ``None`` where it is not known."""
        return self.get_cost_info(index, dataset, hp).get("latency")

    def query_meta_info_by_index(self, arch_index: Any, hp: str | int = "12") -> ArchResults:
        """All trainings of an architecture for a number of epochs."""
        return self._answers.meta_info(self._index(arch_index), hp)

    def query_by_index(self, arch_index: Any, dataname: str | None = None, hp: str | int = "12") -> Any:
        """The same, or those on one dataset, by seed."""
        results = self.query_meta_info_by_index(arch_index, hp)
        return results if dataname is None else results.query(dataname)

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
            dataset: As the published package names it.
            metric_on_set: The split of the accuracy.
            flop_max: The most FLOPs, in millions.
            param_max: The most parameters, in millions.
            hp: The epochs of the training.
            enforce_all: If false, only architectures that were read already count; a table has read all of its own.
        """
        return self._answers.find_best(
            dataset, metric_on_set, flop_max=flop_max, param_max=param_max, hp=hp, enforce_all=enforce_all
        )

    def get_net_config(self, index: Any, dataset: str) -> dict[str, Any]:
        """What NATS-Bench's code builds the network of an architecture from."""
        for hp in (str(self.full_train_epochs), "12", "01"):
            try:
                trainings = self.query_by_index(index, dataset, hp)
            except InvalidOption:
                continue
            config: dict[str, Any] = next(iter(trainings.values())).get_config(None)
            return config
        raise InvalidOption(f"{self._answers.name} has no training of architecture {index} on {shorten(dataset)}")

    def query_info_str_by_arch(self, arch: Any, hp: str | int = "12") -> str:
        """All known values of an architecture as text, one line per dataset."""
        index = self._index(arch)
        lines = [f"{self._answers.text(index)} (index {index})"]
        for dataset in DATASETS:
            try:
                info = self.get_more_info(index, dataset, hp=hp, is_random=False)
            except NasbedError:
                continue
            values = {**info, **self.get_cost_info(index, dataset, hp)}
            known = {key: value for key, value in values.items() if isinstance(value, float)}
            lines.append(f"{dataset}: " + ", ".join(f"{key} {value:.4g}" for key, value in known.items()))
        return "\n".join(lines)

    def query_by_arch(self, arch: Any, hp: str | int) -> str:
        return self.query_info_str_by_arch(arch, hp)

    def show(self, index: int = -1) -> None:
        """Print what is known of an architecture; of all that were read already if the index is negative."""
        if index < 0:
            print(self)
        for shown in [index] if index >= 0 else self._answers.evaluated():
            print(self.query_info_str_by_arch(shown, str(self.full_train_epochs)))

    def statistics(self, dataset: str, hp: str | int) -> dict[int, int]:
        """How many of the architectures that were read have how many trainings on a dataset."""
        counts: dict[int, int] = {}
        for index in self._answers.evaluated():
            trainings = len(self.query_meta_info_by_index(index, hp).dataset_seed.get(dataset, []))
            counts[trainings] = counts.get(trainings, 0) + 1
        return counts

    def get_net_param(self, index: int, dataset: str, seed: int | None, hp: str = "12") -> NoReturn:
        raise InvalidOption("tables have no trained weights; get them from NATS-Bench's full archive")

    def reload(self, archive_root: str | None = None, index: int | None = None) -> None:
        """Nothing to do: a file is read when it is asked for."""

    def clear_params(self, index: int, hp: str | None = None) -> None:
        """Nothing to do: there are no weights."""

    # --- time --------------------------------------------------------------------------------------------------------

    @property
    def used_time(self) -> float:
        """The seconds of all simulated trainings since the last reset."""
        return self._used_time

    def reset_time(self) -> None:
        self._used_time = 0.0

    def _index(self, arch: Any) -> int:
        index = self.query_index_by_arch(arch)
        if index < 0:
            raise InvalidArchitecture(f"{shorten(arch)} is not an architecture of {self.space_name}; see meta_archs")
        return index

    def __repr__(self) -> str:
        return f"{type(self).__name__}({len(self)} architectures)"
