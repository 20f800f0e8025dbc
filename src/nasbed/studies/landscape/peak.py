"""The best architectures of a table as peaks of the encoded space (section 3.3)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nasbed.core.metric import Metric
from nasbed.evaluation.landscape import Volume, repeat_noise, volume_by_distance
from nasbed.evaluation.landscape.volume import COUNTABLE
from nasbed.studies.table import Table


@dataclass(frozen=True, slots=True)
class PeakVolume:
    """How much of the encoded space lies near the best architecture, and near those as good as it (Figure 6, right).

    The best has the best mean of ``metric``; as good are those within two standard errors of that mean. Without
    repeats there is no standard error, and ``near_as_good`` is None.
    """

    metric: Metric
    best: str
    best_value: float
    standard_error: float  # NaN without repeats
    others: int  # as good as the best
    near_best: Volume
    near_as_good: Volume | None


def peak_volume(table: Table, metric: Metric) -> PeakVolume | None:
    """The volume near the best by the highest fidelity; None where encodings cannot be counted."""
    sizes = table.space.encoding_sizes
    if not sizes or math.prod(sizes) > COUNTABLE:
        return None
    position = table.measured(metric)
    sign = 1.0 if metric.direction == "maximize" else -1.0
    means = sign * table.mean(metric, position)
    best = int(np.nanargmax(means))
    repeats = table.values[metric.key][best, position]
    error = float(repeat_noise(repeats) / np.sqrt((~np.isnan(repeats)).sum()))
    as_good = np.flatnonzero(means >= means[best] - 2 * error)  # none where the error is missing

    def near(rows: NDArray[np.int64]) -> Volume:
        cells = table.space.architectures(table.codes[rows])
        return volume_by_distance(sizes, (table.space.encoded_points(arch) for arch in cells))

    (architecture,) = table.space.architectures(table.codes[[best]])
    return PeakVolume(
        metric=metric,
        best=table.space.format(architecture),
        best_value=sign * float(means[best]),
        standard_error=error,
        others=max(len(as_good) - 1, 0),
        near_best=near(np.array([best])),
        near_as_good=near(as_good) if len(as_good) else None,
    )
