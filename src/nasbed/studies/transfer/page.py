"""The page of the study of transfer: matrices to look at, and what they say in a sentence."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from nasbed.core.json_values import plain
from nasbed.core.metric import Metric
from nasbed.drawing.blocks import figure
from nasbed.drawing.figures import write_report
from nasbed.drawing.marks import Chart
from nasbed.drawing.matrices import matrix_figure
from nasbed.drawing.number_tables import NumberTable
from nasbed.drawing.page import Section
from nasbed.studies.transfer.study import TransferStudy

MEANS = (
    "Spearman's correlation of mean results on two datasets. 1: the same order; 0: knowing one says nothing about the "
    "other; below 0: what is better on one tends to be worse on the other."
)
CORRECTED = (
    "The same for results without noise, estimated: the correlation of single trainings, divided by the root of the "
    "product of how far two seeds agree on each dataset (Spearman's correction). Empty where no architecture has "
    "several seeds."
)
OPERATIONS = (
    "How far the mean result of architectures with an operation on an edge lies above the mean of all, in standard "
    "deviations, averaged over edges."
)


def transfer_table(study: TransferStudy) -> NumberTable:
    """The matrix of correlations, with the number of parameters as a last row."""
    rows = [
        (name, *(_signed(value) for value in values))
        for name, values in zip(study.datasets, study.ranks.spearman, strict=True)
    ]
    if len(study.parameters):
        rows.append(("parameters", *(_signed(value) for value in study.parameters)))
    return NumberTable(("Spearman", *study.datasets), tuple(rows))


def transfer_summary(study: TransferStudy) -> str:
    """The pairs of datasets that agree most and least, and what the worst choice costs."""
    pairs = list(combinations(range(len(study.columns)), 2))
    ranks, names = study.ranks, study.datasets
    most, least = (choose(pairs, key=lambda pair: ranks.spearman[pair]) for choose in (max, min))
    regrets = study.regrets.regret
    i, j = np.unravel_index(np.argmax(regrets), regrets.shape)
    metric = study.columns[j].metric
    least_alike = (
        f", those of {names[least[0]]} and {names[least[1]]} least ({_signed(ranks.spearman[least])})"
        if len(pairs) > 1
        else ""
    )
    return (
        f"Over {study.architectures} {_what(study)} the rankings of {names[most[0]]} and {names[most[1]]} agree"
        f"{' most' if least_alike else ''} (Spearman {_signed(ranks.spearman[most])}){least_alike}. "
        f"On {names[j]} the best of {names[i]} is {regrets[i, j]:.2f}"
        f"{_unit(metric)} below the best one, and {study.regrets.better_percent[i, j]:.0f} % of all are better."
    )


def transfer_numbers(study: TransferStudy) -> dict[str, Any]:
    """Everything, for ``numbers.json``."""
    numbers: dict[str, Any] = plain(
        {
            "space": study.space,
            "architectures": study.architectures,
            "one_of_each_function": study.by_function,
            "top_percent": study.top_percent,
            "datasets": [
                {
                    "table": column.table,
                    "dataset": column.dataset,
                    "metric": column.metric.key,
                    "mean": column.means.mean(),
                    "deviation": column.means.std(),
                    "best": column.means.max() if column.metric.direction == "maximize" else column.means.min(),
                    "deviation_over_seeds": column.noise,
                    "seed_reliability": study.ranks.reliability[place],
                }
                for place, column in enumerate(study.columns)
            ],
            "spearman": study.ranks.spearman,
            "spearman_low": study.ranks.low,
            "spearman_high": study.ranks.high,
            "spearman_without_noise": study.ranks.corrected,
            "spearman_in_the_top": study.ranks.top,
            "rank_biased_overlap": study.ranks.overlap,
            "spearman_with_parameters": study.parameters,
            "regret": study.regrets.regret,
            "better_percent": study.regrets.better_percent,
            "operations": study.operations,
            "operation_effects": study.effects,
        }
    )
    return numbers


def write_transfer_report(study: TransferStudy, folder: Path, *, formats: Iterable[str] = ("svg", "png")) -> None:
    """Write ``report.html``, ``numbers.json`` and ``figures/`` into a folder, which is created if need be."""
    figures = transfer_figures(study)
    noise = {
        name: f"mean {column.means.mean():.2f}, deviation {column.means.std():.2f}, "
        f"over seeds {_number(column.noise)}; one seed with another {_number(reliability)}"
        for name, column, reliability in zip(study.datasets, study.columns, study.ranks.reliability, strict=True)
    }
    top = f"top {study.top_percent:g} %"
    sections = [
        Section(
            "Do rankings carry over?",
            {"space": study.space, _what(study): study.architectures},
            text=f"{transfer_summary(study)} {MEANS}",
            blocks=[figure("spearman")],
        ),
        Section("Without the noise of trainings", noise, text=CORRECTED, blocks=[figure("corrected")]),
        Section(
            f"In the {top}",
            {},
            text=f"The correlation among the {top} of the row's dataset, and rank-biased overlap: 1 for the same "
            f"order, with nine tenths of the weight on the {top}.",
            blocks=[figure("top"), figure("overlap")],
        ),
        Section(
            "What the best of one dataset is worth on another",
            {},
            text="The architecture that a perfect search on the row's dataset returns, by its mean validation result, "
            "on the column's: its distance to the best one of that dataset, and what share of architectures is better. "
            "The best one is partly lucky where it has few seeds.",
            blocks=[figure("regret"), figure("better")],
        ),
    ]
    if "operations" in figures:
        sections.append(Section("What helps where", {}, text=OPERATIONS, blocks=[figure("operations")]))
    title = f"Transfer between {len(study.columns)} datasets"
    write_report(folder, title, sections=sections, figures=figures, numbers=transfer_numbers(study), formats=formats)


def transfer_figures(study: TransferStudy) -> dict[str, Chart]:
    """The matrices as figures, by name."""
    names, ranks = study.datasets, study.ranks
    spearman, rows = ranks.spearman, list(names)
    if len(study.parameters):
        spearman, rows = np.vstack([spearman, study.parameters]), [*names, "parameters"]
    regret = study.regrets.regret
    units = {column.metric.unit for column in study.columns}
    unit = f" [{units.pop()}]" if len(units) == 1 and units != {""} else ""
    figures = {
        "spearman": matrix_figure(spearman, rows, names, title="Spearman", extent=1),
        "corrected": matrix_figure(ranks.corrected, names, names, title="Spearman without noise", extent=1),
        "top": matrix_figure(
            ranks.top, names, names, title=f"Spearman in the row's top {study.top_percent:g} %", extent=1
        ),
        "overlap": matrix_figure(ranks.overlap, names, names, title="rank-biased overlap", extent=1),
        "regret": matrix_figure(
            regret,
            names,
            names,
            title=f"regret{unit}",
            extent=float(regret.max()),
            row_title="best on",
            column_title="used on",
        ),
        "better": matrix_figure(
            study.regrets.better_percent,
            names,
            names,
            title="better architectures [%]",
            extent=100,
            digits=0,
            row_title="best on",
            column_title="used on",
        ),
    }
    if study.effects.size:
        effects = np.nanmean(study.effects, axis=1)
        figures["operations"] = matrix_figure(
            effects, names, study.operations, title="effect of an operation", extent=float(np.abs(effects).max())
        )
    return figures


def _what(study: TransferStudy) -> str:
    return "different functions" if study.by_function else "architectures"


def _unit(metric: Metric) -> str:
    """After a difference of two values."""
    return {"": "", "%": " points"}.get(metric.unit, f" {metric.unit}")


def _number(value: float) -> str:
    return "not known" if np.isnan(value) else f"{value:.2f}"


def _signed(value: float) -> str:
    return f"{value:.2f}".replace("-", "−")
