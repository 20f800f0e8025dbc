"""What a run has proposed or heard of."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

import numpy as np

from nasbed.core.architecture import Architecture
from nasbed.spaces.base import SearchSpace


class Seen:
    """The architectures evaluated or pending, up to isomorphism, so that a method does not propose one twice.

    A proposal that is no news is still allowed: in a small space there comes a point at which nothing else is left.
    """

    def __init__(self, space: SearchSpace, *, tries: int = 50) -> None:
        self._space = space
        self._forms: set[Architecture] = set()
        self._tries = tries

    def __contains__(self, arch: Architecture) -> bool:
        return self._space.canonical(arch) in self._forms

    def add(self, arch: Architecture) -> None:
        self._forms.add(self._space.canonical(arch))

    def first_new(self, archs: Iterable[Architecture]) -> Architecture | None:
        """The first that is not known yet, noted as proposed; ``None`` where all are."""
        for arch in archs:
            if arch not in self:
                self.add(arch)
                return arch
        return None

    def draw(self, make: Callable[[], Architecture]) -> Architecture:
        """An architecture from ``make`` that is not known yet, noted as proposed; after ``tries`` any will do."""
        for _ in range(self._tries):
            arch = make()
            if arch not in self:
                break
        self.add(arch)
        return arch

    def sample(self, rng: np.random.Generator) -> Architecture:
        """:meth:`draw` from the whole space."""
        return self.draw(lambda: self._space.sample(rng))

    def mutants(
        self, parents: Sequence[Architecture], rng: np.random.Generator, *, tries: int
    ) -> Iterator[Architecture]:
        """Mutants of each parent in turn, those already known left out; none for a parent without neighbours."""
        able = [arch for arch in parents if next(self._space.neighbors(arch), None) is not None]
        for attempt in range(tries if able else 0):
            arch = self._space.mutate(able[attempt % len(able)], rng)
            if arch not in self:
                yield arch
