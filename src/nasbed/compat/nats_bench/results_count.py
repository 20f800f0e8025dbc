"""One training of one architecture, as NATS-Bench's ``ResultsCount``: what was measured after each epoch."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nasbed.core.errors import BadFile, InvalidOption, UnknownName, shorten
from nasbed.core.restricted_pickle import figure

TRAINING = ("train_acc1es", "train_acc5es", "train_losses", "train_times")
"""What is measured in training, by epoch."""
EVALUATIONS = ("eval_acc1es", "eval_losses", "eval_times")
"""What is measured in evaluations, by ``set@epoch``."""
MOST_EPOCHS = 100_000

Epochs = NDArray[np.float64]


class ResultsCount:
    """A training. Epochs count from 0; the last is meant where none is given. Times are in seconds, accuracies in
    percent. A figure that was not recorded is a KeyError; a time that was not recorded is None."""

    name: str
    seed: int
    epochs: int
    params: float | None
    flop: float | None
    latency: list[float] | None
    arch_config: dict[str, Any]
    eval_names: list[str]

    def __init__(self, state: Mapping[str, Any]) -> None:
        """From a state as published. Its numbers are kept as arrays, a tenth of the size of the published form."""
        epochs = state.get("epochs")
        if type(epochs) is not int or not 0 < epochs <= MOST_EPOCHS:
            raise BadFile(f"a training has a number of epochs, got {shorten(epochs)}; get the file again")
        self.epochs = epochs
        for name in ("name", "seed", "params", "flop", "latency"):
            setattr(self, name, state.get(name))
        config = state.get("arch_config")
        self.arch_config = config if isinstance(config, dict) else {}
        names = state.get("eval_names")
        self.eval_names = [name for name in names if type(name) is str] if isinstance(names, list) else []
        self._training = {name: _by_epoch(state.get(name), epochs, str) for name in TRAINING}
        self._evaluations = {
            (column, name): _by_epoch(state.get(column), epochs, f"{name}@{{}}".format)
            for column in EVALUATIONS
            for name in self.eval_names
        }

    @classmethod
    def create_from_state_dict(cls, state_dict: Mapping[str, Any]) -> ResultsCount:
        return cls(state_dict)

    def state_dict(self) -> dict[str, Any]:
        """The published form: dictionaries by epoch and by ``set@epoch``."""
        plain = {name: getattr(self, name) for name in ("name", "seed", "epochs", "params", "flop", "latency")}
        training = {name: getattr(self, name) for name in TRAINING}
        evaluations = {name: getattr(self, name) for name in EVALUATIONS}
        return {
            **plain,
            "net_state_dict": None,
            "arch_config": dict(self.arch_config),
            "eval_names": list(self.eval_names),
            **training,
            **evaluations,
        }

    def __getattr__(self, name: str) -> Any:
        if name in TRAINING:
            column = self._training[name]
            return None if column is None else _recorded(column, lambda epoch: epoch)
        if name in EVALUATIONS:
            joined: dict[str, float] = {}
            for own in self.eval_names:
                column = self._evaluations[name, own]
                joined |= {} if column is None else _recorded(column, f"{own}@{{}}".format)
            return joined
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    # --- costs -------------------------------------------------------------------------------------------------------

    def get_latency(self) -> float:
        """In seconds; -1 where none was measured."""
        values = [figure(value) for value in self.latency] if isinstance(self.latency, list) else []
        return sum(values) / len(values) if values and not np.isnan(values).any() else -1.0

    def get_times(self) -> dict[str, float | None]:
        """Seconds an epoch and in total, of the training and of each evaluation set."""
        times: dict[str, float | None] = {}
        columns = {"train": self._training["train_times"]}
        columns |= {name: self._evaluations["eval_times", name] for name in self.eval_names}
        for name, column in columns.items():
            total = None if column is None or np.isnan(column).any() else _sum(column)
            times[f"T-{name}@epoch"] = None if total is None else total / self.epochs
            times[f"T-{name}@total"] = total
        return times

    def get_total_epoch(self) -> int:
        return self.epochs

    # --- results -----------------------------------------------------------------------------------------------------

    def get_eval_set(self) -> list[str]:
        return self.eval_names

    def judge_valid(self, iepoch: int) -> None:
        """Raise unless the training has this epoch."""
        if not 0 <= iepoch < self.epochs:
            raise InvalidOption(f"this training has the epochs 0 to {self.epochs - 1}, got iepoch={iepoch}")

    def get_train(self, iepoch: int | None = None) -> dict[str, Any]:
        """Loss and accuracy on the training set after an epoch, its seconds, and those of all epochs up to it."""
        epoch = self._epoch(iepoch)
        columns = [self._training[name] for name in ("train_losses", "train_acc1es", "train_times")]
        return self._figures("train", epoch, *columns)

    def get_eval(self, name: str, iepoch: int | None = None) -> dict[str, Any]:
        """The same on an evaluation set: ``x-valid`` (or ``valid``), ``x-test`` or ``ori-test``."""
        epoch = self._epoch(iepoch)
        own = "x-valid" if name == "valid" else name
        if own not in self.eval_names:
            raise UnknownName(
                f"the training of seed {self.seed} on {self.name} has no evaluation {shorten(name)}; it has "
                f"{', '.join(self.eval_names) or 'none'}"
            )
        columns = [self._evaluations[column, own] for column in ("eval_losses", "eval_acc1es", "eval_times")]
        return self._figures(own, epoch, *columns)

    def get_net_param(self, clone: bool = False) -> None:
        """None: there are no weights in the files of the fast mode."""

    def get_config(self, str2structure: Callable[[str], Any] | None) -> dict[str, Any]:
        """What NATS-Bench's code builds the network from; ``str2structure`` reads its cell, if one is given."""
        config = self.arch_config
        if config.get("name") == "infer.shape.tiny":
            built = {"name": "infer.shape.tiny", "channels": config["channels"], "genotype": config["genotype"]}
        else:
            text = "arch_str" if str2structure is None else "genotype"
            built = {"name": "infer.tiny", "C": config["channel"], "N": config["num_cells"], text: config["arch_str"]}
        if str2structure is not None:
            built["genotype"] = str2structure(built["genotype"])
        return {**built, "num_classes": config["class_num"]}

    def _epoch(self, iepoch: int | None) -> int:
        epoch = self.epochs - 1 if iepoch is None else int(iepoch)
        self.judge_valid(epoch)
        return epoch

    def _figures(
        self, name: str, epoch: int, losses: Epochs | None, accuracies: Epochs | None, times: Epochs | None
    ) -> dict[str, Any]:
        """The figures after one epoch.

        Args:
            name: What was measured.
            epoch: The epoch.
            losses, accuracies, times: By epoch, NaN where nothing was recorded; None where nothing was at any epoch.
        """
        if losses is None or accuracies is None or np.isnan([losses[epoch], accuracies[epoch]]).any():
            recorded = [] if accuracies is None else np.flatnonzero(~np.isnan(accuracies)).tolist()
            raise UnknownName(
                f"the training of seed {self.seed} on {self.name} has no {name} after epoch {epoch}; it has "
                f"{shorten(recorded) if recorded else 'none'}"
            )
        known = times is not None and not np.isnan(times[: epoch + 1]).any()
        return {
            "iepoch": epoch,
            "loss": float(losses[epoch]),
            "accuracy": float(accuracies[epoch]),
            "cur_time": float(times[epoch]) if known and times is not None else None,
            "all_time": _sum(times[: epoch + 1]) if known and times is not None else None,
        }

    def __repr__(self) -> str:
        sets = ", ".join(self.eval_names)
        return f"{type(self).__name__}({self.name}, seed={self.seed}, {self.epochs} epochs, evaluated on: {sets})"


def _by_epoch(values: object, epochs: int, key: Callable[[int], str]) -> Epochs | None:
    """A dictionary by epoch as an array, NaN where it lacks one; None where it is no dictionary or has nothing."""
    if not isinstance(values, dict):
        return None
    plain = key is str
    column = np.array([figure(values.get(epoch if plain else key(epoch))) for epoch in range(epochs)])
    return None if np.isnan(column).all() else column


def _recorded(column: Epochs, key: Callable[[int], Any]) -> dict[Any, float]:
    return {key(epoch): value for epoch, value in enumerate(column.tolist()) if value == value}


def _sum(column: Epochs) -> float:
    """One after the other, as the published package adds."""
    return float(sum(column.tolist()))
