"""The best of measured values."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from nasbed.core.metric import Metric


def best_value(columns: Sequence[NDArray[np.floating]], metric: Metric) -> float:
    """The best value of a metric in some arrays, NaN if there is none.

    >>> best_value([np.array([3.0, np.nan]), np.array([2.0])], Metric("loss", direction="minimize"))
    2.0
    """
    values = np.concatenate([*map(np.ravel, columns), np.empty(0)])
    present = values[~np.isnan(values)]
    if not len(present):
        return float("nan")
    return float(present.max() if metric.direction == "maximize" else present.min())
