"""Runs judged by values that their benchmark hides from methods (NAS-Bench-101, section 2.6)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from nasbed.core.errors import InvalidOption, TooLarge
from nasbed.core.metric import Metric
from nasbed.evaluation.trajectories import incumbent_index, regret

if TYPE_CHECKING:
    from nasbed.benchmarks.base import Benchmark
    from nasbed.experiments.runs import Runs


@dataclass(frozen=True, slots=True)
class Trajectory:
    """The regret of one run's incumbent at the end of each evaluation from the first that has a value."""

    method: str
    seed: int
    time_s: NDArray[np.float64]
    incumbent: NDArray[np.int64]  # which evaluation of the run it is
    validation_regret: NDArray[np.float64]
    test_regret: NDArray[np.float64]  # NaN throughout where nothing is known to judge by


@dataclass(frozen=True, slots=True)
class JudgedRuns:
    """The trajectories of a set of runs, and the best values that their regrets are measured from.

    ``validation_best`` is the best single answer that the table can give or, without a table, the best seen in any of
    these runs: then a validation regret of 0 means as good as the best of them. ``best_of_runs`` says that
    ``test_best`` too is only the best that these runs found, as the best of the space is not known.
    """

    trajectories: Sequence[Trajectory]
    validation_best: float
    judge: Metric | None
    test_best: float
    best_of_runs: bool = False

    def of(self, method: str) -> list[Trajectory]:
        """The trajectories of one method, by seed."""
        return sorted(
            (trajectory for trajectory in self.trajectories if trajectory.method == method),
            key=lambda trajectory: trajectory.seed,
        )


def judge(runs: Runs, benchmark: Benchmark) -> JudgedRuns:
    """The regrets of all runs.

    The incumbent is chosen by validation, as a search would, and judged by the mean test metric of its architecture. A
    benchmark without test results judges by the mean of its objective: a table by its mean validation metric, a
    surrogate by the noise-free mean that it predicts. Live training judges by the test results of what this process
    trained. Regrets are measured from the best of the whole space where that is known or can be listed, otherwise from
    the best incumbent of these runs.

    The benchmark is asked once, for all incumbents of all runs together.
    """
    objective = runs.setup.objective
    indices = [incumbent_index(run.value, objective.direction, fidelity=run.fidelity) for run in runs.runs]
    incumbents = [run.codes[np.unique(index[index >= 0])] for run, index in zip(runs.runs, indices, strict=True)]
    metric, means = benchmark.mean_judgement(
        np.concatenate([*incumbents, np.empty((0, benchmark.space.code_length), int)])
    )
    test_best, best_of_runs = _best_mean(benchmark, metric, means) if metric is not None else (float("nan"), True)
    validation_best = best_validation(runs, benchmark)
    trajectories, offset = [], 0
    for run, index in zip(runs.runs, indices, strict=True):
        evaluations = index[index >= 0]
        distinct, owner = np.unique(evaluations, return_inverse=True)
        judged = means[offset : offset + len(distinct)][owner]
        offset += len(distinct)
        trajectories.append(
            Trajectory(
                method=run.method,
                seed=run.seed,
                time_s=run.end_s[index >= 0],
                incumbent=evaluations,
                validation_regret=regret(run.value[evaluations], objective.direction, best=validation_best),
                test_regret=regret(judged, (metric or objective).direction, best=test_best),
            )
        )
    return JudgedRuns(trajectories, validation_best, metric, test_best, best_of_runs)


def best_validation(runs: Runs, benchmark: Benchmark) -> float:
    """The best objective value that a query can give at a fidelity of these runs, if the benchmark knows it. Otherwise
    the best value in these runs; NaN if there is none."""
    fidelities = sorted(
        {int(fidelity) for run in runs.runs for fidelity in np.unique(run.fidelity[~np.isnan(run.value)])}
    )
    best = benchmark.best_answer(fidelities)
    if not np.isnan(best):
        return best
    return runs.setup.objective.best_of([run.value for run in runs.runs])


def unpaired(rows: Mapping[str, Mapping[int, float]]) -> NDArray[np.float64]:
    """Final values by method and seed as an array ``[methods, seeds]`` of the seeds that any method has, NaN where one
    has none.

    >>> unpaired({"rs": {0: 1.0, 1: 2.0}, "re": {1: 1.5, 2: 0.0}}).tolist()
    [[1.0, 2.0, nan], [nan, 1.5, 0.0]]
    """
    seeds = sorted({seed for row in rows.values() for seed in row})
    return np.array([[row.get(seed, np.nan) for seed in seeds] for row in rows.values()], dtype=np.float64).reshape(
        len(rows), len(seeds)
    )


def paired(rows: Mapping[str, Mapping[int, float]]) -> NDArray[np.float64]:
    """Final values by method and seed as an array ``[methods, seeds]`` of the seeds that every method has, NaN where a
    run had no value.

    >>> paired({"rs": {0: 1.0, 1: 2.0}, "re": {1: 1.5, 2: 0.0}}).tolist()
    [[2.0], [1.5]]
    """
    seeds = sorted(set.intersection(*(set(row) for row in rows.values()))) if rows else []
    return np.array([[row[seed] for seed in seeds] for row in rows.values()], dtype=np.float64).reshape(
        len(rows), len(seeds)
    )


def evaluation_numbers(runs: Runs, line: Trajectory) -> NDArray[np.float64]:
    """The numbers of the evaluations that a trajectory has, which begins with the first that has a value."""
    numbers = next(run.numbers for run in runs.runs if (run.method, run.seed) == (line.method, line.seed))
    return numbers[len(numbers) - len(line.time_s) :].astype(np.float64)


def by_seed(runs: Runs, rows: Sequence[tuple[Trajectory, NDArray[np.float64]]]) -> NDArray[np.float64]:
    """``[methods, seeds, places]`` of the seeds that all methods have, NaN for a run that broke or found nothing."""
    methods = runs.methods
    seeds = sorted(set.intersection(*({run.seed for run in runs.of(method)} for method in methods)))
    table = np.full((len(methods), len(seeds), len(rows[0][1])), np.nan)
    for line, values in rows:
        if line.seed in seeds:
            table[methods.index(line.method), seeds.index(line.seed)] = values
    return table


def _best_mean(benchmark: Benchmark, metric: Metric, means: NDArray[np.float64]) -> tuple[float, bool]:
    """The best mean, and whether it is only the best of these architectures."""
    try:
        return benchmark.optimum()[1], False
    except (TooLarge, InvalidOption):
        return metric.best_of([means]), True
