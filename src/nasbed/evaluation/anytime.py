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
    """The test regret or, where the benchmark has nothing to judge by, the validation regret."""
    has_test = bool(np.isfinite(trajectory.test_regret).any())
    return trajectory.test_regret if has_test else trajectory.validation_regret


def final_regrets(trajectories: Sequence[Trajectory]) -> Floats:
    """The final regret of each run, by seed; infinite for a run that found nothing."""
    ordered = sorted(trajectories, key=lambda trajectory: trajectory.seed)
    return np.array(
        [regret_of(trajectory)[-1] if len(trajectory.time_s) else np.inf for trajectory in ordered], dtype=np.float64
    )


def anytime(trajectories: Sequence[Trajectory], *, points: int = 80) -> Anytime:
    """The curve of several runs on a logarithmic grid of times; empty if a run has no incumbent."""
    if not trajectories or not all(len(trajectory.time_s) and trajectory.time_s[-1] > 0 for trajectory in trajectories):
        return Anytime(*[np.empty(0)] * 4)
    last = max(float(trajectory.time_s[-1]) for trajectory in trajectories)
    first = min(max(float(trajectory.time_s[0]) for trajectory in trajectories), last)
    grid = time_grid(first, last, points=points)
    band = bands([at_times(trajectory.time_s, regret_of(trajectory), grid_s=grid) for trajectory in trajectories])
    return Anytime(grid, band.median, band.low, band.high)
