"""Surrogates of nasbed behind the published interface."""

from __future__ import annotations

import math

from nasbed.benchmarks.surrogate import SurrogateBenchmark
from nasbed.compat.nasbench301._interface import SurrogateAPI
from nasbed.core.architecture import Architecture
from nasbed.core.errors import InvalidOption, UnknownName


class PerformanceEnsemble(SurrogateAPI):
    """Predicts the validation accuracy, in percent. The same ``seed`` and the same calls give the same answers."""

    def __init__(self, benchmark: SurrogateBenchmark, *, seed: int = 0) -> None:
        if benchmark.space.name != "darts":
            raise InvalidOption(
                f"NAS-Bench-301 is about the space darts, {benchmark.name} is of {benchmark.space.name}; open it with "
                "nasbed.load"
            )
        self.benchmark = benchmark
        self._next_seed = seed << 32
        self._percent = 100.0 if benchmark.objective.bounds == (0, 1) else 1.0

    def _mean(self, arch: Architecture) -> float:
        return self._percent * self.benchmark.expected(arch).values[self.benchmark.objective]

    def _draw(self, arch: Architecture) -> float:
        observation = self.benchmark.query(arch, seed=self._next_seed)
        self._next_seed += 1
        return self._percent * observation.values[self.benchmark.objective]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.benchmark.name})"


class RuntimeEnsemble(PerformanceEnsemble):
    """Predicts the training time, in seconds, without noise."""

    is_runtime = True

    def __init__(self, benchmark: SurrogateBenchmark, *, seed: int = 0) -> None:
        super().__init__(benchmark, seed=seed)
        if not benchmark.has_times:
            raise UnknownName(f"the surrogate {benchmark.name} has no runtime model; make it with one")

    def _mean(self, arch: Architecture) -> float:
        cost_s = self.benchmark.expected(arch).cost_s
        return math.nan if cost_s is None else cost_s

    def _draw(self, arch: Architecture) -> float:
        return self._mean(arch)
