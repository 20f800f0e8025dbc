"""The noise of a table: how far trainings of one architecture lie apart, learned once from its repeats.

Every surrogate of the table samples with this one curve, whichever evaluations it was fitted on. So a surrogate and its
``-rand`` twin differ in their fits alone (Surrogate NAS Benchmarks, section 6).

The curve goes over the median of an architecture's evaluations, and no model takes part in it. Three shapes compete:
constant, exponential, and a broken line through groups of neighbours. A shape is taken if it predicts the scatter of
other architectures clearly better than the simpler ones. Of the embedded tables, ``darts-cifar10-16`` has an
exponential, since its good architectures scatter less, and ``fbnet-cifar10-16-v1.0`` a constant.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nasbed.surrogates.noise.model import Curve, Floats

FEWEST_ARCHITECTURES = 20
"""Repeated architectures from which a table's noise is learned."""
FOLDS = 10
CLEAR_GAIN = 3.0
"""By how much a shape must raise the held-out log-likelihood above that of a simpler one: evidence of 20 to 1."""
NEIGHBOURS = 61
OUTLIER = 0.999
"""A scatter beyond this quantile of what its neighbours in accuracy show counts as that quantile: a training that
collapsed is a failure, not noise."""
FEWEST_A_GROUP, MOST_GROUPS = 20, 16
CURVE_POINTS = 9
ENDS = 0.05, 0.95
"""The quantiles of the repeated architectures' medians between which an exponential follows the accuracy; it is level
beyond, where there is hardly any evidence."""


@dataclass(frozen=True, slots=True)
class RepeatNoise:
    """The standard deviation between trainings over the expected value, its shape, and the evidence for it."""

    curve: Curve
    shape: str
    architectures: int
    evaluations: int

    def describe(self, unit: str = "") -> str:
        """In words, for people.

        >>> RepeatNoise(Curve((60.0, 70.0), (0.8, 0.5)), "exponential", 180, 900).describe(" %")
        'exponential, 0.8 % at 60 % to 0.5 % at 70 %, from 900 evaluations of 180 architectures'
        """
        at, std = self.curve.at, self.curve.std
        width = f"{std[0]:.3g}{unit}"
        if len(at) > 1:
            width += f" at {at[0]:.4g}{unit} to {std[-1]:.3g}{unit} at {at[-1]:.4g}{unit}"
        evidence = f"from {self.evaluations:,} evaluations of {self.architectures:,} architectures"
        return f"{self.shape}, {width}, {evidence}"

    def to_json(self) -> dict[str, Any]:
        """What a manifest says of it; the curve itself is in the noise model."""
        return {"shape": self.shape, "architectures": self.architectures, "evaluations": self.evaluations}


def learn_repeat_noise(y: Floats, architecture: NDArray[np.int64]) -> RepeatNoise | None:
    """The noise between evaluations of one architecture; ``None`` where too few architectures have several.

    Args:
        y: The evaluations.
        architecture: The number of each one's architecture.
    """
    _, owner, count = np.unique(architecture, return_inverse=True, return_counts=True)
    repeated = count > 1
    if repeated.sum() < FEWEST_ARCHITECTURES:
        return None
    mean = np.bincount(owner, y) / count
    squares = np.bincount(owner, (y - mean[owner]) ** 2).astype(np.float64)
    level = _medians(y, owner, count)
    order = np.flatnonzero(repeated)[np.argsort(level[repeated], kind="stable")]
    scatters = _Scatters(level[order], squares[order], count[order] - 1).without_outliers()
    shape, least = "", np.inf
    for name, learn in _SHAPES.items():
        loss = _held_out_loss(scatters, learn)
        if loss < least - CLEAR_GAIN:
            shape, least = name, loss
    return RepeatNoise(_SHAPES[shape](scatters), shape, len(order), int(count[order].sum()))


