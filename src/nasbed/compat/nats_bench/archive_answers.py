"""NATS-Bench's answers from its published files: every epoch, evaluation and time that they have."""

from __future__ import annotations

import random
from collections import OrderedDict
from collections.abc import Sequence
from typing import Any

from nasbed.compat.nats_bench.answers import InfoDict, epochs_of, trained_on
from nasbed.compat.nats_bench.arch_results import ArchResults
from nasbed.compat.nats_bench.archives import Archive
from nasbed.compat.nats_bench.table_answers import TableAnswers
from nasbed.compat.nats_bench.tables import Tables
from nasbed.core.errors import InvalidOption, NasbedError, UnknownName, shorten
from nasbed.spaces import SearchSpace

MOST_READ = 4096
"""How many architectures are kept in memory; some 200 kB each."""
SETS = {
    "cifar10-valid": {"valid": "x-valid", "test": "ori-test"},
    "cifar10": {"test": "ori-test"},
    "cifar100": {"valid": "x-valid", "test": "x-test", "valtest": "ori-test"},
    "ImageNet16-120": {"valid": "x-valid", "test": "x-test", "valtest": "ori-test"},
}
"""By dataset: the evaluation set behind each prefix of an answer."""
COMMENTS = {
    "cifar10-valid": "trained on half of CIFAR-10's training set, validated on the other half, tested on its test set",
    "cifar10": "trained on all of CIFAR-10's training set, tested on its test set",
}


class ArchiveAnswers:
    """Answers from an archive, complete or partial. ``generator`` draws trainings."""

    def __init__(self, archive: Archive, space: SearchSpace, generator: random.Random) -> None:
        self.archive = archive
        self.name = archive.name
        self._space = space
        self._random = generator
        self._read: OrderedDict[int, dict[int, ArchResults]] = OrderedDict()
        self._evaluated: set[int] = set()
        self._places = {text: index for index, text in enumerate(archive.texts)}

    def __getstate__(self) -> dict[str, Any]:
        """Everything except what was read: a copy reads it again."""
        return {**vars(self), "_read": OrderedDict()}

    # --- architectures -----------------------------------------------------------------------------------------------

    def __len__(self) -> int:
        return len(self.archive.texts)

    def texts(self) -> list[str]:
        return list(self.archive.texts)

    def text(self, index: int) -> str:
        return self.archive.texts[index]

    def index_of(self, text: str) -> int:
        return self._places.get(text, -1)

    def evaluated(self) -> Sequence[int]:
        return sorted(self._evaluated)

    def hps(self) -> list[str]:
        return [str(epochs) for epochs in sorted({epochs for results in self._read.values() for epochs in results})]

    # --- results -----------------------------------------------------------------------------------------------------

    def meta_info(self, index: int, hp: str | int) -> ArchResults:
        results = self._results(index)
        if epochs_of(hp) not in results:
            available = ", ".join(repr(str(epochs)) for epochs in results)
            raise InvalidOption(f"{self.name} has trainings of hp={available}, got hp={str(hp)!r}; pass one of them")
        return results[epochs_of(hp)]

    def _results(self, index: int) -> dict[int, ArchResults]:
        if index in self._read:
            self._read.move_to_end(index)
            return self._read[index]
        results = {
            epochs_of(budget): ArchResults.create_from_state_dict(state, self._random)
            for budget, state in self.archive.states(index).items()
        }
        self._read[index] = results
        self._evaluated.add(index)
        if len(self._read) > MOST_READ:
            self._read.popitem(last=False)
        return results

    def more_info(
        self, index: int, dataset: str, *, iepoch: int | None, hp: str | int, is_random: bool | int
    ) -> InfoDict:
        results = self.meta_info(index, hp)
        if is_random is True:
            is_random = self._random.choice(results.get_dataset_seeds(dataset))
        figures = {"train": results.get_metrics(dataset, "train", iepoch=iepoch, is_random=is_random)}
        for prefix, name in SETS.get(dataset, {}).items():
            try:
                figures[prefix] = results.get_metrics(dataset, name, iepoch=iepoch, is_random=is_random)
            except UnknownName:
                continue
        values: dict[str, Any] = {"comment": COMMENTS[dataset]} if dataset in COMMENTS else {}
        for prefix, measured in figures.items():
            seconds = measured["all_time"]
            values[f"{prefix}-loss"] = measured["loss"]
            values[f"{prefix}-accuracy"] = measured["accuracy"]
            values[f"{prefix}-per-time"] = None if seconds is None else seconds / (figures["train"]["iepoch"] + 1)
            values[f"{prefix}-all-time"] = seconds
        return InfoDict(self.name, values)

    def simulated(
        self, index: int, dataset: str, *, iepoch: int | None, hp: str | int
    ) -> tuple[float, float | None, float]:
        """An epoch without a validation is answered by the evaluation on validation and test set together, and costs
        as much as the validation after the last epoch, as in the published package."""
        own = trained_on(dataset)
        info = validated = self.more_info(index, own, iepoch=iepoch, hp=hp, is_random=True)
        name = "valid"
        if "valid-accuracy" not in info and "valtest-accuracy" in info:
            name, validated = "valtest", self.more_info(index, own, iepoch=None, hp=hp, is_random=True)
        seconds = info["train-all-time"]
        if seconds is None:
            raise UnknownName(f"{self.name} has no training time of architecture {index} on {own}; query get_more_info")
        cost = seconds + (validated["valid-per-time"] or 0.0)
        return info[f"{name}-accuracy"], self.cost_info(index, dataset, hp)["latency"], cost

    def cost_info(self, index: int, dataset: str, hp: str | int) -> InfoDict:
        return InfoDict(self.name, self.meta_info(index, hp).get_compute_costs(dataset))

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
        """Over every architecture that the archive has, or those read so far if ``enforce_all`` is false. A complete
        folder is imported once for this."""
        present = self.archive.present()
        limits: dict[str, Any] = {"flop_max": flop_max, "param_max": param_max, "hp": hp, "enforce_all": enforce_all}
        if enforce_all is not False and self.archive.folder is not None and len(present) == self._space.size:
            tables = TableAnswers(Tables(self.archive.folder, self._space), self._space, self._random)
            return tables.find_best(dataset, metric_on_set, **limits)
        own, name = _published_set(dataset, metric_on_set)
        best, highest = -1, float("-inf")
        for index in present if enforce_all is not False else self.evaluated():
            try:
                results = self.meta_info(index, hp)
                costs = results.get_compute_costs(own)
                accuracy = results.get_metrics(own, name)["accuracy"]
            except NasbedError:
                continue
            within = all(
                limit is None or costs[cost] <= limit for cost, limit in (("flops", flop_max), ("params", param_max))
            )
            if within and accuracy > highest:
                best, highest = index, accuracy
        if best < 0:
            raise InvalidOption(f"{self.name} has no architecture with {name} on {own} within the limits; raise them")
        return best, highest


def _published_set(dataset: str, metric_on_set: str) -> tuple[str, str]:
    """The dataset and evaluation set that ``find_best`` means."""
    if dataset not in SETS:
        raise InvalidOption(f"a dataset is one of {', '.join(SETS)}, got {shorten(dataset)}")
    if (dataset, metric_on_set) == ("cifar10", "valid"):
        return "cifar10-valid", "x-valid"
    return dataset, SETS[dataset].get(metric_on_set, metric_on_set)
