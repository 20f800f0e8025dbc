"""The noise of evaluations against how good the architecture is (appendix C.7, figure 8)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nasbed.evaluation.landscape import repeat_noise
from nasbed.evaluation.ranking import in_top, spearman
from nasbed.studies.validation.data import ValidationData, repeats_of
from nasbed.surrogates.base import Floats

TOPS = {"all": 100.0, "better half": 50.0, "best tenth": 10.0}
MOST_POINTS = 1000


@dataclass(frozen=True, slots=True)
class SeedNoise:
    """The mean and the standard deviation over ``seeds`` of repeated architectures.

    Of more than :data:`MOST_POINTS`, ``mean`` and ``std`` have so many, evenly over the order by mean.
    ``by_group`` has the number and the mean deviation of all, of the better half and of the best tenth by the mean.
    ``correlation`` is Spearman's between mean and deviation, positive where better architectures are noisier.
    """

    architectures: int
    seeds: int
    mean: Floats
    std: Floats
    by_group: dict[str, tuple[int, float]]
    correlation: float


def seed_noise(data: ValidationData) -> SeedNoise:
    """The noise of the architectures that have the same several seeds; raises where there are none."""
    repeats = repeats_of(data)
    mean, std = repeats.y.mean(axis=1), repeat_noise(repeats.y)
    good = mean if data.metric.direction == "maximize" else -mean
    groups = {}
    for name, percent in TOPS.items():
        if len(mean) * percent >= 100:
            members = in_top(good, percent=percent)
            groups[name] = (int(members.sum()), float(std[members].mean()))
    varied = len(mean) > 2 and np.ptp(mean) > 0 and np.ptp(std) > 0
    correlation = spearman(good, std) if varied else float("nan")
    shown = np.argsort(mean)[np.linspace(0, len(mean) - 1, min(len(mean), MOST_POINTS)).astype(int)]
    return SeedNoise(len(mean), len(repeats.seeds), mean[shown], std[shown], groups, correlation)
