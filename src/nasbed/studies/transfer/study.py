"""Whether what is good on one dataset is good on another: all tables of one space against each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from nasbed.benchmarks import TabularBenchmark
from nasbed.core.errors import InvalidOption
from nasbed.core.metric import Metric
from nasbed.evaluation.rank_transfer import RankTransfer, mean_over_seeds, operation_effects, rank_transfer
from nasbed.evaluation.ranking.correlation import spearman
from nasbed.spaces.base import Codes, SearchSpace
from nasbed.studies.table import table_of

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class DatasetColumn:
    """What one table says of the common architectures. ``results`` are those that it is judged by,
    ``[architectures, seeds]``; ``objective`` is the mean that a search on it sees, its sign turned where less is
    better."""

    table: str
    dataset: str
    metric: Metric
    results: Floats
    objective: Floats
    noise: float
    """The standard deviation over seeds, the root of its mean square; NaN without repeats."""

    @property
    def means(self) -> Floats:
        return mean_over_seeds(self.results)


@dataclass(frozen=True, slots=True)
class Regrets:
    """What the architecture that is best on the row's dataset, by what a search sees, is worth on the column's: its
    distance to the best of that dataset, and the share of architectures that are better, in per cent."""

    regret: Floats
    better_percent: Floats


@dataclass(frozen=True, slots=True)
class TransferStudy:
    """All numbers of the study. ``parameters`` is the correlation of the number of parameters with each column, empty
    where the space counts none. ``effects`` are ``[datasets, places, operations]``, empty where it names none."""

    space: str
    architectures: int
    by_function: bool
    columns: tuple[DatasetColumn, ...]
    ranks: RankTransfer
    regrets: Regrets
    parameters: Floats
    operations: tuple[str, ...]
    effects: Floats
    top_percent: float

    @property
    def datasets(self) -> tuple[str, ...]:
        """A name for each column: its dataset, or its table where two tables are of one dataset."""
        names = tuple(column.dataset for column in self.columns)
        return names if len(set(names)) == len(names) else tuple(column.table for column in self.columns)


def transfer_study(
    tables: Sequence[TabularBenchmark], *, top_percent: float = 10.0, resamples: int = 200, seed: int = 0
) -> TransferStudy:
    """Compare tables of one space on the architectures that all of them have, each once: where a table answers by
    function, one architecture of each function.

    Args:
        tables: two or more, of different datasets.
        top_percent: the share of the best that counts as the top, in per cent.
        resamples: how many the intervals come from.
        seed: that of the resamples.
    """
    space = _common_space(tables)
    everything = _common_codes(tables)
    by_function = any(table.results.about.by_function for table in tables)
    codes = everything
    if by_function:
        codes = everything[(space.function_codes(everything) == everything).all(axis=1)]
    if len(codes) < 20:
        raise InvalidOption(
            f"rankings are compared on 20 architectures or more, these tables have {len(codes)} in common"
        )
    columns = tuple(_column(table, codes) for table in tables)
    for column in columns:
        if np.ptp(column.means) == 0:
            raise InvalidOption(f"all architectures have the same {column.metric.key} in {column.table}; leave it out")
    signed = [column.results if column.metric.direction == "maximize" else -column.results for column in columns]
    counts = space.properties(codes).get("parameters")
    operations = space.operations
    effects = np.empty((len(tables), 0, 0))
    if operations is not None:
        effects = np.stack(
            [
                operation_effects(
                    everything, _column(table, everything).means, operations.places, len(operations.names)
                )
                for table in tables
            ]
        )
    return TransferStudy(
        space=space.name,
        architectures=len(codes),
        by_function=by_function,
        columns=columns,
        ranks=rank_transfer(signed, np.random.default_rng(seed), top_percent=top_percent, resamples=resamples),
        regrets=_regrets(columns),
        parameters=np.array([spearman(counts, mean_over_seeds(values)) for values in signed])
        if counts is not None
        else np.empty(0),
        operations=() if operations is None else operations.names,
        effects=effects,
        top_percent=top_percent,
    )


def _common_space(tables: Sequence[TabularBenchmark]) -> SearchSpace:
    if len(tables) < 2:
        raise InvalidOption(f"transfer is measured between two tables or more, got {len(tables)}; name another")
    space = tables[0].space
    for table in tables[1:]:
        if table.space.name != space.name:
            raise InvalidOption(
                f"transfer is measured between tables of one space, {tables[0].name} is of {space.name} and "
                f"{table.name} of {table.space.name}"
            )
    names = [table.name for table in tables]
    if len(set(names)) < len(names):
        raise InvalidOption(f"each table is named once, got {', '.join(names)}")
    return space


def _common_codes(tables: Sequence[TabularBenchmark]) -> Codes:
    """The architectures that all tables have a judged result of."""

    def judged(table: TabularBenchmark, codes: Codes) -> Codes:
        rows = table.cache.find_many(codes)
        means = table.cache.mean(table.judge.key, table.highest_fidelity(table.judge))
        return codes[(rows >= 0) & ~np.isnan(means[rows])]

    return reduce(lambda codes, table: judged(table, codes), tables, tables[0].held_codes())


def _column(table: TabularBenchmark, codes: Codes) -> DatasetColumn:
    arrays, rows = table_of(table), table.cache.find_many(codes)
    position = arrays.measured(table.judge)
    results = arrays.values[table.judge.key][rows, position]
    repeated = (~np.isnan(results)).sum(axis=1) > 1
    noise = float(np.sqrt(np.nanvar(results[repeated], axis=1, ddof=1).mean())) if repeated.any() else float("nan")
    sign = 1 if table.objective.direction == "maximize" else -1
    return DatasetColumn(
        table.name, table.dataset_name or table.name, table.judge, results, sign * table.mean_objective(codes), noise
    )


def _regrets(columns: Sequence[DatasetColumn]) -> Regrets:
    count = len(columns)
    regret, better = np.zeros((count, count)), np.zeros((count, count))
    for i, source in enumerate(columns):
        chosen = int(np.nanargmax(source.objective))
        for j, target in enumerate(columns):
            goodness = target.means if target.metric.direction == "maximize" else -target.means
            regret[i, j] = goodness.max() - goodness[chosen]
            better[i, j] = 100 * float((goodness > goodness[chosen]).mean())
    return Regrets(regret, better)
