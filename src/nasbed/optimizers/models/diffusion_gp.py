"""The Gaussian process of COMBO: diffusion over a product of choice graphs, its hyperparameters by slice sampling."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import lapack

from nasbed.optimizers.models.choice_graphs import ChoiceGraph, Floats, Vertices
from nasbed.optimizers.models.slice_sampling import slice_sample

LOWEST = -12.0
HIGHEST = math.log(10_000.0)
"""The logarithms of an amplitude and of a noise lie between these; that of a beta between ``LOWEST`` and
``HIGHEST_BETA``."""
HIGHEST_BETA = math.log(100.0)
JITTER = 1e-6
"""Added to the kernel's diagonal, as a share of the amplitude."""
_LEAST = 1e-15
"""Kernel values below this are rounding errors of the eigenvectors."""


@dataclass(frozen=True, slots=True)
class Hyperparameters:
    """One draw: the constant mean, the logarithms of the amplitude and of the noise's variance, and of each graph's
    beta."""

    mean: float
    log_amplitude: float
    log_noise: float
    log_betas: tuple[float, ...]

    @classmethod
    def start(cls, graphs: Sequence[ChoiceGraph]) -> Hyperparameters:
        """Where the authors' chain starts, for targets with mean 0 and variance 1."""
        return cls(mean=0.0, log_amplitude=math.log(0.5), log_noise=0.0, log_betas=(0.0,) * len(graphs))


def log_prior_noise(log_noise: float) -> float:
    return math.log(math.log1p((0.1 / math.exp(log_noise)) ** 2))


def log_prior_beta(log_beta: float) -> float:
    """The horseshoe with scale 5 (a bound of its density), taken, as by the authors, as a density of log beta. A small
    beta lets options differ, a large one makes them alike."""
    return math.log(math.log1p(2 * (5 / math.exp(log_beta)) ** 2))


def sweep(
    graphs: Sequence[ChoiceGraph], state: Hyperparameters, rows: Vertices, targets: Floats, rng: np.random.Generator
) -> Hyperparameters:
    """One pass of slice sampling over all hyperparameters.

    Mean, amplitude, noise, then the betas in random order, with the priors of the authors' code. The kernel is a
    product, so a beta's new value costs one factor and one Cholesky decomposition.

    Args:
        graphs: The choice graphs.
        state: The hyperparameters so far.
        rows: The vertices of the evaluated architectures.
        targets: Their standardised losses, of more than one value.
        rng: Draws the new values.
    """
    gram = _gram(graphs, state.log_betas, rows)
    low, high = float(targets.min()), float(targets.max())
    middle, deviation = (low + high) / 2, (high - low) / 4
    chol = _cholesky(gram, state.log_amplitude, state.log_noise)
    if chol is not None:
        level, unit = (lapack.dtrtrs(chol, vector, lower=1)[0] for vector in (targets, np.ones_like(targets)))
        mean = slice_sample(
            lambda value: -0.5 * float(np.square(level - value * unit).sum() + ((value - middle) / deviation) ** 2),
            min(max(state.mean, low), high),
            low=low,
            high=high,
            rng=rng,
        )
        state = replace(state, mean=mean)
    residuals = targets - state.mean

    centre, width = _amplitude_prior(graphs)
    amplitude = slice_sample(
        lambda value: _log_likelihood(gram, residuals, value, state.log_noise) - 0.5 * ((value - centre) / width) ** 2,
        state.log_amplitude,
        low=LOWEST,
        high=HIGHEST,
        rng=rng,
    )
    noise = slice_sample(
        lambda value: _log_likelihood(gram, residuals, amplitude, value) + log_prior_noise(value),
        state.log_noise,
        low=LOWEST,
        high=HIGHEST,
        rng=rng,
    )
    betas = list(state.log_betas)
    for index in rng.permutation(len(graphs)).tolist():
        graph, column = graphs[index], rows[:, index]
        other_factors = gram / _factor(graph, betas[index], column)

        def log_density(
            value: float, graph: ChoiceGraph = graph, column: Vertices = column, other_factors: Floats = other_factors
        ) -> float:
            changed = other_factors * _factor(graph, value, column)
            return _log_likelihood(changed, residuals, amplitude, noise) + log_prior_beta(value)

        betas[index] = slice_sample(log_density, betas[index], low=LOWEST, high=HIGHEST_BETA, rng=rng)
        gram = other_factors * _factor(graph, betas[index], column)
    return Hyperparameters(state.mean, amplitude, noise, tuple(betas))


