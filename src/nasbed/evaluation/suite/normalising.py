"""Regrets on one scale for all benchmarks: 0 is the best architecture, 1 a random one.

The regret on a benchmark is divided by the median regret of random architectures of its space. Per cent of accuracy on
one dataset and on another do not compare; how much of the way from a random architecture to the best one a method
leaves does. Others divide by the range from the worst to the best architecture (HPO-B, YAHPO Gym). Tables of
architectures hold some that learn nothing, so on that scale every method is near 0 from its first evaluation on.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nasbed.core.errors import InvalidOption
from nasbed.evaluation.judging import JudgedRuns
from nasbed.evaluation.trajectories import regret

if TYPE_CHECKING:
    from nasbed.benchmarks.base import Benchmark

Floats = NDArray[np.float64]
DRAWS = 1000
"""How many random architectures the scale of a benchmark comes from."""


def normalised(regrets: ArrayLike, scale: float) -> Floats:
    """Regrets divided by that of a random architecture.

    >>> normalised([0.0, 1.5, 3.0], 3.0).tolist()
    [0.0, 0.5, 1.0]
    """
    if not 0 < scale < np.inf:
        raise InvalidOption(f"regrets are divided by a positive number, got {scale}")
    return np.asarray(regrets, dtype=np.float64) / scale


def random_regret(benchmark: Benchmark, judged: JudgedRuns, first_regrets: Sequence[float]) -> float:
    """The median regret of :data:`DRAWS` random architectures, always the same ones, as the runs are judged.

    Where the benchmark cannot judge architectures that nobody evaluated, as in live training, it is the median of
    ``first_regrets``, those of the first incumbents of the runs.
    """
    values = np.empty(0)
    if not benchmark.is_live and (judged.judge is not None or benchmark.knows_means):
        rng = np.random.default_rng(0)
        archs = [arch for _ in range(DRAWS) if benchmark.holds(arch := benchmark.space.sample(rng))]
        codes = benchmark.space.codes(archs)
        if judged.judge is None:
            metric, best, means = benchmark.objective, judged.validation_best, benchmark.mean_objective(codes)
        else:
            metric, best, means = judged.judge, judged.test_best, benchmark.mean_judgement(codes)[1]
        values = regret(means, metric.direction, best=best)
    values = values[np.isfinite(values)]
    if not len(values):
        values = np.asarray([value for value in first_regrets if np.isfinite(value)])
    scale = float(np.median(values)) if len(values) else float("nan")
    if not scale > 0:
        raise InvalidOption(
            f"a regret on {benchmark.name} cannot be normalised: random architectures are as good as the best of these "
            "runs; leave this benchmark out"
        )
    return scale
