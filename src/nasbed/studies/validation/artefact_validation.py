"""The checks of a surrogate that is there already."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from nasbed.core.errors import InvalidOption
from nasbed.core.execution import Engine
from nasbed.results.manifest import FILE_NAME
from nasbed.results.splits import stratified_split
from nasbed.results.store import Results
from nasbed.studies.validation.data import Data, read_data
from nasbed.studies.validation.embedding import tsne
from nasbed.studies.validation.fits import Fit, Fits, one_fit
from nasbed.studies.validation.fitting import query_times
from nasbed.studies.validation.parameter_free import parameter_free
from nasbed.studies.validation.searches import whole_table
from nasbed.studies.validation.study import (
    Options,
    Told,
    Validation,
    about_data,
    check_parts,
    depth_of,
    design_of,
)
from nasbed.studies.validation.trajectories import trajectories
from nasbed.surrogates.artefact import Artefact

REFITTED = ("table", "size", "looo", "random", "best")
"""The parts that fit models of their own, and so say nothing of a surrogate that is there."""


def validate_artefact(
    artefact: Artefact,
    path: Path,
    results: Results,
    *,
    out: Path,
    parts: Sequence[str] = (),
    options: Options | None = None,
    engine: Engine | None = None,
    told: Told | None = None,
) -> Validation:
    """Validate a surrogate on a table: on the test part where it is the table that it was fitted on, on all evaluations
    where it is another."""
    wanted, chosen, about = check_parts(parts), options or Options(), artefact.manifest
    if results.about.space != about.space:
        raise InvalidOption(f"{about.name} is of the space {about.space}, the table {results.about.name} is not")
    metric = results.about.by_key.get(about.metric.key)
    if metric is None:
        raise InvalidOption(f"{about.name} predicts {about.metric.key}, which {results.about.name} does not have")
    data = read_data(results, metric=metric, fidelity=about.fidelity)
    unseen, note = _unseen(artefact, data, results)
    test = data.rows.take(unseen)
    found = replace(about_data(data, about.name, {about.name: about.members.model}), notes=(note,))
    left_out = cannot_be_checked(wanted, results)
    wanted = tuple(part for part in wanted if part not in left_out)
    predicted = artefact.ensemble.predict(test.codes)
    if "fits" in wanted:
        rng = np.random.default_rng(chosen.seed)
        fit = one_fit(data, about.name, test, predicted.mean, predicted, rng)
        query_s, batch_s = query_times(lambda codes: artefact.ensemble.predict(codes).mean, test.codes)
        timed = Fit(fit.label, fit.scores, fit.points, float("nan"), query_s, batch_s, fit.calibration)
        fitted = int(about.provenance.get("rows", 0))
        found = replace(found, fits=Fits(fitted, 0, len(test), (timed,)))
    if "depth" in wanted:
        found = replace(found, depth=depth_of(data, test.codes, test.y, {about.name: predicted.mean}, left_out))
    if "free" in wanted:
        fitted_codes = np.delete(data.rows.codes, unseen, axis=0)
        design = design_of(data, test.codes, fitted_codes, chosen.seed, left_out)
        if design is not None:
            lines = parameter_free(data, design, {about.name: artefact.ensemble.predict(design.codes).mean})
            found = replace(found, free=lines)
    try:
        if "tsne" in wanted:
            part = "tsne"
            found = replace(found, tsne=tsne(data, points=chosen.points, seed=chosen.seed))
        if "trajectories" in wanted:
            part = "trajectories"
            searched = trajectories(
                results.folder,
                {about.name: dict.fromkeys(chosen.methods, path)},
                methods=chosen.methods,
                seeds=chosen.seeds,
                budget=chosen.budget,
                out=out / "searches",
                engine=engine,
                ran=None if told is None else lambda _: told("trajectories"),
            )
            found = replace(found, trajectories=searched)
    except InvalidOption as reason:
        left_out[part] = str(reason)
    return replace(found, left_out=left_out)


def cannot_be_checked(parts: Sequence[str], results: Results) -> dict[str, str]:
    """The parts that cannot be checked on a surrogate and this table, and why; known before any work."""
    found = dict.fromkeys(REFITTED, "it fits models anew; name the table instead of the surrogate")
    try:
        whole_table(results)
    except InvalidOption as reason:
        found["trajectories"] = str(reason)
    return {part: reason for part, reason in found.items() if part in parts}


def _unseen(artefact: Artefact, data: Data, results: Results) -> tuple[NDArray[np.int64], str]:
    """The rows that a surrogate was not fitted on, and how that is known."""
    history = artefact.manifest.provenance
    digest = hashlib.sha256((results.folder / FILE_NAME).read_bytes()).hexdigest()
    if history.get("table_manifest_sha256") != digest:
        return np.arange(len(data.rows)), (
            f"all evaluations of {data.name} are tested: it is not the table that the surrogate was fitted on"
        )
    rows = np.arange(len(data.rows))
    chosen = history.get("methods_chosen")
    if chosen is not None:
        rows = np.flatnonzero(np.isin(data.rows.method, list(chosen)))
    part = data.rows.take(rows)
    rng = np.random.default_rng(int(history.get("split_seed", 0)))
    split = stratified_split(part.method, part.architecture, rng)
    return rows[split.test], "tested on the part of the table that the surrogate was not fitted on"
