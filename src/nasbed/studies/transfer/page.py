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
from nasbed.drawing.number_tables import NumberTable
from nasbed.drawing.page import Section
from nasbed.studies.transfer.figures import order_figures, transfer_figures
from nasbed.studies.transfer.methods import MethodOrder
from nasbed.studies.transfer.proxies import ProxyOrder
from nasbed.studies.transfer.study import Floats, TransferStudy

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
METHODS = (
    "Final regrets and mean ranks of search methods on every dataset. Then Kendall's tau between the orders of their "
    "mean regrets on two datasets; on the diagonal, between two halves of the seeds of one. Concordance is 1 where all "
    "datasets order the methods alike and 0 where they have nothing in common."
)
PROXIES = (
    "Spearman's correlation of the scores of untrained networks with their results. Then Kendall's tau between the "
    "orders that two datasets give to the proxies."
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
    correlations = f"correlate by {_signed(ranks.spearman[most])} (Spearman)"
    if len(pairs) > 1:
        correlations = (
            f"agree most (Spearman {_signed(ranks.spearman[most])}), those of {names[least[0]]} and {names[least[1]]} "
            f"least ({_signed(ranks.spearman[least])})"
        )
    return (
        f"Over {study.architectures} {_what(study)} the rankings of {names[most[0]]} and {names[most[1]]} "
        f"{correlations}. "
        f"On {names[j]} the best of {names[i]} is {regrets[i, j]:.2f}"
        f"{_unit(metric)} below the best one, and {study.regrets.better_percent[i, j]:.0f} % of all are better."
    )


def order_lines(methods: MethodOrder | None, proxies: ProxyOrder | None) -> list[str]:
    """What was found about the order of methods and of proxies, a sentence each."""
    lines = []
    if methods is not None:
        lines.append(
            f"The order of {len(methods.methods)} methods ({methods.seeds} seeds, {methods.budget}): "
            f"concordance {_interval(methods)} over datasets; two halves of the seeds of one dataset agree by tau "
            f"{_signed(float(np.nanmean(methods.own_agreement)))}, two datasets by "
            f"{_signed(_mean_of_pairs(methods.agreement))}."
        )
    if proxies is not None:
        lines.append(
            f"The order of {len(proxies.proxies)} proxies ({proxies.networks} networks): concordance "
            f"{_interval(proxies)} over {len(proxies.datasets)} datasets; two of them agree by tau "
            f"{_signed(_mean_of_pairs(proxies.agreement))}."
        )
    return lines


def transfer_numbers(
    study: TransferStudy, methods: MethodOrder | None = None, proxies: ProxyOrder | None = None
) -> dict[str, Any]:
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
    if methods is not None:
        numbers["methods"] = plain(
            {
                "names": methods.methods,
                "budget": methods.budget,
                "seeds": methods.seeds,
                "final_regrets": methods.regrets,
                "mean_ranks": methods.ranks,
                "order_agreement": methods.agreement,
                "order_agreement_over_seeds": methods.own_agreement,
                "concordance": [methods.concordance, methods.low, methods.high],
            }
        )
    if proxies is not None:
        numbers["proxies"] = plain(
            {
                "names": proxies.proxies,
                "datasets": [study.datasets[place] for place in proxies.datasets],
                "networks": proxies.networks,
                "spearman": proxies.correlations,
                "order_agreement": proxies.agreement,
                "concordance": [proxies.concordance, proxies.low, proxies.high],
            }
        )
    return numbers


def write_transfer_report(
    study: TransferStudy,
    folder: str | Path,
    *,
    methods: MethodOrder | None = None,
    proxies: ProxyOrder | None = None,
    formats: Iterable[str] = (),
) -> None:
    """Write ``report.html``, ``numbers.json`` and ``figures/`` into a folder, which is created if need be.

    Args:
        study: Tables against each other.
        folder: Where to write.
        methods: The order of search methods, where they were run.
        proxies: The order of proxies, where there are scores.
        formats: Of the figures.
    """
    figures = transfer_figures(study) | order_figures(study, methods, proxies)
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
    if methods is not None:
        (sentence,) = order_lines(methods, None)
        blocks = [figure("method_regrets"), figure("method_ranks"), figure("method_orders")]
        sections.append(Section("Which methods keep their order?", {}, text=f"{sentence} {METHODS}", blocks=blocks))
    if proxies is not None:
        (sentence,) = order_lines(None, proxies)
        blocks = [figure("proxies"), figure("proxy_orders")]
        sections.append(Section("Which proxies keep their order?", {}, text=f"{sentence} {PROXIES}", blocks=blocks))
    title = f"Transfer between {len(study.columns)} datasets"
    numbers = transfer_numbers(study, methods, proxies)
    write_report(folder, title, sections=sections, figures=figures, numbers=numbers, formats=formats)


def _interval(order: MethodOrder | ProxyOrder) -> str:
    return f"{order.concordance:.2f} ({order.low:.2f} to {order.high:.2f})"


def _mean_of_pairs(agreement: Floats) -> float:
    """The mean over pairs of different datasets."""
    return float(np.nanmean(agreement[np.triu_indices(len(agreement), 1)]))


def _what(study: TransferStudy) -> str:
    return "different functions" if study.by_function else "architectures"


def _unit(metric: Metric) -> str:
    """After a difference of two values."""
    return {"": "", "%": " points"}.get(metric.unit, f" {metric.unit}")


def _number(value: float) -> str:
    return "not known" if np.isnan(value) else f"{value:.2f}"


def _signed(value: float) -> str:
    return f"{value:.2f}".replace("-", "−")
