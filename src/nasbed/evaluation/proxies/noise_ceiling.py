"""How well a training predicts other trainings of the same architectures: the truth is noisy itself."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nasbed.evaluation.proxies.measures import Yardstick
from nasbed.evaluation.proxies.tasks import RankedTask

LEAST = 10
"""Architectures with repeated trainings, for a ceiling to say anything: of all of them, or of the top."""


@dataclass(frozen=True, slots=True)
class NoiseCeiling:
    """One training compared with the mean of the others, averaged over the choice of that training. The mean of the
    others determines the top. A measure is NaN where it is undefined, within the top also for too few architectures."""

    spearman: float
    top_spearman: float
    rbo: float
    trainings: int
    """Of an architecture, at the most."""
    architectures: int
    """Those with 2 trainings or more."""


def noise_ceiling(
    task: RankedTask, *, top_percent: float = 1.0, weight: float = 0.5, k: int = 10
) -> NoiseCeiling | None:
    """How well a full training predicts others; None where trainings are not repeated. A proxy is unlikely to exceed it
    by much. Only a proxy that knew the expected outcome could, as that is less noisy than one training.
    """
    if task.repeats is None:
        return None
    repeated = task.repeats[np.isfinite(task.repeats).sum(axis=1) > 1]
    if len(repeated) < LEAST:
        return None
    finite = np.isfinite(repeated)
    totals, counts = np.where(finite, repeated, 0.0).sum(axis=1), finite.sum(axis=1)
    measurements = []
    for number in range(repeated.shape[1]):
        present = finite[:, number]
        if present.sum() < LEAST:
            continue
        single = repeated[present, number]
        mean_of_others = (totals[present] - single) / (counts[present] - 1)
        measured = Yardstick.of(mean_of_others, task.metric, top_percent=top_percent, weight=weight, k=k).headlines(
            mean_of_others, single
        )
        correlation, within, overlap = measured.values()
        enough = len(single) * top_percent / 100 >= LEAST
        measurements.append((correlation, within if enough else np.nan, overlap))
    correlation, top, overlap = (
        float(column[~np.isnan(column)].mean()) if (~np.isnan(column)).any() else float("nan")
        for column in np.array(measurements).T
    )
    return NoiseCeiling(correlation, top, overlap, int(counts.max()), len(repeated))
