"""Models for tests of tuning, quick and known; worker processes must be able to import them."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from nasbed.surrogates.base import Files, Floats, Progress, Surrogate
from nasbed.surrogates.examples import Examples


@dataclass(frozen=True)
class Settings:
    blur: float = 0.5
    kind: str = "plain"
    epochs: int = 9
    log: str = ""


class Blurred(Surrogate[Settings]):
    """The known mean of ``support.surrogates``, plus noise of a deviation that is the setting ``blur``: the smaller,
    the better. Kinds other than plain raise, hang, give the same for all, or say in a file that they were fitted."""

    name = "blurred"
    summary = "for tests"
    Settings = Settings

    @classmethod
    def tuning_space(cls) -> Any:
        from ConfigSpace import ConfigurationSpace, Float

        space = ConfigurationSpace()
        space.add(Float("blur", (0.01, 20.0), default=0.5, log=True))
        return space

    def fit(self, train: Examples, valid: Examples | None = None, progress: Progress | None = None) -> None:
        assert valid is None, "what scores a trial is no part of its fit"
        assert np.isfinite(train.y).all()
        if self.settings.log:
            descriptor = os.open(self.settings.log, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
            os.write(descriptor, f"{self.settings.blur!r} {self.settings.epochs}\n".encode())
            os.close(descriptor)
            time.sleep(0.1)
        if self.settings.kind == "hang":
            time.sleep(600)
        if self.settings.kind == "raise" and self.settings.blur != 0.5:
            raise RuntimeError("as asked\nand more")

    def predict(self, codes: np.ndarray) -> Floats:
        rng = np.random.default_rng(self.seed)
        if self.settings.kind == "constant":
            return np.zeros(len(codes))
        predictions: Floats = 70 + (codes % 5).sum(axis=1) / 5 + self.settings.blur * rng.normal(size=len(codes))
        return predictions

    def dump(self) -> dict[str, bytes]:
        return {}

    @classmethod
    def restore(cls, files: Files, space: Any, settings: Mapping[str, Any], seed: int) -> Blurred:
        return cls(space, seed=seed, settings=settings)


class Stepped(Blurred):
    """The same, with a budget."""

    name = "stepped"

    @classmethod
    def budgets(cls) -> tuple[str, tuple[int, ...]]:
        return "epochs", (1, 3, 9)


def tune_until_killed(table: str, out: str, log: str) -> None:
    """What the process does that is killed."""
    from nasbed.core.execution import LocalEngine
    from nasbed.experiments.tuning import tune
    from nasbed.results import Results

    tune(Blurred, Results.open(Path(table)), trials=40, out=Path(out), settings={"log": log}, engine=LocalEngine(2))
