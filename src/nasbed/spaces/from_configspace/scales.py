"""Numbers of a configuration space: their place in the unit interval, their priors there, and doubles as integers."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from nasbed.core.errors import InvalidOption

if TYPE_CHECKING:
    from ConfigSpace.hyperparameters import NumericalHyperparameter

Quantile = Callable[[float], float]
"""The inverse distribution function of a prior on the unit interval."""

SPREAD = 0.2
"""Standard deviation of a mutated number, as a share of its (log-)range; ConfigSpace has the same."""

_DOUBLE, _LONG = struct.Struct("<d"), struct.Struct("<q")
_FIRST_BITS: int = _LONG.unpack(_DOUBLE.pack(2.0**-45))[0] - 1


def rank_of(value: float) -> int:
    """The place of a double among all doubles, 0 at zero. Magnitudes below 2**-45, zero to ConfigSpace, are zero here.

    >>> rank_of(0.1) < rank_of(0.2), rank_of(-0.5) + rank_of(0.5), double_at(rank_of(0.1))
    (True, 0, 0.1)
    """
    bits: int = _LONG.unpack(_DOUBLE.pack(abs(value)))[0] - _FIRST_BITS
    if bits <= 0:
        return 0
    return bits if value > 0 else -bits


def double_at(rank: int) -> float:
    """The inverse of :func:`rank_of`."""
    if rank == 0:
        return 0.0
    magnitude: float = _DOUBLE.unpack(_LONG.pack(abs(rank) + _FIRST_BITS))[0]
    return magnitude if rank > 0 else -magnitude


def doubles_at(ranks: NDArray[np.int64]) -> NDArray[np.float64]:
    """:func:`double_at` for a whole column."""
    magnitudes = np.where(ranks == 0, 0, np.abs(ranks) + _FIRST_BITS).view(np.float64)
    return np.copysign(magnitudes, ranks.astype(np.float64))


class Scale:
    """The way between the values of a numeric range and the unit interval, straight or logarithmic."""

    def __init__(self, lower: float, upper: float, *, log: bool) -> None:
        self.log = log
        self.start = math.log(lower) if log else float(lower)
        self.length = (math.log(upper) if log else float(upper)) - self.start

    def unit(self, value: float) -> float:
        return ((math.log(value) if self.log else value) - self.start) / self.length

    def value(self, unit: float) -> float:
        point = self.start + unit * self.length
        return math.exp(point) if self.log else point

    def units(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.clip(((np.log(values) if self.log else values) - self.start) / self.length, 0.0, 1.0)

    def nudged(self, value: float, rng: np.random.Generator) -> float:
        """A value a Gaussian step away, reflected at the bounds."""
        folded = abs(self.unit(value) + SPREAD * float(rng.standard_normal())) % 2
        return self.value(2 - folded if folded > 1 else folded)


def prior_quantile(foreign: NumericalHyperparameter[Any, Any]) -> Quantile | None:
    """The prior of a ConfigSpace number over its unit interval; ``None`` where it is uniform."""
    from ConfigSpace import hyperparameters as kinds

    if isinstance(foreign, kinds.UniformIntegerHyperparameter | kinds.UniformFloatHyperparameter):
        return None
    if isinstance(foreign, kinds.BetaIntegerHyperparameter | kinds.BetaFloatHyperparameter):
        from scipy.special import betaincinv  # type: ignore[import-untyped, unused-ignore]

        alpha, beta = foreign.alpha, foreign.beta
        return lambda uniform: float(betaincinv(alpha, beta, uniform))
    if isinstance(foreign, kinds.NormalIntegerHyperparameter | kinds.NormalFloatHyperparameter):
        # only here does ConfigSpace keep the mean and deviation that it samples with
        settings = foreign._vector_dist.rv.kwds  # type: ignore[attr-defined, unused-ignore]
        return truncated_normal(*(float(settings[key]) for key in ("a", "b", "loc", "scale")))
    raise InvalidOption(f"a prior is uniform, normal or beta, {foreign.name} is a {type(foreign).__name__}")


def truncated_normal(a: float, b: float, mean: float, deviation: float) -> Quantile:
    """The quantiles of a normal cut to ``[a, b]`` deviations around its mean, exact far into either tail.

    >>> round(truncated_normal(-2, 2, 0.5, 0.25)(0.5), 12)
    0.5
    """
    from scipy.special import log_ndtr, ndtri_exp  # type: ignore[import-untyped, unused-ignore]

    if (b - a) * max(1.0, abs(a), abs(b)) < 1e-6:  # as good as flat, and too narrow for a difference of tails
        return lambda uniform: min(max(mean + deviation * (a + uniform * (b - a)), 0.0), 1.0)
    mirrored = a > 0
    if mirrored:
        a, b, deviation = -b, -a, -deviation
    low, high = float(log_ndtr(a)), float(log_ndtr(b))
    mass = high + math.log(-math.expm1(low - high))

    def quantile(uniform: float) -> float:
        share = 1 - uniform if mirrored else uniform
        deviations = float(ndtri_exp(np.logaddexp(low, math.log(share) + mass))) if share > 0 else a
        return min(max(mean + deviation * deviations, 0.0), 1.0)

    return quantile
