"""The figures of a fitted ensemble on held-out evaluations (Surrogate NAS Benchmarks, sections 3.1.3 to 3.1.5)."""

from __future__ import annotations

from typing import Any

import numpy as np

from nasbed.core.metric import Metric
from nasbed.surrogates.base import Surrogate
from nasbed.surrogates.ensemble import Ensemble, Prediction
from nasbed.surrogates.examples import TRAIN_TIME, Examples
from nasbed.surrogates.scores import (
    Floats,
    coverage,
    kendall,
    kl_divergence,
    mae,
    mse,
    precision_of,
    r2,
    sparse_kendall,
)

FEWEST_REPEATS = 3
"""Evaluations from which a true distribution is made."""


def fit_figures(ensemble: Ensemble, test: Examples, metric: Metric) -> dict[str, float]:
    """R², Kendall, sparse Kendall, MAE and MSE; the coverage of the 90 % intervals, over all evaluations and over the
    better half. Where architectures have repeats, also the KL divergence. ``raw_…`` takes the spread between members
    for the standard deviation, as the paper does."""
    prediction = ensemble.predict(test.codes)
    sign = 1.0 if metric.direction == "maximize" else -1.0
    better = sign * test.y >= np.median(sign * test.y)
    figures = {
        "r2": r2(test.y, prediction.mean),
        "kendall": kendall(test.y, prediction.mean),
        "sparse_kendall": sparse_kendall(test.y, prediction.mean, precision=precision_of(metric, test.y)),
        "mae": mae(test.y, prediction.mean),
        "mse": mse(test.y, prediction.mean),
        "coverage": coverage(test.y, prediction.mean, prediction.std),
        "coverage_better_half": coverage(test.y[better], prediction.mean[better], prediction.std[better]),
        "raw_coverage": coverage(test.y, prediction.mean, prediction.spread),
    }
    return figures | kl_figures(prediction, test)


def kl_figures(prediction: Prediction, test: Examples) -> dict[str, float]:
    """The mean and median KL divergence from the normal distribution of each architecture's repeats to the predicted
    one, and to that which queries sample (``noise_``); the deviation of these repeats and that which queries sample, as
    roots of the mean variance. Empty where no architecture has three that differ."""
    _, first, owner, count = np.unique(test.architecture, return_index=True, return_inverse=True, return_counts=True)
    means = np.bincount(owner, weights=test.y) / count
    squares = np.bincount(owner, weights=(test.y - means[owner]) ** 2)
    used = (count >= FEWEST_REPEATS) & (squares > 0)
    if not used.any():
        return {}
    at = first[used]
    std = np.sqrt(squares[used] / (count[used] - 1))
    figures = {"repeats_std": _root_mean_square(std), "noise_std": _root_mean_square(prediction.noise[at])}
    for name, predicted in (("", prediction.std), ("raw_", prediction.spread), ("noise_", prediction.noise)):
        floor = np.maximum(predicted[at], np.finfo(np.float64).tiny)
        with np.errstate(over="ignore", divide="ignore"):
            divergence = kl_divergence(means[used], std, prediction.mean[at], floor)
        figures[f"{name}kl"] = _finite(divergence.mean())
        figures[f"{name}kl_median"] = _finite(np.median(divergence))
    return figures


def noise_figures(ensemble: Ensemble, test: Examples) -> dict[str, float]:
    """How widely noisy answers scatter, and evaluations do: those of one architecture around their mean, or around the
    prediction where none is repeated. Both are roots of mean squares in units of the metric."""
    prediction = ensemble.predict(test.codes)
    _, owner, count = np.unique(test.architecture, return_inverse=True, return_counts=True)
    owner = owner.reshape(-1)
    repeated = count[owner] > 1
    if ensemble.noise.repeats is None or not repeated.any():
        drawn, measured = prediction.noise, test.y - prediction.mean
    else:
        means = np.bincount(owner, weights=test.y) / count
        widened = np.sqrt(count[owner] / np.maximum(count[owner] - 1, 1))
        drawn, measured = prediction.noise[repeated], ((test.y - means[owner]) * widened)[repeated]
    return {f"noise_{name}": float(np.sqrt(np.mean(d**2))) for name, d in (("drawn", drawn), ("measured", measured))}


def runtime_figures(clock: Surrogate[Any], test: Examples | None, *, share: float = 1.0) -> dict[str, float]:
    """How well the runtime model fits: R² and sparse Kendall of the seconds' logarithm and of the seconds, Kendall, and
    the mean relative error. The sparse Kendall rounds to a thousandth of the range. ``share`` is the part of a
    predicted time that the tested evaluations took."""
    if test is None:
        return {}
    predicted = clock.predict(test.codes) + np.log(share)
    figures = {
        "runtime_r2": r2(test.y, predicted),
        "runtime_sparse_kendall": sparse_kendall(test.y, predicted, precision=precision_of(TRAIN_TIME, test.y)),
        "runtime_kendall": kendall(test.y, predicted),
        "runtime_relative_error": float(np.abs(np.expm1(predicted - test.y)).mean()),
    }
    return figures | {f"runtime_{name}": value for name, value in figures_in_seconds(test.y, predicted).items()}


def figures_in_seconds(truth: Floats, predicted: Floats) -> dict[str, float]:
    """R² and sparse Kendall of seconds whose logarithms are given.

    >>> round(figures_in_seconds(np.log([1.0, 2.0, 3.0]), np.log([1.0, 2.0, 4.0]))["seconds_r2"], 12)
    0.5
    """
    seconds, predicted_seconds = np.exp(truth), np.exp(predicted)
    return {
        "seconds_r2": r2(seconds, predicted_seconds),
        "seconds_sparse_kendall": sparse_kendall(
            seconds, predicted_seconds, precision=precision_of(TRAIN_TIME, seconds)
        ),
    }


def _root_mean_square(values: Floats) -> float:
    return float(np.sqrt((values**2).mean()))


def _finite(value: Any) -> float:
    return float(value) if np.isfinite(value) else float("nan")
