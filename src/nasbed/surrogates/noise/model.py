"""How far an evaluation may lie from the prediction of an ensemble, learned from held-out evaluations.

The spread between members is far too small for that. They share their data and their errors, and do not know how much a
second training of the same network differs. The paper's tree ensembles have a KL of 69 and 134 (section 3.1.6). So two
curves over the predicted value are learned and calibrated:

- the **error** of a prediction, from out-of-fold residuals: the member that did not train on an evaluation predicts it;
- the **repeat noise**, from architectures with several evaluations: how these differ from their own mean.

Each is the 90 % quantile of absolute residuals among neighbours in predicted value, divided by that of a standard
normal distribution. So outliers do not widen all intervals. The total adds the spread, and widens where the members
disagree. It is scaled to hold 90 % of the evaluations of architectures that no member has seen.

Out-of-fold residuals alone overstate the total: a single member errs more than the mean of all. The difference is 6 %
on NAS-Bench-101 and 15 % to 25 % on NAS-Bench-201 (LightGBM), although early stopping has seen these residuals. Small
data sets have no architectures to spare: the scale is then learned from the residuals, and intervals hold some percent
too many.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nasbed.core.errors import BadFile, InvalidOption

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Curve:
    """A standard deviation over the predicted value: linear between points, level beyond them.

    >>> Curve((80.0, 90.0), (2.0, 1.0))(np.array([0.0, 85.0, 95.0])).tolist()
    [2.0, 1.5, 1.0]
    """

    at: tuple[float, ...]
    std: tuple[float, ...]

    def __call__(self, mean: Floats) -> Floats:
        at, std, slope = (np.array(column) for column in (self.at, self.std, self._slopes))
        inside = np.clip(mean, at[0], at[-1])
        place = np.searchsorted(at, inside, side="right") - 1
        deviations: Floats = std[place] + slope[place] * (inside - at[place])
        return deviations

    def of_one(self, mean: float) -> float:
        """The deviation at one predicted value, bit for bit what a batch gets."""
        inside = min(max(mean, self.at[0]), self.at[-1])
        place = bisect_right(self.at, inside) - 1
        return self.std[place] + self._slopes[place] * (inside - self.at[place])

    @property
    def _slopes(self) -> tuple[float, ...]:
        return _slopes(self.at, self.std)


@lru_cache(maxsize=64)
def _slopes(at: tuple[float, ...], std: tuple[float, ...]) -> tuple[float, ...]:
    """From each point to the next, 0 from the last one and where two coincide."""
    steps = zip(at, at[1:], std, std[1:], strict=False)
    return (*((after - before) / (end - start) if end > start else 0.0 for start, end, before, after in steps), 0.0)


@dataclass(frozen=True, slots=True)
class NoiseModel:
    """The total standard deviation is ``scale · √(error² + spread²)``; ``repeats`` is the part of it that training
    again shows, ``None`` where no architecture was evaluated twice. ``table_repeats`` stands in its place: the noise of
    the table (:mod:`nasbed.surrogates.noise.repeats`), the same for all its surrogates, whatever their total."""

    error: Curve
    repeats: Curve | None = None
    scale: float = 1.0
    table_repeats: Curve | None = None

    def total(self, mean: Floats, spread: Floats) -> Floats:
        """The standard deviation of an evaluation from its prediction."""
        error = self.error(mean)
        totals: Floats = self.scale * np.sqrt(error * error + spread * spread)
        return totals

    def noise(self, mean: Floats, total: Floats) -> Floats:
        """The standard deviation between evaluations of one architecture; the total one if there were no repeats."""
        if self.table_repeats is not None:
            return self.table_repeats(mean)
        return total if self.repeats is None else np.minimum(self.repeats(mean), total)

    def noise_of_one(self, mean: float, spread: float) -> float:
        """:meth:`noise` of one architecture, bit for bit what a batch gets."""
        if self.table_repeats is not None:
            return self.table_repeats.of_one(mean)
        error = self.error.of_one(mean)
        total = self.scale * math.sqrt(error * error + spread * spread)
        return total if self.repeats is None else min(self.repeats.of_one(mean), total)

    def to_json(self) -> dict[str, Any]:
        """Either ``repeats`` or ``table_repeats``: a nasbed that does not know the latter must not answer without."""
        data = asdict(self)
        del data["table_repeats" if self.table_repeats is None else "repeats"]
        return data

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> NoiseModel:
        """The inverse of :meth:`to_json`; raises unless every number is one that a calibration can give."""
        kind = "table_repeats" if "table_repeats" in data else "repeats"
        try:
            error, repeats = (None if data[key] is None else _curve(data[key]) for key in ("error", kind))
            scale = float(data["scale"])
        except (KeyError, TypeError, ValueError) as wrong:
            raise BadFile(f"a noise model has error, repeats and scale, got one without: {wrong}") from None
        if error is None or not 0 < scale < np.inf:
            raise BadFile(f"a noise model has an error curve and a positive scale, got {error} and {scale}")
        return cls(error, scale=scale, **{kind: repeats})


def _curve(data: Mapping[str, Any]) -> Curve:
    at, std = (tuple(float(value) for value in data[key]) for key in ("at", "std"))
    if not at or len(at) != len(std) or not all(np.isfinite([*at, *std])) or min(std) < 0 or list(at) != sorted(at):
        raise ValueError("a curve has as many deviations as rising places")
    return Curve(at, std)


LEVEL = 0.9
"""The central share of evaluations that the intervals are calibrated to hold."""
HALF_WIDTH = 1.6448536269514722
"""Of the central interval of that share, in standard deviations of a normal distribution."""


def learn_noise(
    y: Floats,
    predicted: Floats,
    spread: Floats,
    architecture: NDArray[np.int64],
    *,
    calibration: tuple[Floats, Floats, Floats] | None = None,
) -> NoiseModel:
    """The noise model of out-of-fold predictions.

    Args:
        y: The evaluations.
        predicted: The prediction of each, by the member that did not train on it.
        spread: The standard deviation between members for each.
        architecture: The number of each one's architecture.
        calibration: Truth, mean and spread of evaluations whose architectures no member has seen.
    """
    if len(y) != len(predicted) or not len(y):
        raise InvalidOption(f"noise is learned from at least 1 residual, got {len(y)} and {len(predicted)} values")
    error = _learned(predicted, np.abs(y - predicted))
    repeats = _repeats(y, predicted, architecture)
    truth, mean, apart = calibration or (y, predicted, spread)
    scale = _quantile(np.abs(truth - mean) / NoiseModel(error).total(mean, apart)) / HALF_WIDTH
    return NoiseModel(error, repeats, max(scale, float(np.finfo(np.float32).tiny)))


def _quantile(deviations: Floats) -> float:
    """The smallest bound that holds the share of a new one too, as in conformal prediction."""
    return float(np.quantile(deviations, min(LEVEL * (1 + 1 / len(deviations)), 1.0)))


FEWEST_A_POINT = 60
MOST_POINTS = 16


def _learned(predicted: Floats, deviations: Floats) -> Curve:
    """The deviation among as many neighbours in predicted value for each point, each at their median."""
    points = int(np.clip(len(deviations) // FEWEST_A_POINT, 1, MOST_POINTS))
    order = np.argsort(predicted, kind="stable")
    floor = max(float(np.abs(predicted).max()), 1.0) * 1e-9  # a density needs a width, even where all is known
    at, std = [], []
    for part in np.array_split(order, points):
        at.append(float(np.median(predicted[part])))
        std.append(max(_quantile(deviations[part]) / HALF_WIDTH, floor))
    return Curve(tuple(at), tuple(std))


def _repeats(y: Floats, predicted: Floats, architecture: NDArray[np.int64]) -> Curve | None:
    """How evaluations of one architecture scatter, each widened for the mean being their own."""
    _, owner, count = np.unique(architecture, return_inverse=True, return_counts=True)
    repeated = count[owner] > 1
    if not repeated.any():
        return None
    means = np.bincount(owner, weights=y) / count
    with np.errstate(divide="ignore", invalid="ignore"):
        deviations = np.abs(y - means[owner]) * np.sqrt(count[owner] / (count[owner] - 1))
    return _learned(predicted[repeated], deviations[repeated])
