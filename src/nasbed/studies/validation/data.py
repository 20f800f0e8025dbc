"""The evaluations that a surrogate is validated on."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

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
    """The architectures that were evaluated with every one of several seeds."""

    codes: Codes
    y: Floats  # [architectures, seeds]
    seeds: tuple[int, ...]

    def mean_without(self, column: int) -> Floats:
        """The mean of each architecture over all seeds but the one in this column, which is the truth for that seed."""
        mean: Floats = np.delete(self.y, column, axis=1).mean(axis=1)
        return mean


def repeats_of(data: ValidationData) -> RepeatedSeeds:
    """The architectures that have all the seeds of the table; raises where seeds are not recorded or not repeated."""
    rows = data.rows
    seeds = np.unique(rows.seed)
    if seeds[0] < 0 or len(seeds) < 2:
        raise InvalidOption(f"{data.name} has no architecture with several seeds on record")
    names, owner = np.unique(rows.architecture, return_inverse=True)
    values = np.full((len(names), len(seeds)), np.nan)
    values[owner, np.searchsorted(seeds, rows.seed)] = rows.y
    codes = np.empty((len(names), rows.codes.shape[1]), dtype=np.int64)
    codes[owner] = rows.codes
    complete = np.isfinite(values).all(axis=1)
    if complete.sum() < 2:
        raise InvalidOption(f"{data.name} has fewer than 2 architectures with all of its {len(seeds)} seeds")
    return RepeatedSeeds(codes[complete], values[complete], tuple(seeds.tolist()))
