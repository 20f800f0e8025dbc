"""The matrices of the study of transfer as figures."""

from __future__ import annotations

import numpy as np

from nasbed.drawing.marks import Chart
from nasbed.drawing.matrices import matrix_figure
from nasbed.studies.transfer.methods import MethodOrder
from nasbed.studies.transfer.proxies import ProxyOrder
from nasbed.studies.transfer.study import TransferStudy


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


def order_figures(study: TransferStudy, methods: MethodOrder | None, proxies: ProxyOrder | None) -> dict[str, Chart]:
    """The orders of methods and of proxies, as far as they are known."""
    figures: dict[str, Chart] = {}
    if methods is not None:
        regrets = methods.regrets.mean(axis=2)
        orders = methods.agreement.copy()
        np.fill_diagonal(orders, methods.own_agreement)
        figures |= {
            "method_regrets": matrix_figure(
                regrets, methods.methods, study.datasets, title="mean final regret", extent=float(regrets.max())
            ),
            "method_ranks": matrix_figure(
                methods.ranks, methods.methods, study.datasets, title="mean rank", extent=len(methods.methods), digits=1
            ),
            "method_orders": matrix_figure(
                orders, study.datasets, study.datasets, title="Kendall's tau of the orders of methods", extent=1
            ),
        }
    if proxies is not None:
        names = [study.datasets[place] for place in proxies.datasets]
        figures |= {
            "proxies": matrix_figure(
                proxies.correlations, proxies.proxies, names, title="Spearman of scores and results", extent=1
            ),
            "proxy_orders": matrix_figure(
                proxies.agreement, names, names, title="Kendall's tau of the orders of proxies", extent=1
            ),
        }
    return figures
