"""All trainings of one architecture for one number of epochs, as NATS-Bench's ``ArchResults``."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any

from nasbed.compat.nats_bench.results_count import ResultsCount
from nasbed.core.errors import BadFile, InvalidOption, UnknownName, shorten

LEGACY_SEED = 888
"""The seed whose parameters and FLOPs count where the published trainings of one architecture disagree."""


class ArchResults:
    """Trainings by dataset and seed. ``generator`` draws one where a random one is asked for."""

    def __init__(self, arch_index: int, arch_str: str, generator: random.Random | None = None) -> None:
        self.arch_index = int(arch_index)
        self.arch_str = arch_str
        self.all_results: dict[tuple[str, int], ResultsCount] = {}
        self.dataset_seed: dict[str, list[int]] = {}
        self.clear_net_done = True
        self.generator = generator or random.Random(0)

    @classmethod
    def create_from_state_dict(
        cls, state_dict: Mapping[str, Any], generator: random.Random | None = None
    ) -> ArchResults:
        """From a state as published."""
        trainings = state_dict.get("all_results")
        if not isinstance(trainings, dict) or type(state_dict.get("arch_index")) is not int:
            raise BadFile("the results of an architecture have its index and all_results; get the file again")
        results = cls(state_dict["arch_index"], str(state_dict.get("arch_str")), generator)
        for key, state in trainings.items():
            if type(key) is not tuple or tuple(map(type, key)) != (str, int) or not isinstance(state, dict):
                raise BadFile(f"trainings are named by dataset and seed, got {shorten(key)}; get the file again")
            dataset, seed = key
            results.update(dataset, seed, ResultsCount(state))
        return results

    def state_dict(self) -> dict[str, Any]:
        return {
            "arch_index": self.arch_index,
            "arch_str": self.arch_str,
            "all_results": {key: training.state_dict() for key, training in self.all_results.items()},
            "dataset_seed": {dataset: list(seeds) for dataset, seeds in self.dataset_seed.items()},
            "clear_net_done": self.clear_net_done,
        }

    def update(self, dataset_name: str, seed: int, result: ResultsCount) -> None:
        """Add a training."""
        seeds = self.dataset_seed.setdefault(dataset_name, [])
        if seed in seeds:
            raise InvalidOption(
                f"architecture {self.arch_index} has seed {seed} on {dataset_name} already; give another"
            )
        seeds.append(seed)
        seeds.sort()
        self.all_results[dataset_name, seed] = result

    # --- what there is -----------------------------------------------------------------------------------------------

    def get_dataset_names(self) -> list[str]:
        return list(self.dataset_seed)

    def get_dataset_seeds(self, dataset: str) -> list[int]:
        if dataset not in self.dataset_seed:
            raise UnknownName(
                f"architecture {self.arch_index} has no training on {shorten(dataset)}; it has some on "
                f"{', '.join(self.dataset_seed) or 'nothing'}"
            )
        return list(self.dataset_seed[dataset])

    def query(self, dataset: str, seed: int | None = None) -> Any:
        """The training of a seed; without one, all of them by seed."""
        seeds = self.get_dataset_seeds(dataset)
        if seed is None:
            return {own: self.all_results[dataset, own] for own in seeds}
        if seed not in seeds:
            raise InvalidOption(
                f"architecture {self.arch_index} has trainings on {dataset} with the seeds "
                f"{', '.join(map(str, seeds))}, got {shorten(seed)}"
            )
        return self.all_results[dataset, seed]

    def get_total_epoch(self, dataset: str | None = None) -> int:
        """The epochs of a training, of which all have the same number."""
        datasets = self.get_dataset_names() if dataset is None else [dataset]
        epochs: set[int] = {training.epochs for name in datasets for training in self.query(name).values()}
        if len(epochs) != 1:
            raise BadFile(f"trainings of one setting have one number of epochs, got {sorted(epochs)}")
        return epochs.pop()

    def arch_idx_str(self) -> str:
        return f"{self.arch_index:06d}"

    # --- figures -----------------------------------------------------------------------------------------------------

    def get_metrics(
        self, dataset: str, setname: str, iepoch: int | None = None, is_random: bool | int = False
    ) -> dict[str, Any]:
        """Loss, accuracy and seconds on a set after an epoch.

        Args:
            dataset: As NATS-Bench names it.
            setname: ``train``, or the name of an evaluation set.
            iepoch: The epoch, counted from 0; the last one by default.
            is_random: True draws a training, a seed chooses one, False averages over all.
        """
        seeds = self.get_dataset_seeds(dataset)
        if is_random is True:
            seeds = [self.generator.choice(seeds)]
        elif is_random is not False:
            self.query(dataset, is_random)
            seeds = [is_random]
        trainings = [self.all_results[dataset, seed] for seed in seeds]
        figures = [
            training.get_train(iepoch) if setname == "train" else training.get_eval(setname, iepoch)
            for training in trainings
        ]
        return {name: _mean([each[name] for each in figures]) for name in figures[0]}

    def get_compute_costs(self, dataset: str) -> dict[str, Any]:
        """Millions of FLOPs and parameters, latency, and the seconds of the training and of each evaluation set."""
        trainings = self.query(dataset)
        latencies = [value for training in trainings.values() if (value := training.get_latency()) > 0]
        times = [training.get_times() for training in trainings.values()]
        names = list(dict.fromkeys(name for each in times for name in each))
        return {
            "flops": _agreed({seed: training.flop for seed, training in trainings.items()}),
            "params": _agreed({seed: training.params for seed, training in trainings.items()}),
            "latency": _mean(latencies) if latencies else None,
            **{name: _mean([each.get(name) for each in times]) for name in names},
        }

    def get_latency(self, dataset: str) -> float:
        """In seconds; raises where a training has none."""
        latencies: list[float] = [training.get_latency() for training in self.query(dataset).values()]
        if min(latencies) <= 0:
            raise UnknownName(f"the latency of architecture {self.arch_index} on {dataset} was not measured")
        return sum(latencies) / len(latencies)

    def get_net_param(self, dataset: str, seed: int | None = None) -> Any:
        """None for each training: there are no weights in the files of the fast mode."""
        trainings = self.query(dataset, seed)
        return dict.fromkeys(trainings) if seed is None else None

    def clear_params(self) -> None:
        """Nothing to do: there are no weights."""

    def __repr__(self) -> str:
        return f"{type(self).__name__}(index {self.arch_index}, {self.arch_str}, {len(self.all_results)} trainings)"


def _mean(values: list[Any]) -> Any:
    """The mean; None where one of them is missing."""
    if any(value is None for value in values):
        return None
    return values[0] if len(values) == 1 else sum(values) / len(values)


def _agreed(values: Mapping[int, float | None]) -> Any:
    """The mean of values by seed. If they differ in the fifth decimal, the one of :data:`LEGACY_SEED`, as the published
    package decides; that of the first seed where it has no training."""
    known = {seed: value for seed, value in values.items() if value is not None}
    if len({f"{value:.5f}" for value in known.values()}) > 1:
        return known.get(LEGACY_SEED, next(iter(known.values())))
    return _mean(list(known.values())) if known else None
