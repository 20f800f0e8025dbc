"""A small linear model, evaluations of known mean and noise, and surrogates made of them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from nasbed import Metric, space
from nasbed.results import Results, Rows, TableInfo, write_results
from nasbed.surrogates.artefact import Artefact
from nasbed.surrogates.base import Files, Floats, Progress, Surrogate
from nasbed.surrogates.examples import Examples
from nasbed.surrogates.table_split import TableSplit

ACCURACY = Metric("accuracy", split="validation", unit="%", bounds=(0, 100))
PARAMETERS = Metric("parameters", direction="minimize", bounds=(0, float("inf")))
QUICK = {"learning_rate": 0.2, "rounds": 30, "feature_fraction": 0.5, "lambda_l2": 1.0, "features": "onehot"}


@dataclass(frozen=True)
class Settings:
    ridge: float = 1e-3


class Ridge(Surrogate[Settings]):
    """Least squares on one-hots, and a copy of what it was given."""

    name = "ridge"
    summary = "for tests"
    Settings = Settings

    @classmethod
    def tuning_space(cls) -> Any:
        raise NotImplementedError

    def fit(self, train: Examples, valid: Examples | None = None, progress: Progress | None = None) -> None:
        self.train, self.valid = train, valid
        chosen = np.random.default_rng(self.seed).integers(len(train), size=len(train))  # so that seeds matter
        x = self._rows(train.codes[chosen])
        self.weights = np.linalg.solve(x.T @ x + self.settings.ridge * np.eye(x.shape[1]), x.T @ train.y[chosen])

    def _rows(self, codes: np.ndarray) -> np.ndarray:
        onehot = self.space.encode(codes).astype(np.float64)
        return np.concatenate([onehot, np.ones((len(codes), 1))], axis=1)

    def predict(self, codes: np.ndarray) -> Floats:
        predictions: Floats = (self._rows(codes) * self.weights).sum(axis=1)
        return predictions

    def dump(self) -> dict[str, bytes]:
        return {"weights.json": json.dumps(self.weights.tolist()).encode()}

    @classmethod
    def restore(cls, files: Files, space: Any, settings: Mapping[str, Any], seed: int) -> Ridge:
        model = cls(space, seed=seed, settings=settings)
        model.weights = np.array(json.loads(files["weights.json"]))
        return model


def true_mean(codes: np.ndarray) -> np.ndarray:
    """Percent, from 70 to 94: linear in the one-hots of nb201."""
    worth = np.array([0.0, 1.0, 3.0, 4.0, 2.0])
    mean: np.ndarray = 70 + worth[codes].sum(axis=1)
    return mean


def true_std(mean: np.ndarray) -> np.ndarray:
    """Percent: 3 for the worst, 0.3 for the best."""
    std: np.ndarray = np.interp(mean, [70, 94], [3.0, 0.3])
    return std


def evaluations(count: int, repeats: int, seed: int) -> Examples:
    """Of random nb201 cells, each with its own number of repeats at the most."""
    rng = np.random.default_rng(seed)
    cells = rng.integers(5, size=(count, 6))
    codes = np.repeat(cells, repeats, axis=0)
    mean = true_mean(codes)
    y = mean + rng.normal(size=len(codes)) * true_std(mean)
    _, architecture = np.unique(codes, axis=0, return_inverse=True)
    return Examples(
        codes,
        y,
        np.exp(codes.sum(axis=1) / 10),
        architecture.reshape(-1),
        np.where(np.arange(len(codes)) % 3 == 0, "rs", "re"),
        np.tile(np.arange(repeats), count),
    )


def write_evaluations(folder: Path, *, name: str = "made-up", space_name: str = "nb201", count: int = 400) -> Results:
    """A table of two repeats of random architectures."""
    searched = space(space_name)
    rng = np.random.default_rng(5)
    cells = searched.codes([searched.sample(rng) for _ in range(count)])
    codes = np.repeat(cells, 2, axis=0)
    mean = 70 + (codes % 5).sum(axis=1) / 5
    rows = Rows.of(
        codes,
        {
            ACCURACY.key: np.clip(mean + rng.normal(size=len(codes)), 0, 100),
            PARAMETERS.key: searched.costs(searched.canonical_codes(codes))[:, 0].astype(float),
        },
        fidelity=12,
        seed=np.tile([0, 1], count),
        train_time_s=np.exp(codes.sum(axis=1) % 7 / 10),
        method=np.where(np.arange(len(codes)) % 4 < 2, "rs", "re"),
    )
    about = TableInfo(name, space_name, (ACCURACY, PARAMETERS), dataset="cifar10", licence="none", citation="nobody")
    return write_results(folder, about, [rows])


def with_test_values(split: TableSplit, values: np.ndarray | float) -> TableSplit:
    """The same split with other values in its test part."""
    y = split.rows.y.copy()
    y[split.parts.test] = values
    return replace(split, rows=replace(split.rows, y=y))


@cache
def small_surrogate(folder: Path, space_name: str = "nb201") -> Artefact:
    """A surrogate of such a table: three small LightGBM members and a runtime."""
    results = write_evaluations(folder / f"table-{space_name}", space_name=space_name)
    from nasbed.surrogates.making import make_surrogate  # loads scipy.stats, which new processes do without

    return make_surrogate(results, "lgb", members=3, settings=QUICK)
