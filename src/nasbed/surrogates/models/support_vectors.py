"""Support vector regression, fitted by libsvm and evaluated from its arrays."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, ClassVar, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from nasbed.core.errors import InvalidOption
from nasbed.spaces.base import SearchSpace
from nasbed.surrogates.arrays import dump_model, load_model
from nasbed.surrogates.base import Files, Floats, Progress, Surrogate
from nasbed.surrogates.examples import Examples
from nasbed.surrogates.features import Features
from nasbed.surrogates.scaling import ColumnScale, TargetScale

KERNELS = ("linear", "rbf", "poly", "sigmoid")
CHUNK = 1024
CACHE_MB = 500
REGRESSORS = {"svr": "SVR", "nusvr": "NuSVR"}
"""The classes of scikit-learn, by the ids of the models."""
SKLEARN_NAMES = {"c": "C", "tolerance": "tol"}
"""What scikit-learn calls a setting, where it has another name."""


@dataclass(frozen=True, slots=True)
class EpsilonSettings:
    """Table 6 of Surrogate NAS Benchmarks, but for the kernel, and for ``shrinking``, which only saves time.

    The sigmoid kernel of the table fails on standardised one-hots: Kendall -0.07 after 4 000 cells of NAS-Bench-101,
    where ``rbf`` gives 0.82. With structure columns and 16 000 cells it gives 0.875, and R² 0.91.
    """

    c: float = 3.066
    coef0: float = 0.1627
    degree: int = 1
    epsilon: float = 0.0251
    """Smaller errors are free, in standard deviations of the target."""
    gamma: Literal["scale", "auto"] | float = "auto"
    kernel: str = "rbf"
    shrinking: bool = True
    tolerance: float = 0.0021
    log_transform: bool = True
    features: str = "onehot+costs+structure"


@dataclass(frozen=True, slots=True)
class NuSettings:
    """Table 6 of Surrogate NAS Benchmarks: Kendall 0.872 and R² 0.91 on 16 000 cells of NAS-Bench-101."""

    c: float = 5.3131
    coef0: float = -0.3316
    degree: int = 128
    gamma: Literal["scale", "auto"] | float = "scale"
    kernel: str = "rbf"
    nu: float = 0.1839
    """The share of the examples that become support vectors, at least."""
    shrinking: bool = True
    tolerance: float = 0.003
    log_transform: bool = True
    features: str = "onehot+costs+structure"


C = TypeVar("C", bound=EpsilonSettings | NuSettings)


@dataclass(frozen=True, slots=True)
class SVRModel:
    """What a fitted machine is: a sum of kernels around its support vectors."""

    vectors: Floats  # [m, columns]
    weights: Floats  # [m]
    intercept: float
    kernel: str
    gamma: float
    coef0: float
    degree: int

    def __call__(self, x: Floats) -> Floats:
        """The sum for each row."""
        return self._kernel(x) @ self.weights + self.intercept

    def _kernel(self, x: Floats) -> Floats:
        products = x @ self.vectors.T
        match self.kernel:
            case "linear":
                return products
            case "poly":
                powers: Floats = (self.gamma * products + self.coef0) ** self.degree
                return powers
            case "sigmoid":
                return np.tanh(self.gamma * products + self.coef0)
            case "rbf":
                squares = (x**2).sum(axis=1)[:, None] + (self.vectors**2).sum(axis=1) - 2 * products
                bells: Floats = np.exp(-self.gamma * np.maximum(squares, 0))
                return bells
            case other:
                raise InvalidOption(f"a kernel is one of {', '.join(KERNELS)}, got {other!r}")


class SupportVectors(Surrogate[C]):
    """Columns and target are standardised first; ``gamma`` is libsvm's ``scale`` or ``auto``, or a number."""

    def _prepare(self) -> None:
        if self.settings.kernel not in KERNELS:
            raise InvalidOption(f"a kernel is one of {', '.join(KERNELS)}, got {self.settings.kernel!r}")
        self._features = Features(self.space, self.settings.features)
        self._machine: SVRModel | None = None
        self._target: TargetScale
        self._columns: ColumnScale

    def _regressor(self) -> Any:
        """The machine of scikit-learn, not fitted."""
        from sklearn import svm

        settings = {SKLEARN_NAMES.get(name, name): value for name, value in asdict(self.settings).items()}
        own = {name: value for name, value in settings.items() if name not in ("log_transform", "features")}
        return getattr(svm, REGRESSORS[self.name])(**own, cache_size=CACHE_MB)

    def fit(self, train: Examples, valid: Examples | None = None, progress: Progress | None = None) -> None:
        rows = self._features(train.codes)
        self._columns = ColumnScale.of(rows)
        self._target = TargetScale.of(train.y, logarithm=self.settings.log_transform)
        fitted = self._regressor().fit(self._columns.apply(rows), self._target.apply(train.y))
        self._machine = SVRModel(
            np.ascontiguousarray(fitted.support_vectors_),
            fitted.dual_coef_[0].copy(),
            float(fitted.intercept_[0]),
            self.settings.kernel,
            float(fitted._gamma),
            self.settings.coef0,
            self.settings.degree,
        )
        if progress is not None:
            progress(1.0)

    def predict(self, codes: NDArray[np.int64]) -> Floats:
        if self._machine is None:
            raise self._not_fitted()
        sums = np.empty(len(codes))
        for start in range(0, len(codes), CHUNK):
            rows = slice(start, start + CHUNK)
            sums[rows] = self._machine(self._columns.apply(self._features(codes[rows])))
        return self._target.undo(sums)

    def dump(self) -> dict[str, bytes]:
        if self._machine is None:
            raise self._not_fitted()
        machine = self._machine
        arrays = {
            "vectors": machine.vectors,
            "weights": machine.weights,
            "columns.mean": self._columns.mean,
            "columns.std": self._columns.std,
        }
        kernel = {name: getattr(machine, name) for name in ("intercept", "kernel", "gamma", "coef0", "degree")}
        return dump_model(arrays, {"machine": kernel, "target": self._target.to_json()})

    @classmethod
    def restore(cls, files: Files, space: SearchSpace, settings: Mapping[str, Any], seed: int) -> SupportVectors[C]:
        arrays, description = load_model(files)
        model = cls(space, seed=seed, settings=settings)
        model._machine = SVRModel(arrays["vectors"], arrays["weights"], **description["machine"])
        model._columns = ColumnScale(arrays["columns.mean"], arrays["columns.std"])
        model._target = TargetScale.from_json(description["target"])
        return model


class EpsilonSVR(SupportVectors[EpsilonSettings]):
    """ε-support vector regression: errors below ``epsilon`` standard deviations are free."""

    name = "svr"
    family = "kernels"
    summary = "ε-support vector regression"
    Settings: ClassVar[type] = EpsilonSettings


class NuSVR(SupportVectors[NuSettings]):
    """ν-support vector regression: at least a share ``nu`` of the examples become support vectors."""

    name = "nusvr"
    family = "kernels"
    summary = "ν-support vector regression"
    Settings: ClassVar[type] = NuSettings
