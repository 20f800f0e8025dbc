"""Wrappers: each changes one thing of a benchmark and is a benchmark itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from operator import attrgetter
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from nasbed.benchmarks.base import Benchmark
from nasbed.benchmarks.best_metric import best_place
from nasbed.benchmarks.observations import Observations
from nasbed.core.architecture import Architecture
from nasbed.core.errors import InvalidOption
from nasbed.core.files import values_sha256
from nasbed.core.metric import Metric
from nasbed.core.observation import Observation
from nasbed.results.store import Results
from nasbed.spaces.base import Batch, Codes
from nasbed.spaces.part import SpacePart

W = TypeVar("W", bound=Benchmark)


def forwards(*names: str) -> Callable[[type[W]], type[W]]:
    """Declare the properties and methods that a wrapper takes from ``inner`` as they are."""

    def declare(kind: type[W]) -> type[W]:
        for name in names:
            setattr(kind, name, property(attrgetter(f"inner.{name}"), doc=getattr(kind, name).__doc__))
        return kind

    return declare


@forwards("predicts", "model_family", "dataset_name", "has_times", "is_live", "is_one_training", "unwrapped", "summary")
@forwards("held_count", "holds_all", "holds", "architectures")
@forwards("knows_means", "judge", "mean_judgement", "mean_objective", "best_answer", "best_mean")
class Wrapper(Benchmark):
    """Forwards everything to ``inner``; a subclass changes one thing. ``results`` are not forwarded: a wrapper is not a
    whole table."""

    def __init__(self, inner: Benchmark, name: str) -> None:
        self.inner = inner
        self.name = name
        self.space = inner.space
        self.metrics = inner.metrics
        self.objective = inner.objective
        self.fidelities = inner.fidelities

    @property
    def fingerprint(self) -> str:
        """The fingerprint of the inner benchmark and of what this wrapper changes; the space of a part is its name."""
        settings = (type(self).__name__, self.space.name, self.fidelities)
        return values_sha256((settings, self.inner.fingerprint)) if self.inner.fingerprint else ""

    def _query(self, arch: Architecture, fidelity: int, seed: int) -> Observation:
        return self.inner.query(arch, fidelity=fidelity, seed=seed)

    def resume(self, arch: Architecture, *, paused: Observation, fidelity: int, seed: int) -> Observation:
        return self.inner.resume(arch, paused=paused, fidelity=self._fidelity(fidelity), seed=seed)

    def _query_many(self, archs: Batch, fidelity: int, seed: int) -> Observations:
        return self.inner.query_many(archs, fidelity=fidelity, seed=seed)

    def repeats(self, arch: Architecture, *, fidelity: int | None = None) -> list[Observation]:
        return self.inner.repeats(arch, fidelity=self._fidelity(fidelity))

    def drawn_repeat(self, arch: Architecture, *, fidelity: int | None = None, seed: int = 0) -> int:
        return self.inner.drawn_repeat(arch, fidelity=self._fidelity(fidelity), seed=seed)

    def expected(self, arch: Architecture, *, fidelity: int | None = None) -> Observation:
        return self.inner.expected(arch, fidelity=self._fidelity(fidelity))

    def expected_many(self, archs: Batch, *, fidelity: int | None = None) -> Observations:
        return self.inner.expected_many(archs, fidelity=self._fidelity(fidelity))

    @property
    def test_metric(self) -> Metric | None:
        return self.inner.test_metric

    def mean_test(self, archs: Batch) -> NDArray[np.float64]:
        return self.inner.mean_test(archs)

    def optimum(self) -> tuple[Architecture, float]:
        return self.inner.optimum()


class NoiseFree(Wrapper):
    """Answers the mean of all queries: over the stored repeats that ended well, or as a surrogate predicts it. The seed
    does not matter."""

    def __init__(self, inner: Benchmark) -> None:
        super().__init__(inner, f"{inner.name} (mean)")

    def _query(self, arch: Architecture, fidelity: int, seed: int) -> Observation:
        return self.inner.expected(arch, fidelity=fidelity)

    def resume(self, arch: Architecture, *, paused: Observation, fidelity: int, seed: int) -> Observation:
        return Benchmark.resume(self, arch, paused=paused, fidelity=fidelity, seed=seed)

    def _query_many(self, archs: Batch, fidelity: int, seed: int) -> Observations:
        return self.inner.expected_many(archs, fidelity=fidelity)

    def repeats(self, arch: Architecture, *, fidelity: int | None = None) -> list[Observation]:
        """None: a mean is not drawn."""
        return []

    def drawn_repeat(self, arch: Architecture, *, fidelity: int | None = None, seed: int = 0) -> int:
        return Benchmark.drawn_repeat(self, arch, fidelity=fidelity, seed=seed)

    def best_answer(self, fidelities: Sequence[int]) -> float:
        return self.inner.best_mean(fidelities)


class Restricted(Wrapper):
    """Offers only some of the fidelities."""

    def __init__(self, inner: Benchmark, fidelities: tuple[int, ...]) -> None:
        super().__init__(inner, f"{inner.name} at {','.join(map(str, fidelities))}")
        unknown = [fidelity for fidelity in fidelities if fidelity not in inner.fidelities]
        if unknown or not fidelities:
            raise InvalidOption(
                f"{inner.name} has the fidelities {inner.fidelities}, got {fidelities}; choose some of them"
            )
        self.fidelities = tuple(sorted(fidelities))

    def holds(self, arch: Architecture, *, fidelity: int | None = None) -> bool:
        """Whether it answers for an architecture, by default at the highest of its own fidelities."""
        return self.inner.holds(arch, fidelity=self._fidelity(fidelity))


class SubSpace(Wrapper):
    """Answers only for the architectures that satisfy a condition, such as NAS-Bench-Mini's at most six vertices.

    Its space is that part alone, so a search stays inside. Queries outside raise. The optimum is the best inside.
    """

    def __init__(self, inner: Benchmark, name: str, contains: Callable[[Architecture], bool]) -> None:
        super().__init__(inner, name)
        self.contains = contains
        self.space = SpacePart(inner.space, name, contains)

    # --- what it holds -----------------------------------------------------------------------------------------------

    @property
    def held_count(self) -> int | None:
        return None if self.holds_all else len(self._held_codes)

    def architectures(self) -> Iterator[Architecture]:
        return iter(self.space.architectures(self._held_codes))

    @cached_property
    def _held_codes(self) -> Codes:
        """The codes of all architectures that the inner benchmark holds and that lie inside."""
        return self.space.codes([arch for arch in self.inner.architectures() if self.contains(arch)])

    def holds(self, arch: Architecture, *, fidelity: int | None = None) -> bool:
        return self.contains(arch) and self.inner.holds(arch, fidelity=fidelity)

    def stored_rows(self) -> tuple[Results, NDArray[np.int64]]:
        results, rows = self.inner.stored_rows()
        archs = self.inner.space.architectures(results.cache().codes[rows])
        return results, rows[[self.contains(arch) for arch in archs]]

    # --- answers: only for what lies inside --------------------------------------------------------------------------

    def _query(self, arch: Architecture, fidelity: int, seed: int) -> Observation:
        self.space.validate(arch)
        return super()._query(arch, fidelity, seed)

    def resume(self, arch: Architecture, *, paused: Observation, fidelity: int, seed: int) -> Observation:
        self.space.validate(arch)
        return super().resume(arch, paused=paused, fidelity=fidelity, seed=seed)

    def _query_many(self, archs: Batch, fidelity: int, seed: int) -> Observations:
        self._check_inside(archs)
        return super()._query_many(archs, fidelity, seed)

    def repeats(self, arch: Architecture, *, fidelity: int | None = None) -> list[Observation]:
        self.space.validate(arch)
        return super().repeats(arch, fidelity=fidelity)

    def drawn_repeat(self, arch: Architecture, *, fidelity: int | None = None, seed: int = 0) -> int:
        self.space.validate(arch)
        return super().drawn_repeat(arch, fidelity=fidelity, seed=seed)

    def expected(self, arch: Architecture, *, fidelity: int | None = None) -> Observation:
        self.space.validate(arch)
        return super().expected(arch, fidelity=fidelity)

    def expected_many(self, archs: Batch, *, fidelity: int | None = None) -> Observations:
        self._check_inside(archs)
        return super().expected_many(archs, fidelity=fidelity)

    def mean_test(self, archs: Batch) -> NDArray[np.float64]:
        self._check_inside(archs)
        return super().mean_test(archs)

    def mean_judgement(self, archs: Batch) -> tuple[Metric | None, NDArray[np.float64]]:
        self._check_inside(archs)
        return self.inner.mean_judgement(archs)

    def mean_objective(self, archs: Batch) -> NDArray[np.float64]:
        self._check_inside(archs)
        return self.inner.mean_objective(archs)

    def _check_inside(self, archs: Batch) -> None:
        for arch in self.space.architectures(self.space.codes(archs)):
            self.space.validate(arch)

    # --- the best: that of the inner benchmark may lie outside -------------------------------------------------------

    def optimum(self) -> tuple[Architecture, float]:
        metric, means = self.inner.mean_judgement(self._held_codes)
        if metric is None or self.is_live:
            raise InvalidOption(f"the best of {self.name} is not known; compare with the best that was found")
        best = best_place(means, metric, self.name)
        return self.space.architectures(self._held_codes[best : best + 1])[0], float(means[best])

    def best_answer(self, fidelities: Sequence[int]) -> float:
        """NaN: the best of the inner benchmark may lie outside."""
        return float("nan")

    def best_mean(self, fidelities: Sequence[int]) -> float:
        return float("nan")


def part_of(inner: Benchmark, name: str) -> SubSpace:
    """The part of a benchmark that its space has under a name."""
    parts = inner.space.parts
    if name not in parts:
        remedy = f"it has {', '.join(parts)}" if parts else f"the space {inner.space.name} names none"
        raise InvalidOption(f"{inner.name} has no part called {name!r}; {remedy}")
    return SubSpace(inner, f"{inner.name}{parts[name].suffix}", parts[name].contains)
