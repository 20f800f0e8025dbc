"""Searches that were run for real, beside the same methods on surrogates of what they evaluated (section 3.1.7)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

import nasbed
from nasbed.core.code_fingerprint import object_fingerprint
from nasbed.core.errors import InvalidOption
from nasbed.core.metric import Metric
from nasbed.evaluation.judging import Trajectory
from nasbed.evaluation.trajectories import incumbent_index, regret
from nasbed.experiments.recorded_runs import recorded_runs
from nasbed.experiments.runs import Run
from nasbed.results.rows import concatenate
from nasbed.results.store import Results, write_results
from nasbed.studies.validation.fit_tasks import SurrogateRecipe
from nasbed.studies.validation.searches.benchmarks import fitted_surrogate, surrogates_folder
from nasbed.studies.validation.searches.trajectories import (
    SearchPlan,
    TrajectoryComparison,
    comparison,
    folder_of,
    runs_on,
    side_of,
)
from nasbed.surrogates import SURROGATES
from nasbed.surrogates.table_split import TableSplit

REAL = "real trainings"
RANDOM = "rs"


def recorded_searches(
    split: TableSplit, recipes: Sequence[SurrogateRecipe], plan: SearchPlan, *, out: Path
) -> TrajectoryComparison:
    """The recorded searches of a table beside the same methods on surrogates of each model: of all evaluations, of all
    without those of the method, and of random search's alone. ``out`` is the folder of the surrogates, of which none is
    fitted twice."""
    surrogates: dict[str, dict[str, Path]] = {}
    for recipe in recipes:
        surrogates |= _surrogates_of(split, recipe, plan, out)
    return beside_recorded(split.results, split.metric, surrogates, plan)


def beside_recorded(
    results: Results, metric: Metric, surrogates: Mapping[str, Mapping[str, Path]], plan: SearchPlan
) -> TrajectoryComparison:
    """The recorded searches of a table beside the same methods on surrogates, with paths by name and by method.

    Searches on surrogates have the evaluations, workers and settings of the recorded ones, and the seeds of the plan.
    All are judged by the values that the searches saw, as regrets from the best that any of them saw.
    """
    searches, runs = results.searches(), recorded_runs(results)
    check_recorded(results, runs)
    assert searches is not None
    plan = replace(
        plan,
        methods=recorded_methods(results),
        budget=f"{max(len(run) for run in runs)}ev",
        workers=searches.workers,
        settings=searches.settings,
    )
    runs_by_side = {REAL: runs}
    for name, paths in surrogates.items():
        parts = runs_on(name, paths, plan, folder=folder_of(paths))
        runs_by_side[name] = [run for _, part in parts for run in part.runs]
    best = metric.best_of([run.value for side_runs in runs_by_side.values() for run in side_runs])
    real, *sides = (
        side_of(name, observed_trajectories(side_runs, metric, best), plan.methods)
        for name, side_runs in runs_by_side.items()
    )
    return replace(comparison(real, sides, plan, metric), for_real=True)


def recorded_methods(results: Results) -> tuple[str, ...]:
    """The methods whose searches a table has on record."""
    searches = results.searches()
    return () if searches is None else tuple(dict.fromkeys(method for method, _ in searches.names))


def _surrogates_of(
    split: TableSplit, recipe: SurrogateRecipe, plan: SearchPlan, out: Path
) -> dict[str, dict[str, Path]]:
    """The surrogates of a model by name and method; they are fitted unless they exist."""
    results, methods = split.results, recorded_methods(split.results)
    sources = (results.fingerprint, nasbed.__version__, object_fingerprint(SURROGATES.get(recipe.model)))
    folder = surrogates_folder(out, recipe, (split.seed, sources))
    processes = plan.engine.local_processes if plan.engine is not None else 1

    def fitted(name: str, part: Callable[[], TableSplit]) -> Path:
        path = folder / name
        if not path.exists():
            fitted_surrogate(part(), recipe, path, processes=processes)
        plan.report(f"fitted {recipe.label}, {name}")
        return path

    surrogates = {recipe.label: dict.fromkeys(methods, fitted("whole", lambda: split))}
    if len(methods) > 1:
        surrogates[f"{recipe.label}, without its data"] = {
            method: fitted(f"without-{method}", partial(_without, results, method, folder, split.seed))
            for method in methods
        }
    if RANDOM in methods:
        random = fitted("rand", partial(TableSplit.of, results, methods=[RANDOM], seed=split.seed))
        surrogates[f"{recipe.label}, of random search alone"] = dict.fromkeys(methods, random)
    return surrogates


def check_recorded(results: Results, runs: Sequence[Run] | None = None) -> None:
    """Raise unless the table has recorded searches with times."""
    runs = recorded_runs(results) if runs is None else runs
    if not runs:
        raise InvalidOption(f"{results.about.name} has no recorded searches; a campaign with [searches] makes some")
    if any(np.isnan(run.end_s).any() for run in runs):
        raise InvalidOption(f"the searches of {results.about.name} were not timed; a trainer gives train_time_s")


def observed_trajectories(runs: Sequence[Run], metric: Metric, best: float) -> list[Trajectory]:
    """The incumbents of runs by the values that the searches saw, as regrets from the best."""
    trajectories = []
    for run in runs:
        index = incumbent_index(run.value, metric.direction, fidelity=run.fidelity)
        evaluations = index[index >= 0]
        seen = regret(run.value[evaluations], metric.direction, best=best)
        unknown = np.full(len(evaluations), np.nan)
        trajectories.append(Trajectory(run.method, run.seed, run.end_s[index >= 0], evaluations, seen, unknown))
    return trajectories


def _without(results: Results, method: str, folder: Path, seed: int) -> TableSplit:
    """The split of a table without a method's evaluations, and without all others of the same architectures."""
    rows = concatenate(list(results.batches()))
    codes = results.space.canonical_codes(results.space.architectures(rows.codes))
    _, owner = np.unique(codes, axis=0, return_inverse=True)
    others = np.flatnonzero(~np.isin(owner, owner[rows.method == method]))
    if not len(others):
        raise InvalidOption(f"a surrogate without {method} needs evaluations of other methods, got none")
    return TableSplit.of(
        write_results(folder / f"rows-without-{method}", results.about, [rows.take(others)], searched=results.space),
        seed=seed,
    )
