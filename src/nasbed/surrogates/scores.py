"""How well predictions fit evaluations (Surrogate NAS Benchmarks, section 3.1.3)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from nasbed.core.errors import InvalidOption
from nasbed.core.metric import Metric

Floats = NDArray[np.float64]


def r2(truth: Floats, predicted: Floats) -> float:
    """The coefficient of determination.

    >>> r2(np.array([1.0, 2.0, 3.0]), np.array([1.0, 2.0, 4.0]))
    0.5
    """
    _check(truth, predicted)
    spread = float(((truth - truth.mean()) ** 2).sum())
    return 1 - float(((truth - predicted) ** 2).sum()) / spread if spread else float("nan")


def kendall(truth: Floats, predicted: Floats) -> float:
    """Kendall's rank correlation, ties as in tau-b."""
    _check(truth, predicted)
    return float(stats.kendalltau(truth, predicted).statistic)


def sparse_kendall(truth: Floats, predicted: Floats, *, precision: float) -> float:
    """Kendall's rank correlation with predictions rounded to ``precision``: 0.1 where an accuracy is in percent, 0.001
    where it is a fraction (Yu et al. 2020). Differences below it are ties, not errors.

    >>> sparse_kendall(np.array([93.0, 94.0, 95.0]), np.array([93.01, 93.02, 95.0]), precision=0.1) > 0.8
    True
    """
    return kendall(truth, np.round(predicted / precision))


def precision_of(metric: Metric, truth: Floats) -> float:
    """What the sparse Kendall rounds to: a thousandth of the metric's range, 0.1 % of an accuracy.

    >>> precision_of(Metric("accuracy", unit="%", bounds=(0, 100)), np.zeros(1))
    0.1
    """
    low, high = metric.bounds
    span = high - low if np.isfinite(high - low) else float(np.ptp(truth))
    return span / 1000 if span > 0 else 1.0


def mae(truth: Floats, predicted: Floats) -> float:
    """The mean absolute error."""
    _check(truth, predicted)
    return float(np.abs(truth - predicted).mean())


def mse(truth: Floats, predicted: Floats) -> float:
    """The mean squared error."""
    _check(truth, predicted)
    return float(((truth - predicted) ** 2).mean())


def kl_divergence(mean: Floats, std: Floats, predicted_mean: Floats, predicted_std: Floats) -> Floats:
    """From each true to each predicted normal distribution (section 3.1.5).

    >>> zero, one = np.zeros(1), np.ones(1)
    >>> kl_divergence(zero, one, zero, one).tolist(), kl_divergence(zero, one, one, one).tolist()
    ([0.0], [0.5])
    """
    divergence: Floats = (
        np.log(predicted_std / std) + (std**2 + (mean - predicted_mean) ** 2) / (2 * predicted_std**2) - 0.5
    )
    return divergence


def coverage(truth: Floats, mean: Floats, std: Floats, *, level: float = 0.9) -> float:
    """The share of evaluations within the central interval of the predicted normal distributions."""
    _check(truth, mean)
    return float((np.abs(truth - mean) <= stats.norm.ppf(0.5 + level / 2) * std).mean())


def _check(truth: Floats, predicted: Floats) -> None:
    if len(truth) != len(predicted) or not len(truth):
        raise InvalidOption(f"one prediction for each of at least 1 evaluation, got {len(predicted)} for {len(truth)}")
