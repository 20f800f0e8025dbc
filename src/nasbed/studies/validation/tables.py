"""The numbers of a validation as tables, for a terminal and for a page."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from nasbed.drawing.number_tables import NumberTable
from nasbed.drawing.number_texts import MISSING, digits, fixed, seconds
from nasbed.studies.validation.evaluations.cell_distributions import CellDistributions
from nasbed.studies.validation.evaluations.method_profiles import MethodProfiles
from nasbed.studies.validation.evaluations.seed_noise import SeedNoise
from nasbed.studies.validation.evaluations.split_agreement import SplitAgreement
from nasbed.studies.validation.fits import Fits
from nasbed.studies.validation.leave_out import LeftOuts
from nasbed.studies.validation.paper_rows import with_paper, with_paper_size
from nasbed.studies.validation.parameter_free import ParameterFree
from nasbed.studies.validation.runtime import RuntimeFit
from nasbed.studies.validation.searches.regions import RegionSearches
from nasbed.studies.validation.searches.trajectories import TrajectoryComparison
from nasbed.studies.validation.study import Validation
from nasbed.studies.validation.table_error import ALL, AgainstTable
from nasbed.studies.validation.topology import Topology
from nasbed.studies.validation.topology_effects import TopologyEffects
from nasbed.studies.validation.training_size import TrainingSize


def tables(study: Validation) -> dict[str, NumberTable]:
    """A table for each part that has one."""
    by_part: dict[str, NumberTable | None] = {
        "fits": _fits(study, study.fits) if study.fits else None,
        "runtime": _runtime(study, study.runtime) if study.runtime else None,
        "table": _against(study, study.table_error) if study.table_error else None,
        "size": _size(study, study.size) if study.size else None,
        "looo": _left_out(study, study.looo, "left out") if study.looo else None,
        "random": _left_out(study, study.random, "fitted on") if study.random else None,
        "best": _left_out(study, study.best, "fitted on") if study.best else None,
        "rest": _left_out(study, study.rest, "fitted on") if study.rest else None,
        "free": _free(study.free) if study.free else None,
        "depth": _depth(study.depth) if study.depth else None,
        "topologies": _topologies(study.topologies) if study.topologies else None,
        "methods": _profiles(study.profiles) if study.profiles else None,
        "cells": _cells(study.cells) if study.cells else None,
        "noise": _noise(study.noise) if study.noise else None,
        "test": _agreement(study.test) if study.test else None,
        "regions": _regions(study.regions) if study.regions else None,
        "trajectories": _trajectories(study.trajectories) if study.trajectories else None,
    }
    return {name: table for name, table in by_part.items() if table is not None}


def _fits(study: Validation, fits: Fits) -> NumberTable:
    columns = ["model", "R²", "Kendall", "sKT", "MAE", "MSE", "fit", "one query", "in a batch"]
    calibrated = any(fit.calibration is not None for fit in fits.fits)
    diverged = any(fit.calibration is not None and math.isfinite(fit.calibration.kl) for fit in fits.fits)
    columns += ["90 % interval holds", "by spread"] if calibrated else []
    columns += ["KL", "KL by spread"] if diverged else []
    rows = []
    for fit in fits.fits:
        scores, calibration = fit.scores, fit.calibration
        row = [fit.label, fixed(scores.r2, 3), fixed(scores.kendall, 3), fixed(scores.sparse_kendall, 3)]
        row += [digits(scores.mae), digits(scores.mse), seconds(fit.fit_s), seconds(fit.query_s), seconds(fit.batch_s)]
        if calibrated:
            row += (
                [MISSING, MISSING]
                if calibration is None
                else [f"{calibration.coverage:.1%}", f"{calibration.raw_coverage:.1%}"]
            )
        if diverged:
            row += (
                [MISSING, MISSING]
                if calibration is None
                else [digits(calibration.kl, 3), digits(calibration.raw_kl, 3)]
            )
        rows.append(tuple(row))
    return with_paper(NumberTable(tuple(columns), tuple(rows)), study, "fits")


def _runtime(study: Validation, fit: RuntimeFit) -> NumberTable:
    figures = [fit.seconds_r2, fit.seconds_sparse_kendall, fit.log_r2, fit.log_sparse_kendall]
    row = (fit.model, str(fit.tested), *(fixed(value, 3) for value in figures), f"{fit.relative_error:.1%}")
    columns = ("model", "tested rows", "R², seconds", "sKT, seconds", "R², log", "sKT, log", "relative error")
    return with_paper(NumberTable(columns, (row,)), study, "runtime")


def _against(study: Validation, errors: AgainstTable) -> NumberTable:
    rows = []
    ensembles = any(math.isfinite(rotation.sigma) for rotation in errors.rotations)
    for rotation in errors.rotations:
        by_seed = [digits(score.mae) for score in rotation.by_seed]
        means = [digits(rotation.mean("mae")), digits(rotation.mean("mse")), fixed(rotation.mean("kendall"))]
        if ensembles:
            means += [digits(rotation.sigma), digits(rotation.kl, 3)]
        rows.append((rotation.label, rotation.group, *means, *by_seed))
    heads = [*(("mean \u03c3", "KL by spread") if ensembles else ()), *(f"MAE, seed {seed}" for seed in errors.seeds)]
    order = sorted(rows, key=lambda row: row[1] != ALL)
    table = NumberTable(("", "architectures", "MAE", "MSE", "Kendall", *heads), tuple(order), numbers=2)
    return with_paper(table, study, "table")


def _size(study: Validation, size_curves: TrainingSize) -> NumberTable:
    labels = [curve.label for curve in size_curves.curves]
    heads = [f"{measure}, {label}" for label in labels for measure in ("MAE", "Kendall")]
    rows = []
    for place, size in enumerate(size_curves.sizes):
        means = [(curve.mae[place].mean(), curve.kendall[place].mean()) for curve in size_curves.curves]
        rows.append((str(size), *(text for mae, kendall in means for text in (digits(mae), fixed(kendall)))))
    if math.isfinite(size_curves.table_mae):
        rows.append(("table", *(digits(size_curves.table_mae), fixed(size_curves.table_kendall)) * len(labels)))
        passed = [size_curves.crossings[label] for label in labels]
        rows.append(("passes the table at", *(_count(value) for pair in passed for value in pair)))
    return with_paper_size(NumberTable(("architectures", *heads), tuple(rows)), study, size_curves)


def _count(value: float) -> str:
    return f"{value:.0f}" if math.isfinite(value) else "never"


def _left_out(study: Validation, fits: LeftOuts, first_column: str) -> NumberTable:
    rows = []
    for fit in fits.fits:
        for group, scores in fit.scores.items():
            figures = [fixed(value, 3) for value in (scores.r2, scores.kendall, scores.sparse_kendall)]
            rows.append((fit.label, fit.model, group, str(fit.train), str(scores.count), *figures, digits(scores.mae)))
    columns = (first_column, "model", "tested on", "fitted rows", "tested rows", "R²", "Kendall", "sKT", "MAE")
    table = NumberTable(columns, tuple(rows), numbers=3)
    return with_paper(table, study, "looo") if fits is study.looo else table


def _free(study: ParameterFree) -> NumberTable:
    rows = [(line.kind, line.label, *(digits(value) for value in line.mean.tolist())) for line in study.lines]
    heads = tuple(f"{ratio:.0%}" for ratio in study.ratios)
    return NumberTable(("operation", "", *heads), tuple(rows), numbers=2)


def _depth(topology: Topology) -> NumberTable:
    labels = list(topology.sparse_kendall)
    rows = []
    for place, (depth, count) in enumerate(zip(topology.depths, topology.counts, strict=True)):
        figures = [
            text
            for label in labels
            for text in (
                fixed(topology.sparse_kendall[label][place], 3),
                digits(topology.mae[label][place], 3),
                digits(topology.bias[label][place], 3),
            )
        ]
        rows.append((str(depth), str(count), *figures))
    heads = tuple(f"{name}, {label}" for label in labels for name in ("sKT", "MAE", "bias"))
    return NumberTable(("depth", "evaluations", *heads), tuple(rows), numbers=0)


def _topologies(study: TopologyEffects) -> NumberTable:
    rows = []
    for effect in study.effects:
        parts = (effect.spread.rows, effect.spread.columns, effect.spread.rest)
        total = sum(part**2 for part in parts) or float("nan")
        counts = (str(effect.topologies), str(effect.operation_sets))
        shares = [f"{part**2 / total:.0%}" if math.isfinite(total) else MISSING for part in parts]
        rows.append((effect.label, *counts, *(digits(part, 3) for part in parts), *shares))
    deviations = ("topology, deviation", "operations, deviation", "rest, deviation")
    shares_of = ("topology, share", "operations, share", "rest, share")
    return NumberTable(("", "topologies", "operation sets", *deviations, *shares_of), tuple(rows))


def _profiles(study: MethodProfiles) -> NumberTable:
    rows = []
    for profile in study.profiles:
        curve = profile.distribution
        figures = [digits(curve.quantile(at)) for at in (0.1, 0.5, 0.9)]
        depths = [fixed(study.mean_depth(profile, cell), 2) for cell in study.depths]
        rows.append((profile.method, str(curve.count), *figures, digits(profile.best), *depths))
    heads = ("method", "architectures", "10 %", "median", "90 %", "best")
    return NumberTable((*heads, *(f"mean depth, {cell}" for cell in study.depths)), tuple(rows))


def _cells(study: CellDistributions) -> NumberTable:
    rows = []
    for part in study.distributions:
        for group in part.groups:
            figures = [digits(value) for value in (group.low, group.median, group.high, *group.ends)]
            rows.append((part.cell, part.property, str(group.key), str(group.count), *figures))
    heads = ("cell", "property", "value", "architectures", "25 %", "median", "75 %", "least", "greatest")
    return NumberTable(heads, tuple(rows), numbers=2)


def _noise(study: SeedNoise) -> NumberTable:
    rows = [(name, str(count), digits(std, 3)) for name, (count, std) in study.by_group.items()]
    return NumberTable(("architectures", "number", "mean deviation between seeds"), tuple(rows))


def _agreement(study: SplitAgreement) -> NumberTable:
    rows = [
        (group.group, str(group.count), fixed(group.kendall, 3), fixed(group.spearman, 3)) for group in study.groups
    ]
    return NumberTable(("architectures", "number", "Kendall", "Spearman"), tuple(rows))


def _regions(searches: Sequence[RegionSearches]) -> NumberTable:
    rows = []
    for searched in searches:
        methods = searched.compared.methods
        for side in (searched.compared.real, *searched.compared.surrogates):
            values = searched.incumbents[side.name]
            agreed = searched.compared.agreement.get(side.name)
            order = MISSING if agreed is None else fixed(agreed.order, 2)
            kept = MISSING if agreed is None else f"{agreed.kept} of {agreed.settled}"
            figures = [digits(float(np.mean(values[method]))) for method in methods]
            row = (searched.model, side.name, " < ".join(side.order), *figures)
            rows.append((*row, f"{searched.share_in_region(side.name):.0%}", order, kept))
    heads = tuple(f"incumbent, {method}" for method in searches[0].compared.methods)
    names = ("model", "fitted on", "order, best first", *heads, "in the best region", "order, Kendall")
    return NumberTable((*names, "settled pairs kept"), tuple(rows), numbers=3)


def _trajectories(trajectories: TrajectoryComparison) -> NumberTable:
    rows = []
    for side in (trajectories.real, *trajectories.surrogates):
        agreed = trajectories.agreement.get(side.name)
        finals = [digits(float(np.mean(side.finals[method])), 3) for method in trajectories.methods]
        agree = (MISSING,) * 5
        if agreed is not None:
            figures = (fixed(agreed.order, 2), fixed(agreed.by_time, 2), fixed(agreed.curves, 2))
            overlap = f"{agreed.overlap:.0%}" if math.isfinite(agreed.overlap) else MISSING
            agree = (*figures, overlap, f"{agreed.kept} of {agreed.settled}")
        rows.append((side.name, " < ".join(side.order), *finals, *agree))
    heads = tuple(f"final regret, {method}" for method in trajectories.methods)
    agreement = ("order, Kendall", "over time, Kendall", "curves, Spearman", "bands overlap", "settled pairs kept")
    return NumberTable(("searched on", "order, best first", *heads, *agreement), tuple(rows), numbers=2)
