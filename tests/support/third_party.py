"""Benchmarks as somebody else writes them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nasbed import Architecture, Metric, Observation, space
from nasbed.benchmarks.base import Benchmark
from nasbed.benchmarks.observations import Observations
from nasbed.core.errors import InvalidOption
from nasbed.spaces.base import Batch


class Measured(Benchmark):
    """Counts convolutions, with noise; it has no test results and does not know its means."""

    name = "third-party"
    space = space("nb201")
    objective = Metric("accuracy", split="validation", unit="%", bounds=(0, 100))
    metrics = (objective,)
    fidelities = (10,)
    test_metric = None

    def means(self, archs: Batch) -> NDArray[np.float64]:
        values: NDArray[np.float64] = 50.0 + 5.0 * (self.space.codes(archs) == 3).sum(axis=1)
        return values

    def answers(self, archs: Batch, values: NDArray[np.float64]) -> Observations:
        count, codes = len(values), self.space.codes(archs)
        zeros = np.zeros(count, dtype=np.int64)
        return Observations("nb201", codes, {self.objective: values}, 10, zeros, np.ones(count), zeros.astype(np.int8))

    def _query(self, arch: Architecture, fidelity: int, seed: int) -> Observation:
        return self._query_many([arch], fidelity, seed)[0]

    def _query_many(self, archs: Batch, fidelity: int, seed: int) -> Observations:
        noise = [np.random.default_rng([seed, *code]).normal() for code in self.space.codes(archs).tolist()]
        return self.answers(archs, self.means(archs) + noise)

    def mean_test(self, archs: Batch) -> NDArray[np.float64]:
        raise InvalidOption("no test results")

    def optimum(self) -> tuple[Architecture, float]:
        raise InvalidOption("not known")


class ModelledSingly(Measured):
    """Knows what its answers average to, one by one, and its best."""

    def expected(self, arch: Architecture, *, fidelity: int | None = None) -> Observation:
        return self.answers([arch], self.means([arch]))[0]

    def optimum(self) -> tuple[Architecture, float]:
        return Architecture("nb201", (3,) * 6), 80.0


class ModelledInBatches(Measured):
    """Knows the same of a batch."""

    def expected_many(self, archs: Batch, *, fidelity: int | None = None) -> Observations:
        return self.answers(archs, self.means(archs))

    def optimum(self) -> tuple[Architecture, float]:
        return Architecture("nb201", (3,) * 6), 80.0


class Modelled(ModelledInBatches):
    """Knows both."""

    summary = "convolutions of a cell, counted"

    def expected(self, arch: Architecture, *, fidelity: int | None = None) -> Observation:
        return self.expected_many([arch])[0]
