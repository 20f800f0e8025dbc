"""A table of a part of a space as a benchmark of that part alone."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from nasbed.benchmarks.base import Benchmark
from nasbed.benchmarks.tabular import TabularBenchmark, as_table
from nasbed.benchmarks.wrappers import SubSpace
from nasbed.spaces.base import Codes
from nasbed.spaces.listed import ListedSpace

LISTED = "listed"
"""After the id of a table: the architectures that it holds, as a space of their own."""


class ListedTable(SubSpace):
    """A table whose space is the set of architectures that it holds at its highest fidelity. Methods that sample,
    mutate or ask for neighbours never leave it."""

    inner: TabularBenchmark

    def __init__(self, inner: TabularBenchmark) -> None:
        name = f"{inner.name}:{LISTED}"
        super().__init__(inner, name, inner.holds)
        self.space = ListedSpace(inner.space, name, self._held_codes)

    @cached_property
    def _held_codes(self) -> Codes:
        return self.inner.held_codes()

    def best_answer(self, fidelities: Sequence[int]) -> float:
        return self.inner.best_answer(fidelities)

    def best_mean(self, fidelities: Sequence[int]) -> float:
        return self.inner.best_mean(fidelities)


def listed(benchmark: Benchmark) -> ListedTable:
    """The table as a benchmark of what it holds."""
    refusal = (
        f"only a table lists its architectures, {benchmark.name} is not a table; omit :{LISTED}, or put it right "
        "after the id of "
        "the table"
    )
    return ListedTable(as_table(benchmark, refusal))
