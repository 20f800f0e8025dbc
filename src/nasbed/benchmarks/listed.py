"""A table of a part of a space as a benchmark of that part alone."""

from __future__ import annotations

from collections.abc import Sequence

from nasbed.benchmarks.base import Benchmark
from nasbed.benchmarks.tabular import TabularBenchmark, as_table, best_place
from nasbed.benchmarks.wrappers import SubSpace
from nasbed.core.architecture import Architecture
from nasbed.spaces.listed import ListedSpace

LISTED = "listed"
"""After the id of a table: the architectures that it holds, as a space of their own."""


class ListedTable(SubSpace):
    """A table whose space is the set of architectures that it holds at its highest fidelity. Methods that sample,
    mutate or ask for neighbours never leave it."""

    space: ListedSpace

    def __init__(self, inner: TabularBenchmark) -> None:
        name = f"{inner.name}:{LISTED}"
        super().__init__(inner, name, inner.holds)
        self.space = ListedSpace(inner.space, name, inner.held_codes())

    def optimum(self) -> tuple[Architecture, float]:
        metric = self.inner.judge
        means = self.inner.held_means(metric)
        best = best_place(means, metric, self.name)
        return self.space.listed(best), float(means[best])

    def best_answer(self, fidelities: Sequence[int]) -> float:
        return self.inner.best_answer(fidelities)

    def best_mean(self, fidelities: Sequence[int]) -> float:
        return self.inner.best_mean(fidelities)


def listed(benchmark: Benchmark) -> ListedTable:
    """The table as a benchmark of what it holds."""
    refusal = (
        f"a table lists what it holds, {benchmark.name} is none; leave :{LISTED} out, or put it right after the id of "
        "the table"
    )
    return ListedTable(as_table(benchmark, refusal))
