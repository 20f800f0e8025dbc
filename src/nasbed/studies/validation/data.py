"""The evaluations that a surrogate is validated on."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nasbed.core.errors import InvalidOption
from nasbed.core.metric import Metric
from nasbed.results.splits import RowSplit
from nasbed.spaces.base import Codes, SearchSpace
from nasbed.surrogates.base import Floats
from nasbed.surrogates.examples import Examples
from nasbed.surrogates.table_split import TableSplit


@dataclass(frozen=True, slots=True)
class ValidationData:
    """One metric of a table at one fidelity, in canonical form, and its split."""

    name: str
    space: SearchSpace
    metric: Metric
    rows: Examples
    split: RowSplit

    @classmethod
    def of(cls, split: TableSplit) -> ValidationData:
        """The evaluations of a split table."""
        return cls(split.name, split.space, split.metric, split.rows, split.parts)

    @property
    def test(self) -> Examples:
        """The test part; raises where it is empty."""
        if not len(self.split.test):
            raise InvalidOption(f"a tenth of the architectures is the test part, {self.name} has too few")
        return self.rows.take(self.split.test)

    @property
    def methods(self) -> list[str]:
        """The search methods that the table names."""
        return [str(name) for name in np.unique(self.rows.method) if name]

    def architectures(self) -> tuple[Codes, Floats]:
        """The codes of the architectures and the means of their evaluations, in the order of their numbers."""
        _, first, owner = np.unique(self.rows.architecture, return_index=True, return_inverse=True)
        mean = np.bincount(owner, self.rows.y) / np.bincount(owner)
        return self.rows.codes[first], mean


@dataclass(frozen=True, slots=True)
class RepeatedSeeds:
    """The architectures that were evaluated with every one of several seeds, by their numbers in the evaluations."""

    codes: Codes
    y: Floats  # [architectures, seeds]
    seeds: tuple[int, ...]
    architectures: NDArray[np.int64]

    def mean_without(self, column: int) -> Floats:
        """The mean of each architecture over all seeds but the one in this column, which is the truth for that seed."""
        mean: Floats = np.delete(self.y, column, axis=1).mean(axis=1)
        return mean


def repeats_of(data: ValidationData) -> RepeatedSeeds:
    """The architectures that have the same several seeds; raises where seeds are not recorded or not repeated.

    Of the seeds that repeated architectures have, the most frequent ones are taken: as many as give the most
    evaluations beside the first of each architecture.
    """
    rows = data.rows
    seeds = np.unique(rows.seed)
    if seeds[0] < 0 or len(seeds) < 2:
        raise InvalidOption(f"{data.name} has no architecture with several seeds on record")
    names, owner = np.unique(rows.architecture, return_inverse=True)
    values = np.full((len(names), len(seeds)), np.nan)
    values[owner, np.searchsorted(seeds, rows.seed)] = rows.y
    codes = np.empty((len(names), rows.codes.shape[1]), dtype=np.int64)
    codes[owner] = rows.codes
    measured = np.isfinite(values)
    repeated = measured[measured.sum(axis=1) > 1]
    by_frequency = np.argsort(-repeated.sum(axis=0), kind="stable")
    gains = [(count - 1) * measured[:, by_frequency[:count]].all(axis=1).sum() for count in range(2, len(seeds) + 1)]
    chosen = np.sort(by_frequency[: int(np.argmax(gains)) + 2])
    complete = measured[:, chosen].all(axis=1)
    if complete.sum() < 2:
        raise InvalidOption(f"{data.name} has fewer than 2 architectures that share several seeds")
    return RepeatedSeeds(codes[complete], values[complete][:, chosen], tuple(seeds[chosen].tolist()), names[complete])


def one_seed(data: ValidationData, repeats: RepeatedSeeds, column: int) -> Examples:
    """One evaluation of every architecture: the repeated ones with the seed in this column, the others as they were
    evaluated first."""
    rows = data.rows
    is_repeated = np.isin(rows.architecture, repeats.architectures)
    first = np.zeros(len(rows), dtype=bool)
    first[np.unique(rows.architecture, return_index=True)[1]] = True
    return rows.take(np.where(is_repeated, rows.seed == repeats.seeds[column], first))