class Posterior:
    """The posterior of the process with these hyperparameters, given the targets of the first of ``rows``.

    Rows beyond the targets are pending. They are assumed to turn out as expected: they reduce the variance and change
    no mean.
    """

    def __init__(
        self, graphs: Sequence[ChoiceGraph], hyperparameters: Hyperparameters, rows: Vertices, targets: Floats
    ) -> None:
        self._hyperparameters = hyperparameters
        self._tables = [_table(graph, beta) for graph, beta in zip(graphs, hyperparameters.log_betas, strict=True)]
        chol = _cholesky(
            _gram(graphs, hyperparameters.log_betas, rows), hyperparameters.log_amplitude, hyperparameters.log_noise
        )
        assert chol is not None, "the jitter keeps the kernel positive definite"
        self._chol = chol
        self._observed = len(targets)
        observed = chol[: self._observed, : self._observed]
        self._weights = lapack.dtrtrs(observed, targets - hyperparameters.mean, lower=1)[0]
        self._logs = [np.log(table)[:, column] for table, column in zip(self._tables, rows.T, strict=True)]

    def predict(self, rows: Vertices) -> tuple[Floats, Floats]:
        """Mean and variance, without noise, at each row."""
        amplitude = math.exp(self._hyperparameters.log_amplitude)
        logs = np.full((len(rows), len(self._chol)), self._hyperparameters.log_amplitude)
        prior = np.full(len(rows), amplitude)
        for log, table, column in zip(self._logs, self._tables, rows.T, strict=True):
            logs += log[column]
            prior *= table.diagonal()[column]
        solved = lapack.dtrtrs(self._chol, np.exp(logs, out=logs).T, lower=1)[0]
        mean = self._hyperparameters.mean + self._weights @ solved[: self._observed]
        variance = prior + JITTER * amplitude - np.einsum("ij,ij->j", solved, solved)
        return np.asarray(mean), np.maximum(variance, 1e-8)


def _table(graph: ChoiceGraph, log_beta: float) -> Floats:
    return np.maximum(graph.kernel(math.exp(log_beta)), _LEAST)


def _factor(graph: ChoiceGraph, log_beta: float, column: Vertices) -> Floats:
    """One graph's part of the kernel between all rows."""
    return np.asarray(_table(graph, log_beta)[column].take(column, axis=1))


def _gram(graphs: Sequence[ChoiceGraph], log_betas: Sequence[float], rows: Vertices) -> Floats:
    gram = np.ones((len(rows), len(rows)))
    for graph, beta, column in zip(graphs, log_betas, rows.T, strict=True):
        gram *= _factor(graph, beta, column)
    return gram


def _cholesky(gram: Floats, log_amplitude: float, log_noise: float) -> Floats | None:
    """The lower triangle for the kernel with amplitude, jitter and noise; ``None`` where rounding errors prevent it."""
    amplitude = math.exp(log_amplitude)
    full = gram * amplitude
    full.flat[:: len(full) + 1] += JITTER * amplitude + math.exp(log_noise)
    lower, failed = lapack.dpotrf(full.T, lower=1, clean=0, overwrite_a=1)
    return None if failed else lower


def _log_likelihood(gram: Floats, residuals: Floats, log_amplitude: float, log_noise: float) -> float:
    """Of the residuals, up to a constant."""
    chol = _cholesky(gram, log_amplitude, log_noise)
    if chol is None:
        return -math.inf
    solved = lapack.dtrtrs(chol, residuals, lower=1)[0]
    return -0.5 * float(solved @ solved) - float(np.log(chol.diagonal()).sum())


def _amplitude_prior(graphs: Sequence[ChoiceGraph]) -> tuple[float, float]:
    """Centre and width of the normal prior of the logarithm: it spans the amplitudes that give the targets' variance
    with the kernel's largest and least eigenvalue at beta 1."""
    spans = [graph.spectrum[0][-1] for graph in graphs]
    means = [math.log(np.exp(-graph.spectrum[0]).mean()) for graph in graphs]
    return float(sum(means) + sum(spans) / 2), float(sum(spans) / 4)
