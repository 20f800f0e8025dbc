"""The metric that a table is searched by, and the best of its means."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nasbed.core.errors import InvalidOption
from nasbed.core.metric import Metric


def objective_of(metrics: tuple[Metric, ...], test_metrics: tuple[Metric, ...], name: str) -> Metric:
    """The first validation metric. A table with test results only has its test metric as objective: it can be queried,
    not searched."""
    for split in ("validation", "train", None):
        for metric in metrics:
            if metric.split == split:
                return metric
    if test_metrics:
        return test_metrics[0]
    raise InvalidOption(f"a benchmark needs a metric, the table {name} has no value at all")


def best_place(means: NDArray[np.float64], metric: Metric, name: str) -> int:
    """The place of the best mean; raises where every mean is NaN. ``name`` is the benchmark, for the message."""
    if np.isnan(means).all():
        raise InvalidOption(
            f"the best architecture needs a measured {metric.key}, {name} has none that ended well; merge some in "
            "with: nasbed results merge"
        )
    return int(np.nanargmax(means) if metric.direction == "maximize" else np.nanargmin(means))
