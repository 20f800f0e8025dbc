"""The figures of merit of predictions (Surrogate NAS Benchmarks, section 3.1.3)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nasbed.core.metric import Metric
from nasbed.surrogates.base import Floats
from nasbed.surrogates.scores import kendall, mae, mse, precision_of, r2, sparse_kendall

MOST_POINTS = 400
"""The most points of a scatter plot: more would only hide each other."""


@dataclass(frozen=True, slots=True)
class Scores:
    """The figures of ``count`` predictions. Correlations are NaN where all values are equal."""

    count: int
    r2: float
    kendall: float
    sparse_kendall: float
    mae: float
    mse: float


@dataclass(frozen=True, slots=True)
class Scatter:
    """A sample of the pairs of evaluation and prediction."""

    truth: Floats
    predicted: Floats


def score(truth: Floats, predicted: Floats, metric: Metric) -> Scores:
    """All figures of the predictions."""
    varied = len(truth) > 1 and np.ptp(truth) > 0 and np.ptp(predicted) > 0
    grid = precision_of(metric, truth)
    coarse = varied and np.ptp(np.round(predicted / grid)) > 0
    return Scores(
        count=len(truth),
        r2=r2(truth, predicted),
        kendall=kendall(truth, predicted) if varied else float("nan"),
        sparse_kendall=sparse_kendall(truth, predicted, precision=grid) if coarse else float("nan"),
        mae=mae(truth, predicted),
        mse=mse(truth, predicted),
    )


def scatter(truth: Floats, predicted: Floats, rng: np.random.Generator) -> Scatter:
    """A random sample of the pairs."""
    sample = rng.permutation(len(truth))[:MOST_POINTS]
    return Scatter(truth[sample], predicted[sample])
