"""How much of a difference is noise: adaptive shrinkage, without a guess of how large true differences are.

Each observed difference is a true one plus noise of known variance. The true ones come from a mixture of centred normal
distributions, with the weights of maximum likelihood (Stephens 2017, False discovery rates: a new deal). The estimate
is the posterior mean. So small differences that noise explains shrink to 0, and large ones stay.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nasbed.core.errors import InvalidOption

Floats = NDArray[np.float64]

SCALES = 25
"""Normal distributions in the mixture, beside the one that has no width."""
ROUNDS = 300
BINS = 12
TRIM = 0.01
"""The share of the largest squared deviations in a bin that is left out: failed runs are outliers, not noise."""


def shrink(difference: Floats, variance: Floats) -> Floats:
    """The posterior means of the true differences.

    >>> shrink(np.array([0.1, -0.2, 0.1, 30.0, -40.0]), np.ones(5)).round(0).tolist()
    [0.0, -0.0, 0.0, 30.0, -40.0]
    """
    variance = np.maximum(variance, 1e-12)
    low = np.sqrt(variance.min()) / 10
    high = 2 * max(np.abs(difference).max(initial=0), 2 * low)
    scale2 = np.concatenate([[0.0], np.geomspace(low, high, SCALES) ** 2])
    total = scale2 + variance[:, None]
    log_likelihood = -0.5 * (np.log(total) + difference[:, None] ** 2 / total)
    likelihood = np.exp(log_likelihood - log_likelihood.max(axis=1, keepdims=True))
    weight = np.full(len(scale2), 1 / len(scale2))
    for _ in range(ROUNDS):  # expectation maximisation
        part = likelihood * weight
        part /= part.sum(axis=1, keepdims=True)
        weight = part.mean(axis=0)
    posterior: Floats = (part * scale2 / total).sum(axis=1) * difference
    return posterior


def noise_variance(y: Floats, owner: NDArray[np.int64], *, label: str) -> Floats:
    """The variance of one evaluation of each owner, estimated from the scatter of those with several. It is a curve
    over their mean, since good architectures scatter less (Surrogate NAS Benchmarks, appendix C.7)."""
    count = np.bincount(owner)
    mean = np.bincount(owner, y) / np.maximum(count, 1)
    several = count[owner] > 1
    if not several.any():
        raise InvalidOption(f"{label} learns noise from repeated evaluations, got none; give the setting noise")
    level = mean[owner[several]]
    squares = (y[several] - level) ** 2 * (count / np.maximum(count - 1, 1))[owner[several]]
    order = np.argsort(level, kind="stable")
    bins = [part for part in np.array_split(order, BINS) if len(part)]
    centres = [level[part].mean() for part in bins]
    heights = [np.sort(squares[part])[: max(1, int(len(part) * (1 - TRIM)))].mean() for part in bins]
    variances: Floats = np.interp(mean, centres, heights)
    return variances
