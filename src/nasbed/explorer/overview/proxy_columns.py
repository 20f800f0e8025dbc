"""The proxy scores that come with the package for the architectures of a benchmark."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from nasbed.benchmarks.base import Benchmark
from nasbed.core.architecture import Architecture
from nasbed.explorer.overview.sample import fitted_table
from nasbed.proxies.table import ScoreTable, embedded_scores, open_scores
from nasbed.spaces.base import Codes
from nasbed.spaces.lookup import Lookup

Floats = NDArray[np.float64]


class ProxyColumns:
    """The scores of the table of a benchmark, or of the table that it was fitted on; none where none are shipped."""

    def __init__(self, name: str, benchmark: Benchmark) -> None:
        self._space = benchmark.space
        candidates = [name, benchmark.unwrapped.name]
        if benchmark.predicts and (table := fitted_table(benchmark)) is not None:
            candidates.append(table.name)
        shipped = embedded_scores()
        self._file = next((candidate for candidate in candidates if candidate in shipped), None)

    @cached_property
    def _table(self) -> ScoreTable | None:
        table = None if self._file is None else open_scores(self._file)
        return table if table is not None and table.about.space == self._space.name else None

    @cached_property
    def _lookup(self) -> Lookup:
        """The rows of the file by canonical code; of isomorphic rows the first counts."""
        assert self._table is not None, "no file, no rows"
        codes = self._space.canonical_codes(self._table.codes)
        self._different, self._first = np.unique(codes, axis=0, return_index=True)
        return Lookup(self._different)

    @property
    def names(self) -> tuple[str, ...]:
        """The proxies that have scores."""
        return () if self._table is None else self._table.proxies

    def scores(self, proxy: str, codes: Codes) -> Floats:
        """The mean over seeds for each canonical code, NaN where there is none."""
        assert self._table is not None, "a benchmark without scores has no such column"
        places = self._lookup.find(codes)
        scores = np.full(len(codes), np.nan)
        scores[places >= 0] = self._table.mean(proxy)[self._first[places[places >= 0]]]
        return scores

    def scores_of(self, arch: Architecture) -> dict[str, float]:
        """The scores of one architecture by proxy, those that are missing left out."""
        codes = self._space.canonical_codes([arch])
        scores = {name: float(self.scores(name, codes)[0]) for name in self.names}
        return {name: score for name, score in scores.items() if score == score}
