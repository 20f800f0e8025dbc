"""Methods guided by what is known without training: where they begin, and which of several draws they take."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from nasbed.core.architecture import Architecture
from nasbed.core.observation import Observation
from nasbed.optimizers.base import Optimizer, Proposal
from nasbed.spaces.base import SearchSpace
from nasbed.spaces.part import Part

Choose = Callable[[Sequence[Architecture]], Architecture]
"""Takes one of several candidates."""


class WarmStarted(Optimizer):
    """A method that begins with the architectures of ``pool``, in order, and goes on by itself: with ``start`` of them,
    or with as many as it would otherwise begin with."""

    name = "warm-started"
    summary = "another method from a start that was chosen for it"

    def __init__(self, inner: Optimizer, pool: Sequence[Architecture], *, start: int | None = None) -> None:
        super().__init__(inner.problem, inner.rng)
        self.inner = inner
        self._left = deque(pool[: inner.start_size if start is None else start])
        self._given = len(self._left)

    @property
    def random_start(self) -> int | None:
        """What it was given, and what the method still draws at random after that."""
        own = self.inner.random_start
        return None if own is None else max(own, self._given)

    def remarks(self) -> Sequence[str]:
        return self.inner.remarks()

    def ask(self, n: int = 1) -> list[Proposal]:
        given = [self.inner.begin_with(self._left.popleft()) for _ in range(min(n, len(self._left)))]
        return given or self.inner.ask(n)

    def tell(self, observations: Sequence[Observation]) -> None:
        self.inner.tell(observations)


class FilteredProposals(Optimizer):
    """A method that is asked for ``candidates`` proposals each time, of which one is evaluated. It must not wait for
    answers to the others."""

    name = "filtered"
    summary = "one of several proposals of another method"

    def __init__(self, inner: Optimizer, candidates: int, choose: Choose) -> None:
        super().__init__(inner.problem, inner.rng)
        self.inner = inner
        self._candidates = candidates
        self._choose = choose

    @property
    def random_start(self) -> int | None:
        return self.inner.random_start

    def remarks(self) -> Sequence[str]:
        return self.inner.remarks()

    def ask(self, n: int = 1) -> list[Proposal]:
        return [self._next() for _ in range(n)]

    def _next(self) -> Proposal:
        proposals = {proposal.architecture: proposal for proposal in self.inner.ask(self._candidates)}
        return proposals[self._choose(list(proposals))]

    def tell(self, observations: Sequence[Observation]) -> None:
        self.inner.tell(observations)


class FilteredSpace(Part):
    """All of a space, except that a random draw and a mutation are one of ``candidates`` such. The first candidate is
    what the space itself would have given."""

    def __init__(self, whole: SearchSpace, candidates: int, choose: Choose) -> None:
        super().__init__(whole, "the whole", lambda _: True)
        self.title = whole.title
        self._candidates = candidates
        self._choose = choose

    @property
    def size(self) -> int:
        return self.whole.size

    def enumerate(self) -> Iterator[Architecture]:
        return self.whole.enumerate()

    def neighbors(self, arch: Architecture) -> Iterator[Architecture]:
        return self.whole.neighbors(arch)

    def sample(self, rng: np.random.Generator) -> Architecture:
        return self._choose([self.whole.sample(rng) for _ in range(self._candidates)])

    def mutate(self, arch: Architecture, rng: np.random.Generator) -> Architecture:
        return self._choose([self.whole.mutate(arch, rng) for _ in range(self._candidates)])
