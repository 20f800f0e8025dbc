"""Targets and columns brought to one scale before a model sees them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

BEYOND = 0.1
"""How far a prediction may leave the range of the training targets, as a share of it, on the model's own scale."""


@dataclass(frozen=True, slots=True)
class TargetScale:
    """The scale of the number that a model learns: zero mean and unit variance. If ``sign`` is not 0, it is the
    logarithm of the distance to a point ``bound`` just beyond the data.

    The bound lies on the side where the evaluations crowd: above accuracies, so that the model learns a log error, and
    below times. The metric's own bounds are not known here. So its distance from the outermost target is that of this
    target from the median. The learnt number always grows with the metric.
    """

    sign: int  # 1: the bound lies above, -1: below, 0: no logarithm
    bound: float
    mean: float
    std: float
    low: float
    high: float

    @classmethod
    def of(cls, y: Floats, *, logarithm: bool) -> TargetScale:
        """The scale for these training targets."""
        median, low, high = (float(value) for value in (np.median(y), y.min(), y.max()))
        sign, bound = 0, 0.0
        if logarithm and high > low:
            sign = 1 if high - median <= median - low else -1
            nearest = high if sign == 1 else low
            bound = nearest + sign * max(abs(nearest - median), 0.01 * (high - low))
        raw = cls(sign, bound, 0.0, 1.0, -np.inf, np.inf)._learnt(y)
        mean, std = float(raw.mean()), float(raw.std()) or 1.0
        z = (raw - mean) / std
        room = BEYOND * float(z.max() - z.min())
        return cls(sign, bound, mean, std, float(z.min()) - room, float(z.max()) + room)

    def _learnt(self, y: Floats) -> Floats:
        if self.sign == 0:
            return y
        distance = np.maximum(self.sign * (self.bound - y), 1e-12)
        learnt: Floats = -self.sign * np.log(distance)
        return learnt

    def apply(self, y: Floats) -> Floats:
        """The metric as the model learns it."""
        return (self._learnt(y) - self.mean) / self.std

    def undo(self, z: Floats) -> Floats:
        """The metric for what the model says."""
        learnt = np.clip(z, self.low, self.high) * self.std + self.mean
        metric: Floats = learnt if self.sign == 0 else self.bound - self.sign * np.exp(-self.sign * learnt)
        return metric

    def to_json(self) -> dict[str, float]:
        """As JSON values, from which :meth:`from_json` makes the same scale again."""
        return asdict(self)

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> TargetScale:
        """The scale that :meth:`to_json` described."""
        return cls(int(values["sign"]), *(float(values[name]) for name in ("bound", "mean", "std", "low", "high")))


@dataclass(frozen=True, slots=True)
class ColumnScale:
    """Zero mean and unit variance for each column. A constant column becomes 0, and so does a NaN."""

    mean: Floats
    std: Floats

    @classmethod
    def of(cls, columns: NDArray[np.floating]) -> ColumnScale:
        """The scale for these training rows."""
        present = np.isfinite(columns)
        count = np.maximum(present.sum(axis=0), 1)
        mean = np.where(present, columns, 0).sum(axis=0, dtype=np.float64) / count
        std = np.sqrt((np.where(present, columns - mean, 0) ** 2).sum(axis=0) / count)
        return cls(mean, np.where(std > 1e-9, std, np.inf))

    def apply(self, columns: NDArray[np.floating]) -> Floats:
        """The rows on that scale."""
        scaled: Floats = np.nan_to_num((columns - self.mean) / self.std)
        return scaled
