"""The trade-off between the objective of a search and a cost, such as parameters or latency."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nasbed.core.metric import Metric
from nasbed.evaluation.hypervolume import hypervolume
from nasbed.evaluation.trajectories import regret

if TYPE_CHECKING:
    from nasbed.benchmarks.base import Benchmark
    from nasbed.experiments.runs import Run, Runs

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Front:
    """The Pareto front of one run, from the cheapest."""

    method: str
    seed: int
    cost: Floats  # rising
    regret: Floats  # of the objective, falling


@dataclass(frozen=True, slots=True)
class Tradeoffs:
    """The fronts of a set of runs, of evaluations at the highest fidelity that any of them used.

    The box reaches from the lowest cost and regret on any front here to the highest, which are the reference point. A
    front's hypervolume is the share of the box that it dominates. It compares the runs of one set only.
    """

    second: Metric
    fronts: Sequence[Front]
    ideal: tuple[float, float]
    reference: tuple[float, float]

    def hypervolumes(self, method: str) -> dict[int, float]:
        """By seed; NaN for a run that has no front, or where the box has no extent."""
        corner, first = np.array(self.reference), np.array(self.ideal)
        size = float(np.prod(corner - first))
        return {
            front.seed: hypervolume(np.stack([front.cost, front.regret], axis=1), corner) / size
            if size > 0 and len(front.cost)
            else float("nan")
            for front in self.fronts
            if front.method == method
        }


def tradeoffs(runs: Runs, benchmark: Benchmark, *, best: float) -> Tradeoffs | None:
    """The fronts of all runs in the objective, as its regret against ``best``, and a second metric that they measured;
    none where the benchmark has no such metric.

    The second metric is the one that a method's setting ``second`` names. Without one it is the parameters, or else the
    first minimised metric of the architecture alone.
    """
    costs = [item for item in benchmark.metrics if item.split is None and item.direction == "minimize"]
    if not costs:
        return None
    requested = {values.get("second") for values in runs.setup.settings.values()}
    second = min(costs, key=lambda item: (item.key not in requested, item.key != "parameters"))
    top = max((int(run.fidelity[~np.isnan(run.value)].max(initial=-1)) for run in runs.runs), default=-1)
    fronts = [_front(run, runs.setup.objective, second, top, best) for run in runs.runs]
    cost = np.concatenate([*(item.cost for item in fronts), np.empty(0)])
    loss = np.concatenate([*(item.regret for item in fronts), np.empty(0)])
    if not len(cost):
        no_range = (float("nan"), float("nan"))
        return Tradeoffs(second, fronts, no_range, no_range)
    ideal, reference = (float(cost.min()), float(loss.min())), (float(cost.max()), float(loss.max()))
    return Tradeoffs(second, fronts, ideal, reference)


def cheapest_first(cost: ArrayLike, loss: ArrayLike) -> NDArray[np.int64]:
    """The Pareto front of two minimised quantities, as indices from the cheapest to the best. Of equal points the first
    stays; a point with a missing value is never on the front.

    >>> cheapest_first([3.0, 1.0, 2.0, 2.0], [1.0, 9.0, 5.0, 4.0]).tolist()
    [1, 3, 0]
    """
    costs, losses = np.asarray(cost, dtype=np.float64), np.asarray(loss, dtype=np.float64)
    present = np.flatnonzero(~(np.isnan(costs) | np.isnan(losses)))
    order = present[np.lexsort((losses[present], costs[present]))]
    falling = losses[order]
    best_so_far = np.concatenate([[np.inf], np.minimum.accumulate(falling)[:-1]])[: len(order)]
    front: NDArray[np.int64] = order[falling < best_so_far]
    return front


def _front(run: Run, objective: Metric, second: Metric, fidelity: int, best: float) -> Front:
    rows = np.flatnonzero(run.fidelity == fidelity)
    cost = run.others.get(second.key, np.full(len(run), np.nan))[rows]
    loss = regret(run.value[rows], objective.direction, best=best)
    members = cheapest_first(cost, loss)
    return Front(run.method, run.seed, cost[members], loss[members])
