"""The numbers of a validation as tables, for a terminal and for a page."""

from __future__ import annotations

import math

import numpy as np

from nasbed.drawing.number_tables import NumberTable
from nasbed.drawing.number_texts import MISSING, digits, fixed, seconds
from nasbed.studies.validation.fits import Fits
from nasbed.studies.validation.left_out import LeftOuts
from nasbed.studies.validation.paper_rows import with_paper
from nasbed.studies.validation.parameter_free import ParameterFree
from nasbed.studies.validation.study import Validation
from nasbed.studies.validation.table_error import ALL, AgainstTable
from nasbed.studies.validation.topology import Topology
from nasbed.studies.validation.training_size import TrainingSize
from nasbed.studies.validation.trajectories import Trajectories


def tables(study: Validation) -> dict[str, NumberTable]:
    """A table for each part that has one."""
    found: dict[str, NumberTable | None] = {
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
    return {name: table for name, table in found.items() if table is not None}


def _fits(study: Validation, found: Fits) -> NumberTable:
    columns = ["model", "R²", "Kendall", "sKT", "MAE", "MSE", "fit", "one query", "in a batch"]
    calibrated = any(fit.calibration is not None for fit in found.fits)
    diverged = any(fit.calibration is not None and math.isfinite(fit.calibration.kl) for fit in found.fits)
    columns += ["90 % interval holds", "by spread"] if calibrated else []
    columns += ["KL", "KL by spread"] if diverged else []
    rows = []
    for fit in found.fits:
        own, told = fit.scores, fit.calibration
        row = [fit.label, fixed(own.r2, 3), fixed(own.kendall, 3), fixed(own.sparse_kendall, 3)]
        row += [digits(own.mae), digits(own.mse), seconds(fit.fit_s), seconds(fit.query_s), seconds(fit.batch_s)]
        if calibrated:
            row += [MISSING, MISSING] if told is None else [f"{told.coverage:.1%}", f"{told.raw_coverage:.1%}"]
        if diverged:
            row += [MISSING, MISSING] if told is None else [digits(told.kl, 3), digits(told.raw_kl, 3)]
        rows.append(tuple(row))
    return with_paper(NumberTable(tuple(columns), tuple(rows)), study, "fits")


def _against(study: Validation, found: AgainstTable) -> NumberTable:
    rows = []
    for each in found.rotations:
        by_seed = [digits(score.mae) for score in each.by_seed]
        means = [digits(each.mean("mae")), digits(each.mean("mse")), fixed(each.mean("kendall"))]
        rows.append((each.label, each.group, *means, *by_seed))
    heads = tuple(f"MAE, seed {seed}" for seed in found.seeds)
    order = sorted(rows, key=lambda row: row[1] != ALL)
    told = NumberTable(("", "architectures", "MAE", "MSE", "Kendall", *heads), tuple(order), numbers=2)
    return with_paper(told, study, "table")


def _size(found: TrainingSize) -> NumberTable:
    labels = [curve.label for curve in found.curves]
    heads = [f"{what}, {label}" for label in labels for what in ("MAE", "Kendall")]
    rows = []
    for place, size in enumerate(found.sizes):
        means = [(curve.mae[place].mean(), curve.kendall[place].mean()) for curve in found.curves]
        rows.append((str(size), *(text for one, other in means for text in (digits(one), fixed(other)))))
    if math.isfinite(found.table_mae):
        rows.append(("table", *(digits(found.table_mae), fixed(found.table_kendall)) * len(labels)))
        passed = [found.crossings[label] for label in labels]
        rows.append(("passes the table at", *(_count(value) for pair in passed for value in pair)))
    return NumberTable(("architectures", *heads), tuple(rows))


def _count(value: float) -> str:
    return f"{value:.0f}" if math.isfinite(value) else "never"


def _left_out(study: Validation, found: LeftOuts, what: str) -> NumberTable:
    rows = []
    for fit in found.fits:
        for group, own in fit.scores.items():
            figures = [fixed(value, 3) for value in (own.r2, own.kendall, own.sparse_kendall)]
            rows.append((fit.label, fit.model, group, str(fit.train), str(own.count), *figures, digits(own.mae)))
    columns = (what, "model", "tested on", "fitted rows", "tested rows", "R²", "Kendall", "sKT", "MAE")
    told = NumberTable(columns, tuple(rows), numbers=3)
    return with_paper(told, study, "looo") if found is study.looo else told


def _free(found: ParameterFree) -> NumberTable:
    rows = [(line.kind, line.label, *(digits(value) for value in line.mean.tolist())) for line in found.lines]
    heads = tuple(f"{ratio:.0%}" for ratio in found.ratios)
    return NumberTable(("operation", "", *heads), tuple(rows), numbers=2)


def _depth(found: Topology) -> NumberTable:
    rows = [
        (str(depth), str(count), *(fixed(values[place], 3) for values in found.sparse_kendall.values()))
        for place, (depth, count) in enumerate(zip(found.depths, found.counts, strict=True))
    ]
    heads = tuple(f"sKT, {label}" for label in found.sparse_kendall)
    return NumberTable(("depth", "evaluations", *heads), tuple(rows), numbers=0)


def _trajectories(found: Trajectories) -> NumberTable:
    rows = []
    for side in (found.real, *found.surrogates):
        told = found.agreement.get(side.name)
        finals = [digits(float(np.mean(side.finals[method])), 3) for method in found.methods]
        agree = (MISSING,) * 5
        if told is not None:
            figures = (fixed(told.order, 2), fixed(told.by_time, 2), fixed(told.curves, 2))
            overlap = f"{told.overlap:.0%}" if math.isfinite(told.overlap) else MISSING
            agree = (*figures, overlap, f"{told.kept} of {told.settled}")
        rows.append((side.name, " < ".join(side.order), *finals, *agree))
    heads = tuple(f"final regret, {method}" for method in found.methods)
    agreement = ("order, Kendall", "over time, Kendall", "curves, Spearman", "bands overlap", "settled pairs kept")
    return NumberTable(("searched on", "order, best first", *heads, *agreement), tuple(rows), numbers=2)
