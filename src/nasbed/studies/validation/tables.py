"""The numbers of a validation as tables, for a terminal and for a page."""

from __future__ import annotations

import math

import numpy as np

from nasbed.drawing.number_tables import NumberTable
from nasbed.drawing.number_texts import MISSING, digits, fixed, seconds
from nasbed.studies.validation.fits import Fits
from nasbed.studies.validation.leave_out import LeftOuts
from nasbed.studies.validation.paper_rows import with_paper
from nasbed.studies.validation.parameter_free import ParameterFree
from nasbed.studies.validation.study import Validation
from nasbed.studies.validation.table_error import ALL, AgainstTable
from nasbed.studies.validation.topology import Topology
from nasbed.studies.validation.training_size import TrainingSize
from nasbed.studies.validation.trajectories import TrajectoryComparison


def tables(study: Validation) -> dict[str, NumberTable]:
    """A table for each part that has one."""
    by_part: dict[str, NumberTable | None] = {
        "fits": _fits(study, study.fits) if study.fits else None,
        "table": _against(study, study.table_error) if study.table_error else None,
        "size": _size(study.size) if study.size else None,
        "looo": _left_out(study, study.looo, "left out") if study.looo else None,
        "random": _left_out(study, study.random, "fitted on") if study.random else None,
        "best": _left_out(study, study.best, "fitted on") if study.best else None,
        "free": _free(study.free) if study.free else None,
        "depth": _depth(study.depth) if study.depth else None,
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


def _size(study: TrainingSize) -> NumberTable:
    labels = [curve.label for curve in study.curves]
    heads = [f"{measure}, {label}" for label in labels for measure in ("MAE", "Kendall")]
    rows = []
    for place, size in enumerate(study.sizes):
        means = [(curve.mae[place].mean(), curve.kendall[place].mean()) for curve in study.curves]
        rows.append((str(size), *(text for mae, kendall in means for text in (digits(mae), fixed(kendall)))))
    if math.isfinite(study.table_mae):
        rows.append(("table", *(digits(study.table_mae), fixed(study.table_kendall)) * len(labels)))
        passed = [study.crossings[label] for label in labels]
        rows.append(("passes the table at", *(_count(value) for pair in passed for value in pair)))
    return NumberTable(("architectures", *heads), tuple(rows))


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
    rows = [
        (str(depth), str(count), *(fixed(values[place], 3) for values in topology.sparse_kendall.values()))
        for place, (depth, count) in enumerate(zip(topology.depths, topology.counts, strict=True))
    ]
    heads = tuple(f"sKT, {label}" for label in topology.sparse_kendall)
    return NumberTable(("depth", "evaluations", *heads), tuple(rows), numbers=0)


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
