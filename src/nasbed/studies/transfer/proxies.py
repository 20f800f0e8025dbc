"""Which zero-cost proxies keep their order over datasets: each judged by its scores on every one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from nasbed.benchmarks import TabularBenchmark
from nasbed.core.errors import InvalidOption
from nasbed.evaluation.orders import concordance, order_agreement
from nasbed.evaluation.ranking.correlation import spearman
from nasbed.evaluation.ranks import ENDS
from nasbed.proxies.table import ScoreTable, embedded_scores, open_scores

Floats = NDArray[np.float64]
FEWEST_NETWORKS = 20


@dataclass(frozen=True, slots=True)
class ProxyOrder:
    """Spearman's correlation of each proxy's scores with the results, ``[proxies, datasets]``, the best proxy on
    average first; Kendall's tau between the orders of proxies on two datasets; and their concordance, with a 95 %
    interval over networks. ``datasets`` are the places of those that have scores, ``networks`` how many were scored on
    all of them."""

    proxies: tuple[str, ...]
    datasets: tuple[int, ...]
    networks: int
    correlations: Floats
    agreement: Floats
    concordance: float
    low: float
    high: float


def scores_of(tables: Sequence[TabularBenchmark], files: Sequence[str | Path] = ()) -> list[ScoreTable | None]:
    """The scores that belong to each table: those of a file on its dataset, or those that come with the package."""
    own = [open_scores(path) for path in files]
    embedded = embedded_scores()
    chosen = [
        next(
            (each for each in own if (each.about.space, each.about.dataset) == (table.space.name, table.dataset_name)),
            open_scores(table.name) if table.name in embedded else None,
        )
        for table in tables
    ]
    for path, each in zip(files, own, strict=True):
        if not any(each is scores for scores in chosen):
            raise InvalidOption(
                f"{path} has scores of {each.about.space} on {each.about.dataset}, which none of the tables is of, or "
                "another file has; leave it out"
            )
    return chosen


def proxy_order(
    tables: Sequence[TabularBenchmark], scores: Sequence[ScoreTable | None], *, resamples: int = 200, seed: int = 0
) -> ProxyOrder | None:
    """Judge every proxy on every table that has scores; None where fewer than two have.

    Args:
        tables: of one space.
        scores: of each table, or None.
        resamples: how many the interval comes from.
        seed: that of the resamples.
    """
    places = [place for place, each in enumerate(scores) if each is not None]
    scored = [each for each in scores if each is not None]
    if len(scored) < 2:
        return None
    names = [name for name in scored[0].proxies if all(name in each.proxies for each in scored)]
    scored = _aligned(scored)
    truths = [_judged(tables[place], scored[0].codes) for place in places]
    common = ~np.isnan(truths).any(axis=0)
    if len(names) < 2 or common.sum() < FEWEST_NETWORKS:
        raise InvalidOption(
            f"the order of proxies is compared with 2 proxies and {FEWEST_NETWORKS} networks or more, the scores have "
            f"{len(names)} and {common.sum()} in common"
        )
    columns = np.stack([[each.mean(name)[common] for each in scored] for name in names])
    values = np.stack(truths)[:, common]
    correlations = _correlations(columns, values)
    best_first = np.argsort(-correlations.mean(axis=1))
    rng, count = np.random.default_rng(seed), int(common.sum())
    drawn = rng.integers(count, size=(resamples, count))
    low, high = np.quantile([concordance(-_correlations(columns[..., each], values[:, each])) for each in drawn], ENDS)
    return ProxyOrder(
        proxies=tuple(names[place] for place in best_first),
        datasets=tuple(places),
        networks=count,
        correlations=correlations[best_first],
        agreement=order_agreement(-correlations),
        concordance=concordance(-correlations),
        low=float(low),
        high=float(high),
    )


def _aligned(scored: Sequence[ScoreTable]) -> list[ScoreTable]:
    """The tables of the architectures that all have, in one order."""
    rows = [{tuple(code): row for row, code in enumerate(each.codes.tolist())} for each in scored]
    common = [code for code in rows[0] if all(code in others for others in rows[1:])]
    return [
        each.take(np.array([places[code] for code in common], dtype=np.int64))
        for each, places in zip(scored, rows, strict=True)
    ]


def _judged(table: TabularBenchmark, codes: NDArray[np.int64]) -> Floats:
    """The mean results that a table is judged by, more is better; NaN for what it does not have."""
    means = np.full(len(codes), np.nan)
    is_held = table.cache.find_many(codes) >= 0
    metric, means[is_held] = table.mean_judgement(codes[is_held])
    return -means if metric is not None and metric.direction == "minimize" else means


def _correlations(columns: Floats, values: Floats) -> Floats:
    """Spearman's correlations ``[proxies, datasets]`` of scores ``[proxies, datasets, networks]`` with results
    ``[datasets, networks]``. Networks without a score come last; scores that are all equal say nothing: 0."""
    lowest = np.min(np.where(np.isfinite(columns), columns, 0.0), axis=2, keepdims=True)
    complete = np.where(np.isfinite(columns), columns, lowest - 1)
    return np.array(
        [
            [np.nan_to_num(spearman(truth, column)) for truth, column in zip(values, of_proxy, strict=True)]
            for of_proxy in complete
        ]
    )
