"""Many runs of one method as one curve over simulated time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nasbed.evaluation.judging import Trajectory
from nasbed.evaluation.trajectories import at_times, bands, time_grid

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Anytime:
    """The median regret over seeds and its quartiles, from when every run has an incumbent until the last one ends."""

    time_s: Floats
    median: Floats
    low: Floats
    high: Floats


def regret_of(trajectory: Trajectory) -> Floats:
    """The test regret or, where nothing is known to judge by, the validation regret."""
    known = bool(np.isfinite(trajectory.test_regret).any())
    return trajectory.test_regret if known else trajectory.validation_regret


def final_regrets(trajectories: Sequence[Trajectory]) -> Floats:
    """Where each run ended, by seed; infinite for one that found nothing."""
    ordered = sorted(trajectories, key=lambda each: each.seed)
    return np.array([regret_of(each)[-1] if len(each.time_s) else np.inf for each in ordered], dtype=np.float64)


def anytime(trajectories: Sequence[Trajectory], *, points: int = 80) -> Anytime:
    """The curve of some runs on a logarithmic grid of times; empty where a run has no incumbent at all."""
    if not trajectories or not all(len(each.time_s) and each.time_s[-1] > 0 for each in trajectories):
        return Anytime(*[np.empty(0)] * 4)
    last = max(float(each.time_s[-1]) for each in trajectories)
    first = min(max(float(each.time_s[0]) for each in trajectories), last)
    grid = time_grid(first, last, points=points)
    found = bands([at_times(each.time_s, regret_of(each), grid_s=grid) for each in trajectories])
    return Anytime(grid, found.median, found.low, found.high)
