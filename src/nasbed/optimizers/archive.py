"""The architectures that a run has proposed or evaluated."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

import numpy as np

from nasbed.core.architecture import Architecture
from nasbed.spaces.base import SearchSpace


class ProposalArchive:
    """The architectures evaluated or pending, up to isomorphism, so that a method does not propose one twice.

    A repeated proposal is still possible: in a small space nothing else is left at some point.
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
        """The first architecture that is new, which is then added; ``None`` if none is."""
        for arch in archs:
            if arch not in self:
                self.add(arch)
                return arch
        return None

    def draw(self, make: Callable[[], Architecture]) -> Architecture:
        """A new architecture from ``make``, which is then added; after ``tries`` attempts any will do."""
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
        """New mutants of each parent in turn; none for a parent without neighbours."""
        mutable = [arch for arch in parents if next(self._space.neighbors(arch), None) is not None]
        for attempt in range(tries if mutable else 0):
            arch = self._space.mutate(mutable[attempt % len(mutable)], rng)
            if arch not in self:
                yield arch