def _medians(y: Floats, owner: NDArray[np.int64], count: NDArray[np.int64]) -> Floats:
    """The median evaluation of each owner, which a training that collapsed does not move."""
    ordered = y[np.lexsort((y, owner))]
    first = np.cumsum(count) - count
    medians: Floats = (ordered[first + (count - 1) // 2] + ordered[first + count // 2]) / 2
    return medians


@dataclass(frozen=True, slots=True)
class _Scatters:
    """Repeated architectures by rising median: the sum of squared deviations from their means, and its degrees of
    freedom."""

    level: Floats
    squares: Floats
    freedom: NDArray[np.int64]

    def take(self, rows: NDArray[Any]) -> _Scatters:
        return _Scatters(self.level[rows], self.squares[rows], self.freedom[rows])

    def without_outliers(self) -> _Scatters:
        """Each sum of squares limited by the median variance of its neighbours."""
        from scipy.stats import chi2

        window = min(NEIGHBOURS, len(self.level))
        ratios = np.lib.stride_tricks.sliding_window_view(self.squares / chi2.ppf(0.5, self.freedom), window)
        medians = np.median(ratios, axis=1)
        nearest = np.clip(np.arange(len(self.level)) - window // 2, 0, len(medians) - 1)
        limit = medians[nearest] * chi2.ppf(OUTLIER, self.freedom)
        limited = np.where(limit > 0, np.minimum(self.squares, limit), self.squares)  # most repeats may be equal
        return _Scatters(self.level, limited, self.freedom)

    def loss(self, log_std: Floats) -> float:
        """The negative log-likelihood of normal noise with this deviation, up to a constant."""
        return float((self.freedom * log_std + self.squares / 2 * np.exp(-2 * log_std)).sum())

    def std(self) -> float:
        """The common deviation. Never 0, since a density needs a width."""
        floor = max(float(np.abs(self.level).max()), 1.0) * 1e-9
        return max(float(np.sqrt(self.squares.sum() / self.freedom.sum())), floor)


def _held_out_loss(scatters: _Scatters, learn: Callable[[_Scatters], Curve]) -> float:
    """The loss of curves on the architectures that they were not learned from."""
    fold = np.arange(len(scatters.level)) % FOLDS
    total = 0.0
    for number in range(FOLDS):
        other = scatters.take(fold == number)
        total += other.loss(np.log(learn(scatters.take(fold != number))(other.level)))
    return total


def _constant(scatters: _Scatters) -> Curve:
    return Curve((float(np.median(scatters.level)),), (scatters.std(),))


def _exponential(scatters: _Scatters) -> Curve:
    """The maximum of the likelihood where the logarithm of the deviation is linear in the accuracy."""
    from scipy.optimize import minimize

    if not scatters.squares.any():
        return _constant(scatters)
    centre, spread = scatters.level.mean(), float(scatters.level.std()) or 1.0
    terms = np.stack([np.ones(len(scatters.level)), (scatters.level - centre) / spread])

    def loss_and_slope(weights: Floats) -> tuple[float, Floats]:
        log_std = weights @ terms
        return scatters.loss(log_std), terms @ (scatters.freedom - scatters.squares * np.exp(-2 * log_std))

    with np.errstate(over="ignore"):  # a step too far, which the search takes back
        weights = minimize(loss_and_slope, np.array([np.log(scatters.std()), 0.0]), jac=True, method="BFGS").x
    low, high = np.quantile(scatters.level, ENDS).tolist()
    at = np.linspace(low, high, CURVE_POINTS)
    std = np.exp(weights[0] + weights[1] * (at - centre) / spread)
    return Curve(tuple(at.tolist()), tuple(std.tolist()))


def _broken_line(scatters: _Scatters) -> Curve:
    """The common deviation of each group of neighbours, at their median."""
    groups = int(np.clip(len(scatters.level) // FEWEST_A_GROUP, 1, MOST_GROUPS))
    parts = [scatters.take(rows) for rows in np.array_split(np.arange(len(scatters.level)), groups)]
    return Curve(tuple(float(np.median(part.level)) for part in parts), tuple(part.std() for part in parts))


_SHAPES: Mapping[str, Callable[[_Scatters], Curve]] = {
    "constant": _constant,
    "exponential": _exponential,
    "broken line": _broken_line,
}
"""The simplest first."""
