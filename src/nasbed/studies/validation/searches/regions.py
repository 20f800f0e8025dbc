"""Searches on surrogates that know only the best architectures, or all but these (section 3.1.8, appendix F.2).

The paper fits on architectures of 92 % and above and finds that trajectories stay realistic. Its reverse asks whether a
search on a surrogate that never saw the best still finds good ones. The table need not be complete: the surrogate of
all evaluations is what both are compared with, and what judges their incumbents.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import nasbed
from nasbed.benchmarks.base import Benchmark
from nasbed.benchmarks.catalog import load
from nasbed.core.code_fingerprint import object_fingerprint
from nasbed.core.errors import InvalidOption
from nasbed.evaluation.judging import judge
from nasbed.evaluation.trajectories import incumbent_index
from nasbed.experiments.runs import Runs
from nasbed.results.rows import concatenate
from nasbed.results.store import write_results
from nasbed.spaces.lookup import Lookup
from nasbed.studies.validation.data import ValidationData
from nasbed.studies.validation.fit_tasks import SurrogateRecipe
from nasbed.studies.validation.leave_out import FEWEST, BestRegion
from nasbed.studies.validation.searches.benchmarks import fitted_surrogate, surrogates_folder
from nasbed.studies.validation.searches.trajectories import (
    SearchPlan,
    TrajectoryComparison,
    comparison,
    runs_on,
    side_of,
)
from nasbed.surrogates import SURROGATES
from nasbed.surrogates.base import Floats
from nasbed.surrogates.table_split import TableSplit

WHOLE = "all evaluations"


@dataclass(frozen=True, slots=True)
class RegionSearches:
    """Searches on one model's surrogates of all evaluations, of the best, and of all but the best.

    ``compared`` has each side against the best of its own surrogate. ``incumbents`` has, by side and method, what the
    surrogate of all evaluations predicts for the final incumbent of each seed. ``boundary`` is the mean of the worst
    architecture of the best region.
    """

    model: str
    region: str
    boundary: float
    compared: TrajectoryComparison
    incumbents: dict[str, dict[str, Floats]]

    def share_in_region(self, side: str) -> float:
        """The share of the incumbents of a side, of all methods, that are predicted to lie in the best region."""
        values = np.concatenate(list(self.incumbents[side].values()))
        good = values >= self.boundary if self.compared.metric.direction == "maximize" else values <= self.boundary
        return float(good.mean())


def region_searches(
    split: TableSplit, recipes: Sequence[SurrogateRecipe], plan: SearchPlan, *, out: Path, region: BestRegion
) -> tuple[RegionSearches, ...]:
    """The searches of each model.

    Args:
        split: The table, split for the surrogates, which are fitted with its seed.
        recipes: The models.
        plan: The searches on each surrogate.
        out: The folder of the surrogates, of which none is fitted twice.
        region: The best architectures.
    """
    data = ValidationData.of(split)
    check_region(data, region)
    best = region.rows(data)
    means = data.architectures()[1]
    in_region = means[np.unique(np.unique(data.rows.architecture, return_inverse=True)[1][best])]
    maximize = data.metric.direction == "maximize"
    boundary = float(in_region.min() if maximize else in_region.max())
    searched = []
    for recipe in recipes:
        paths = _surrogates(split, data, recipe, plan, out=out, region=region)
        judge_of_all = load(paths[WHOLE])
        sides, incumbents = [], {}
        for name, path in paths.items():
            benchmarks, folder = dict.fromkeys(plan.methods, path), f"{path.parent.name}-{path.name}"
            (runs,) = (part for _, part in runs_on(name, benchmarks, plan, folder=folder))
            sides.append(side_of(name, judge(runs, load(path)).trajectories, plan.methods))
            incumbents[name] = _incumbents(runs, judge_of_all, plan.methods)
        compared = comparison(sides[0], sides[1:], plan, data.metric)
        searched.append(RegionSearches(recipe.label, region.label, boundary, compared, incumbents))
    return tuple(searched)


def check_region(data: ValidationData, region: BestRegion) -> None:
    """Raise unless there are enough evaluations inside and outside the region to fit on."""
    inside = int(region.rows(data).sum())
    if min(inside, len(data.rows) - inside) < 2 * FEWEST:
        raise InvalidOption(
            f"a surrogate needs at least {2 * FEWEST} evaluations, {region.label} of {data.name} has {inside} and the "
            f"rest {len(data.rows) - inside}"
        )


def _surrogates(
    split: TableSplit, data: ValidationData, recipe: SurrogateRecipe, plan: SearchPlan, *, out: Path, region: BestRegion
) -> dict[str, Path]:
    """The surrogates by the name of their side; they are fitted unless they exist."""
    results = split.results
    sources = (results.fingerprint, nasbed.__version__, object_fingerprint(SURROGATES.get(recipe.model)))
    folder = surrogates_folder(out, recipe, (split.seed, region.share, region.threshold, sources))
    processes = plan.engine.local_processes if plan.engine is not None else 1
    best = region.rows(data)
    paths = {}
    for name, short, rows in (
        (WHOLE, "whole", None),
        (f"{region.label} only", "best", best),
        (f"all but {region.label}", "rest", ~best),
    ):
        path = folder / short
        if not path.exists():
            part = split if rows is None else _split_of(split, data, rows, folder / f"rows-{short}")
            fitted_surrogate(part, recipe, path, processes=processes)
        plan.report(f"fitted {recipe.label}, {name}")
        paths[name] = path
    return paths


def _split_of(split: TableSplit, data: ValidationData, chosen: NDArray[np.bool_], folder: Path) -> TableSplit:
    """The split of a table that has only the architectures of some of the evaluations."""
    results = split.results
    rows = concatenate(list(results.batches()))
    codes = results.space.canonical_codes(rows.codes)
    inside = np.flatnonzero(Lookup(np.unique(data.rows.codes[chosen], axis=0)).find(codes) >= 0)
    return TableSplit.of(
        write_results(folder, results.about, [rows.take(inside)], searched=results.space), seed=split.seed
    )


def _incumbents(runs: Runs, judge_of_all: Benchmark, methods: Sequence[str]) -> dict[str, Floats]:
    """What a surrogate predicts for the final incumbents of runs, by method."""
    codes = []
    for run in runs.runs:
        index = incumbent_index(run.value, judge_of_all.objective.direction, fidelity=run.fidelity)
        codes.append(run.codes[index[-1]])
    values = judge_of_all.mean_objective(np.stack(codes))
    owner = np.array([run.method for run in runs.runs])
    return {method: values[owner == method] for method in methods}
