"""The benchmarks on which searches are compared: a table, surrogates of it, and surrogates of other methods'
evaluations on it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import nasbed
from nasbed.benchmarks.tabular import TabularBenchmark
from nasbed.core.code_fingerprint import object_fingerprint
from nasbed.core.errors import InvalidOption
from nasbed.core.files import values_sha256
from nasbed.experiments.provenance import method_origin, source_fingerprint
from nasbed.experiments.runs import Run, load_runs
from nasbed.results.rows import Rows
from nasbed.results.store import Results, write_results
from nasbed.studies.validation.fit_tasks import SurrogateRecipe
from nasbed.studies.validation.searches.trajectories import (
    METHODS,
    RunProgress,
    SearchPlan,
    TrajectoryComparison,
    trajectories,
)
from nasbed.surrogates import SURROGATES
from nasbed.surrogates.making import make_surrogate
from nasbed.surrogates.table_split import TableSplit


def searches(
    split: TableSplit, recipes: Sequence[SurrogateRecipe], plan: SearchPlan, *, out: Path
) -> TrajectoryComparison:
    """Searches on a table, on a surrogate of each model, and for each method on one that was fitted without its data.

    ``split`` is the table, split for the surrogates, which are fitted with its seed. ``out`` is the folder of the
    surrogates, of which none is fitted twice; it also gets the table ``evaluated`` of what the methods evaluated.
    """
    results, seed, methods = split.results, split.seed, plan.methods
    check_complete(results)
    processes = plan.engine.local_processes if plan.engine is not None else 1
    plan.on_table(results.folder)
    runs = plan.out / "table"
    on_table = load_runs(runs)
    by_method = [evaluated(on_table.of(method), results) for method in methods]
    write_results(out / "evaluated", replace(results.about, name=f"{results.about.name}/evaluated"), by_method)
    surrogates: dict[str, dict[str, Path]] = {}
    for recipe in recipes:
        model = object_fingerprint(SURROGATES.get(recipe.model))
        sources = [source_fingerprint(method_origin(method)) for method in methods]
        sources_of_fit = (results.fingerprint, nasbed.__version__, model, sources)
        folder = surrogates_folder(out, recipe, (seed, list(methods), plan.seeds, plan.budget, sources_of_fit))
        path = fitted_surrogate(split, recipe, folder / "whole", processes=processes)
        plan.report(f"fitted {recipe.label}")
        surrogates[recipe.label] = dict.fromkeys(methods, path)
        if len(methods) > 1:
            surrogates[f"{recipe.label}, without its data"] = without_each(
                results, recipe, runs, folder, methods=methods, seed=seed, processes=processes, on_run=plan.on_run
            )
    return trajectories(results.folder, surrogates, plan)


def surrogates_folder(out: Path, recipe: SurrogateRecipe, values: tuple[Any, ...]) -> Path:
    """The folder of a model's surrogates, by its settings and other values that determine what they are fitted on."""
    digest = values_sha256((dict(recipe.settings), *values))[:8]
    return out / "surrogates" / f"{recipe.label.replace(' ', '')}-{digest}"


def check_complete(results: Results) -> None:
    """Raise unless the table holds every architecture of its space, so that methods can search on it."""
    size, count = results.space.size, results.manifest.architectures
    if count < size:
        raise InvalidOption(
            f"a method cannot search in {results.about.name} itself: it holds {count} of {size:.4g} architectures"
        )


def fitted_surrogate(split: TableSplit, recipe: SurrogateRecipe, path: Path, *, processes: int = 1) -> Path:
    """The path of the surrogate of a table, which is fitted unless it exists."""
    if not path.exists():
        surrogate = make_surrogate(
            split, recipe.model, members=recipe.members, settings=recipe.settings or None, processes=processes
        )
        surrogate.save(path)
    return path


def without_each(
    results: Results,
    recipe: SurrogateRecipe,
    runs: Path,
    out: Path,
    *,
    methods: Sequence[str] = METHODS,
    seed: int = 0,
    processes: int = 1,
    on_run: RunProgress | None = None,
) -> dict[str, Path]:
    """For each method, a surrogate of what the other methods evaluated when they ran on the table.

    Args:
        results: The table.
        recipe: The model.
        runs: The folder of the runs on the table.
        out: The folder for the surrogates, and for the tables that they are fitted on.
        methods: The search methods.
        seed: The seed of the splits of those tables, and of the fits.
        processes: The number of members that are fitted at a time.
        on_run: Called with a text after each fit.
    """
    visited = load_runs(runs).runs
    paths = {}
    for method in methods:
        path = out / f"without-{method}"
        if not path.exists():
            other_runs = [run for run in visited if run.method != method and run.method in methods]
            if not other_runs:
                raise InvalidOption(f"a surrogate without {method} needs other methods, got {', '.join(methods)}")
            rows = write_results(out / f"rows-without-{method}", results.about, [evaluated(other_runs, results)])
            fitted_surrogate(TableSplit.of(rows, seed=seed), recipe, path, processes=processes)
        paths[method] = path
        if on_run is not None:
            on_run(f"fitted {recipe.label} without {method}")
    return paths


def evaluated(runs: Sequence[Run], results: Results) -> Rows:
    """The evaluations of runs on a table as rows, which have only the objective.

    An evaluation that several runs share is one row, by the first of them.
    """
    codes = np.concatenate([run.codes for run in runs])
    value = np.concatenate([run.value for run in runs])
    fidelity = np.concatenate([run.fidelity for run in runs])
    seconds = np.concatenate([run.end_s - run.start_s for run in runs])
    method = np.concatenate([np.full(len(run), run.method) for run in runs])
    finite = np.flatnonzero(np.isfinite(value))
    keys = np.column_stack([codes[finite], fidelity[finite], value[finite].view(np.int64)])
    rows = finite[np.sort(np.unique(keys, axis=0, return_index=True)[1])]
    values = {metric.key: np.full(len(rows), np.nan) for metric in results.about.metrics}
    values[TabularBenchmark(results).objective.key] = value[rows]
    return Rows.of(codes[rows], values, fidelity=fidelity[rows], train_time_s=seconds[rows], method=method[rows])
