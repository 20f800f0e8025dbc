"""One surrogate of all fidelities: what turns the answers of its members into curves, and how these scatter.

Each member predicts the coefficients of a curve (:mod:`nasbed.surrogates.curves.basis`). The noise is calibrated at
each fidelity by itself. The noise of one training is one draw from a normal distribution over all fidelities. Its
correlations are those of repeats of an architecture around their mean; without repeats, those of residuals.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nasbed.core.errors import BadFile
from nasbed.surrogates.base import Surrogate
from nasbed.surrogates.curves.basis import CurveBasis
from nasbed.surrogates.ensemble import Ensemble, Prediction
from nasbed.surrogates.noise import NoiseModel

Floats = NDArray[np.float64]

INDEPENDENT = 1e-6
"""The share of noise that two fidelities never have in common, so that every correlation matrix has a root."""


class EnsembleAtFidelity(Ensemble):
    """An ensemble whose members predict coefficients of curves, as one that predicts the metric at one fidelity."""

    def __init__(self, members: Sequence[Surrogate[Any]], noise: NoiseModel, basis: CurveBasis, place: int) -> None:
        super().__init__(members, noise)
        self._basis, self._place = basis, place

    def summary(self, predictions: Floats) -> Prediction:
        return super().summary(self._basis.values(predictions, self._place))

    def mean_and_noise(self, predictions: list[float]) -> tuple[float, float]:
        return super().mean_and_noise(self._basis.values_of_one(predictions, self._place))


@dataclass(frozen=True)
class CurveModel:
    """``noise`` has a model for each fidelity, ``correlation`` is between them, ``[fidelities, fidelities]``.
    ``time_shares`` is the time to each fidelity as a share of that to the highest. It never falls, so neither does the
    predicted time of any architecture."""

    fidelities: tuple[int, ...]
    basis: CurveBasis
    noise: tuple[NoiseModel, ...]
    correlation: tuple[tuple[float, ...], ...]
    time_shares: tuple[float, ...]

    def ensemble(self, members: Sequence[Surrogate[Any]], fidelity: int) -> EnsembleAtFidelity:
        """The members as an ensemble of one fidelity."""
        place = self.fidelities.index(fidelity)
        return EnsembleAtFidelity(members, self.noise[place], self.basis, place)

    def draw_weights(self, fidelity: int) -> tuple[float, ...]:
        """The weights of independent standard normal draws whose sum is the noise at a fidelity, in deviations. The
        first draw is all of it at the highest fidelity, so that its answers do not depend on the others."""
        rank = len(self.fidelities) - 1 - self.fidelities.index(fidelity)
        return tuple(self._root[rank, : rank + 1].tolist())

    @cached_property
    def _root(self) -> Floats:
        """The lower-triangular root of the correlations, the highest fidelity first."""
        correlation = np.array(self.correlation)[::-1, ::-1]
        root: Floats = np.linalg.cholesky(correlation)
        return root

    def to_json(self) -> dict[str, Any]:
        return {
            "fidelities": self.fidelities,
            "basis": self.basis.to_json(),
            "noise": [model.to_json() for model in self.noise],
            "correlation": self.correlation,
            "time_shares": self.time_shares,
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> CurveModel:
        """The inverse of :meth:`to_json`; raises unless every number is one that a fit can give."""
        fidelities = tuple(int(fidelity) for fidelity in data["fidelities"])
        shares = tuple(float(share) for share in data["time_shares"])
        correlation = tuple(tuple(float(value) for value in row) for row in data["correlation"])
        noise = tuple(NoiseModel.from_json(model) for model in data["noise"])
        count = len(fidelities)
        if list(fidelities) != sorted(set(fidelities)) or len(noise) != count:
            raise BadFile(f"curves have rising fidelities and a noise model for each, got {fidelities}")
        if len(shares) != count or shares[0] <= 0 or list(shares) != sorted(shares) or shares[-1] != 1.0:
            raise BadFile(f"shares of a time are positive, never fall and end with 1, got {shares}")
        model = cls(fidelities, CurveBasis.from_json(data["basis"], count), noise, correlation, shares)
        try:
            is_correlation = (
                np.array_equal(np.diag(np.array(correlation)), np.ones(count)) and len(model._root) == count
            )
        except (ValueError, np.linalg.LinAlgError):
            is_correlation = False
        if not is_correlation:
            raise BadFile("a correlation matrix is symmetric, positive and has ones on its diagonal, got another one")
        return model


def noise_correlation(
    curves: Floats, predicted: Floats, architecture: NDArray[np.int64], noise: Sequence[NoiseModel]
) -> tuple[tuple[float, ...], ...]:
    """The correlations between fidelities of what :attr:`NoiseModel.noise` is the deviation of.

    Args:
        curves: The evaluations, ``[trainings, fidelities]``.
        predicted: The prediction of each, by the member that did not train on it.
        architecture: The number of each training's architecture.
        noise: The noise model of each fidelity.
    """
    _, owner, count = np.unique(architecture, return_inverse=True, return_counts=True)
    owner = owner.reshape(-1)
    columns = []
    for y, mean, model in zip(curves.T, predicted.T, noise, strict=True):
        if model.repeats is None:
            columns.append((y - mean) / model.error(mean))
        else:
            own_mean = np.bincount(owner, weights=y) / count
            columns.append(np.where(count[owner] > 1, y - own_mean[owner], 0.0) / model.repeats(mean))
    deviations = np.stack(columns, axis=1)
    products = deviations.T @ deviations
    size = np.sqrt(np.maximum(np.diag(products), np.finfo(np.float64).tiny))
    correlation = products / np.outer(size, size) * (1 - INDEPENDENT)
    np.fill_diagonal(correlation, 1.0)
    return tuple(map(tuple, ((correlation + correlation.T) / 2).tolist()))


def time_shares(cost_s: Floats) -> tuple[float, ...]:
    """The time to each fidelity as a share of that to the highest: medians over trainings ``[n, fidelities]``, made
    rising. All 1 where no training has all times.

    >>> time_shares(np.array([[1.0, 2.0, 4.0], [3.0, 5.0, 10.0], [1.0, 2.0, np.nan]]))
    (0.275, 0.5, 1.0)
    """
    timed = cost_s[(np.isfinite(cost_s) & (cost_s > 0)).all(axis=1)]
    if not len(timed):
        return (1.0,) * int(cost_s.shape[1])
    shares = np.median(timed / timed[:, -1:], axis=0)
    return (*np.minimum(np.maximum.accumulate(shares[:-1]), 1.0).tolist(), 1.0)
