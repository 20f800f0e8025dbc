"""Small changes to a benchmark, each a benchmark again."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from nasbed.benchmarks.base import Benchmark
from nasbed.benchmarks.observations import Observations
from nasbed.benchmarks.tabular import TabularBenchmark
from nasbed.core.architecture import Architecture
from nasbed.core.errors import InvalidArchitecture, InvalidOption, shorten
from nasbed.core.metric import Metric
from nasbed.core.observation import Observation, Status
from nasbed.spaces.base import Batch


class Wrapper(Benchmark):
    """Passes everything on to ``inner``; a subclass changes one thing."""

    def __init__(self, inner: Benchmark, name: str) -> None:
        self.inner = inner
        self.name = name
        self.space = inner.space
        self.metrics = inner.metrics
        self.objective = inner.objective
        self.fidelities = inner.fidelities

    def _query(self, arch: Architecture, fidelity: int, seed: int) -> Observation:
        return self.inner.query(arch, fidelity=fidelity, seed=seed)

    def _query_many(self, archs: Batch, fidelity: int, seed: int) -> Observations:
        return self.inner.query_many(archs, fidelity=fidelity, seed=seed)

    @property
    def test_metric(self) -> Metric | None:
        return self.inner.test_metric

    def mean_test(self, archs: Batch) -> NDArray[np.float64]:
        return self.inner.mean_test(archs)

    def optimum(self) -> tuple[Architecture, float]:
        return self.inner.optimum()


class NoiseFree(Wrapper):
    """Answers the mean over the stored repeats that ended well; the seed does not matter."""

    inner: TabularBenchmark

    def __init__(self, inner: TabularBenchmark) -> None:
        super().__init__(inner, f"{inner.name} (mean)")

    def _query(self, arch: Architecture, fidelity: int, seed: int) -> Observation:
        repeats = [each for each in self.inner.repeats(arch, fidelity=fidelity) if each.status is Status.OK]
        if not repeats:
            return Observation(arch, fidelity=fidelity, status=Status.DIVERGED)
        values = {}
        for metric in self.metrics:
            measured = [each.values[metric] for each in repeats if metric in each.values]
            if measured:
                values[metric] = float(np.mean(measured))
        costs = [each.cost_s for each in repeats if each.cost_s is not None]
        return Observation(arch, values, fidelity=fidelity, cost_s=float(np.mean(costs)) if costs else None)

    def _query_many(self, archs: Batch, fidelity: int, seed: int) -> Observations:
        cache = self.inner.cache
        codes = self.space.codes(archs)
        rows, _ = self.inner._find_many(codes)
        missing = np.full(len(rows), np.nan)
        means = {metric: cache.mean(metric.key, fidelity)[rows] for metric in self.metrics}
        ended_well = (cache.status[rows, cache.fidelities.index(fidelity)] == 0).any(axis=1)
        return Observations(
            space=self.space.name,
            codes=codes,
            values=means,
            fidelity=fidelity,
            seeds=np.full(len(rows), -1),
            cost_s=cache.mean("train_time_s", fidelity)[rows] if "train_time_s" in cache.values else missing,
            status=np.where(ended_well, 0, 1).astype(np.int8),
        )


class Restricted(Wrapper):
    """Offers some of the fidelities only."""

    def __init__(self, inner: Benchmark, fidelities: tuple[int, ...]) -> None:
        super().__init__(inner, f"{inner.name} at {','.join(map(str, fidelities))}")
        unknown = [fidelity for fidelity in fidelities if fidelity not in inner.fidelities]
        if unknown or not fidelities:
            raise InvalidOption(
                f"{inner.name} has the fidelities {inner.fidelities}, got {fidelities}; choose some of them"
            )
        self.fidelities = tuple(sorted(fidelities))


class SubSpace(Wrapper):
    """Answers only for the architectures that satisfy a condition, such as NAS-Bench-Mini's at most six vertices.

    Queries outside raise. The optimum is the best inside.
    """

    inner: TabularBenchmark

    def __init__(self, inner: TabularBenchmark, name: str, contains: Callable[[Architecture], bool]) -> None:
        super().__init__(inner, name)
        self.contains = contains

    def _query(self, arch: Architecture, fidelity: int, seed: int) -> Observation:
        self._check(arch)
        return self.inner.query(arch, fidelity=fidelity, seed=seed)

    def _query_many(self, archs: Batch, fidelity: int, seed: int) -> Observations:
        for arch in self.space.architectures(self.space.codes(archs)):
            self._check(arch)
        return self.inner.query_many(archs, fidelity=fidelity, seed=seed)

    def _check(self, arch: Architecture) -> None:
        self.space.validate(arch)
        if not self.contains(arch):
            raise InvalidArchitecture(f"{shorten(self.space.format(arch))} is outside {self.name}; sample again")

    def optimum(self) -> tuple[Architecture, float]:
        metric = self.test_metric or self.objective
        inside = [arch for arch in self.inner.architectures() if self.contains(arch)]
        means = self.inner.cache.mean(metric.key, self.fidelities[-1])[
            self.inner._find_many(self.space.codes(inside))[0]
        ]
        best = int(np.nanargmax(means) if metric.direction == "maximize" else np.nanargmin(means))
        return inside[best], float(means[best])


def nas_bench_mini(inner: TabularBenchmark) -> SubSpace:
    """The cells of a NAS-Bench-101 table with at most six vertices (section 4.2)."""
    from nasbed.spaces.nb101 import NB101

    space = inner.space
    if not isinstance(space, NB101):
        raise InvalidOption(f"NAS-Bench-Mini is a part of NAS-Bench-101, got a table of {space.name}")
    return SubSpace(inner, f"{inner.name}-mini", lambda arch: space.pruned(arch).vertices <= 6)
