"""The checks of an existing surrogate."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

from nasbed.core.errors import InvalidOption
from nasbed.core.execution import Engine
from nasbed.results.splits import RowSplit
from nasbed.results.store import Results
from nasbed.studies.validation.data import ValidationData
from nasbed.studies.validation.fit_tasks import query_times
from nasbed.studies.validation.fits import Fits, ModelFit, fit_figures
from nasbed.studies.validation.parameter_free import parameter_free
from nasbed.studies.validation.parts import ValidationOptions, check_parts, check_searches
from nasbed.studies.validation.runtime import runtime_of_artefact
from nasbed.studies.validation.searches.recorded import beside_recorded, recorded_methods
from nasbed.studies.validation.searches.trajectories import trajectories
from nasbed.studies.validation.study import (
    PartProgress,
    Validation,
    about_data,
    data_checks,
    depth_of,
    design_of,
    step_of,
    with_data_checks,
)
from nasbed.studies.validation.topology_effects import topology_design, topology_effects
from nasbed.surrogates.artefact import Artefact
from nasbed.surrogates.examples import Examples, examples
from nasbed.surrogates.table_split import TableSplit

REFITTED = ("table", "size", "looo", "random", "best", "rest", "regions")
"""The parts that fit their own models, and so do not apply to an existing surrogate."""


def validate_artefact(
    artefact: Artefact,
    path: str | Path,
    results: Results,
    *,
    out: str | Path,
    parts: Sequence[str] = (),
    options: ValidationOptions | None = None,
    engine: Engine | None = None,
    on_step: PartProgress | None = None,
) -> Validation:
    """Validate a surrogate on a table.

    A surrogate that was fitted on this table is tested on the test part that it records; another, on all evaluations.

    Args:
        artefact: The surrogate.
        path: Its folder or file, for the searches.
        results: The table.
        out: The folder that keeps the runs of the searches.
        parts: Those of :data:`~nasbed.studies.validation.study.PARTS` to check; all that apply by default.
        options: The seed, sizes and budgets of the parts.
        engine: Where searches run.
        on_step: Called with the name of a part after each step of it.
    """
    path, out = Path(path), Path(out)
    selection, options, manifest = check_parts(parts), options or ValidationOptions(), artefact.manifest
    data, note = _tested_data(artefact, results)
    test = data.rows.take(data.split.test)
    labels = _labels(artefact, test)
    models = dict.fromkeys([manifest.name, *labels], manifest.members.model)
    validation = replace(about_data(data, manifest.name, models), notes=(note,))
    left_out = cannot_be_checked(selection, results)
    selection = tuple(part for part in selection if part not in left_out)
    predicted = artefact.ensemble.predict(test.codes)
    if "fits" in selection:
        rng = np.random.default_rng(options.seed)
        fit = fit_figures(data, manifest.name, test, predicted.mean, predicted, rng)
        query_s, batch_s = query_times(lambda codes: artefact.ensemble.predict(codes).mean, test.codes)
        fitted_rows = int(manifest.provenance.get("rows", 0))
        timed = replace(fit, query_s=query_s, batch_s=batch_s)
        lower = [_fit_at(artefact, data, fidelity, label, rng) for label, fidelity in labels.items()]
        validation = replace(validation, fits=Fits(fitted_rows, 0, len(test), (timed, *lower)))
    if "runtime" in selection:
        try:
            validation = replace(validation, runtime=runtime_of_artefact(artefact, data))
        except InvalidOption as reason:
            left_out["runtime"] = str(reason)
    if "depth" in selection:
        depth = depth_of(data, test.codes, test.y, {manifest.name: predicted.mean}, left_out)
        validation = replace(validation, depth=depth)
    if "free" in selection:
        fitted_codes = np.delete(data.rows.codes, data.split.test, axis=0)
        design = design_of(data, test.codes, fitted_codes, options.seed, left_out)
        if design is not None:
            lines = parameter_free(data, design, {manifest.name: artefact.ensemble.predict(design.codes).mean})
            validation = replace(validation, free=lines)
    if "topologies" in selection:
        topologies = topology_design(data.space, options.seed)
        mean = artefact.ensemble.predict(data.space.canonical_codes(topologies)).mean
        effects = topology_effects(data, results, topologies, {manifest.name: mean})
        validation = replace(validation, topologies=effects)
    validation = with_data_checks(validation, data_checks(data, results, options), selection, left_out)
    try:
        if "trajectories" in selection:
            plan = options.search_plan(out, engine, step_of("trajectories", on_step))
            if methods := recorded_methods(results):
                surrogates = {manifest.name: dict.fromkeys(methods, path)}
                searched = beside_recorded(results, data.metric, surrogates, plan)
            else:
                surrogates = {manifest.name: dict.fromkeys(options.methods, path)}
                searched = trajectories(results.folder, surrogates, plan)
            validation = replace(validation, trajectories=searched)
    except InvalidOption as reason:
        left_out["trajectories"] = str(reason)
    return replace(validation, left_out=left_out)


def _labels(artefact: Artefact, test: Examples) -> dict[str, int]:
    """The lower fidelities of a surrogate of several, by the names that their figures have; the highest first."""
    if test.levels is None:
        return {}
    return {f"{artefact.name} at {fidelity}": fidelity for fidelity in reversed(artefact.manifest.fidelities[:-1])}


def _fit_at(artefact: Artefact, data: ValidationData, fidelity: int, label: str, rng: np.random.Generator) -> ModelFit:
    """The figures of a surrogate at one of its fidelities.

    Args:
        artefact: The surrogate.
        data: The trainings of its table.
        fidelity: The fidelity.
        label: The name of the figures.
        rng: Draws the points of the figure.
    """
    test = data.rows.take(data.split.test).at(fidelity)
    predicted = artefact.at(fidelity).predict(test.codes)
    return fit_figures(data, label, test, predicted.mean, predicted, rng)


def cannot_be_checked(parts: Sequence[str], results: Results) -> dict[str, str]:
    """The parts that cannot be checked on a surrogate and this table, with reasons; nothing is computed for it."""
    reasons = dict.fromkeys(REFITTED, "it fits new models; name the table instead of the surrogate")
    checks: dict[str, Callable[[], object]] = {
        "trajectories": partial(check_searches, results),
        "topologies": partial(topology_design, results.space, 0),
    }
    for part, check in checks.items():
        try:
            check()
        except InvalidOption as reason:
            reasons[part] = str(reason)
    return {part: reason for part, reason in reasons.items() if part in parts}


def _tested_data(artefact: Artefact, results: Results) -> tuple[ValidationData, str]:
    """The evaluations of a table, with those that the surrogate was not fitted on as test part, and a note on it."""
    manifest, name = artefact.manifest, results.about.name
    if results.about.space != manifest.space:
        raise InvalidOption(f"{manifest.name} is of the space {manifest.space}, the table {name} is not")
    metric = results.about.by_key.get(manifest.metric.key)
    if metric is None:
        raise InvalidOption(f"{manifest.name} predicts {manifest.metric.key}, which {name} does not have")
    split = TableSplit.recorded(
        results,
        manifest.provenance,
        metric=metric,
        fidelity=manifest.fidelity,
        all_fidelities=manifest.levels is not None,
    )
    if split is not None:
        return ValidationData.of(split), "tested on the part of the table that the surrogate was not fitted on"
    rows = examples(results, metric=metric, fidelity=manifest.fidelity).canonical(results.space)
    none = np.empty(0, dtype=np.int64)
    return ValidationData(name, results.space, metric, rows, RowSplit(none, none, np.arange(len(rows)))), (
        f"all evaluations of {name} are tested: it is not the table that the surrogate was fitted on"
    )
