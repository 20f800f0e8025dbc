"""Methods guided by a proxy: a warm start, and a choice among several draws."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from nasbed.core.architecture import Architecture
from nasbed.core.observation import Observation
from nasbed.optimizers.base import Optimizer, Proposal
from nasbed.spaces.base import SearchSpace
from nasbed.spaces.part import SpacePart

Choose = Callable[[Sequence[Architecture]], Architecture]
"""Chooses one of several candidates."""


class WarmStarted(Optimizer):
    """A method that begins with the first ``start`` architectures of ``pool`` and then continues by itself. By default
    it begins with as many as it would draw at random."""

    name = "warm-started"
    summary = "another method from a start that was chosen for it"

    def __init__(self, inner: Optimizer, pool: Sequence[Architecture], *, start: int | None = None) -> None:
        super().__init__(inner.problem, inner.rng)
        self.inner = inner
        self._queue = deque(pool[: inner.start_size if start is None else start])
        self._start_count = len(self._queue)

    @property
    def random_start(self) -> int | None:
        """The length of the warm start, or of the method's own start if that is longer."""
        inner_start = self.inner.random_start
        return None if inner_start is None else max(inner_start, self._start_count)

    @property
    def own_model(self) -> str:
        return self.inner.own_model

    def remarks(self) -> Sequence[str]:
        return self.inner.remarks()

    def ask(self, n: int = 1) -> list[Proposal]:
        proposals = [self.inner.begin_with(self._queue.popleft()) for _ in range(min(n, len(self._queue)))]
        return proposals or self.inner.ask(n)

    def tell(self, observations: Sequence[Observation]) -> None:
        self.inner.tell(observations)


class FilteredProposals(Optimizer):
    """Asks a method for ``candidates`` proposals each time and evaluates one of them. The method must not wait for the
    results of the others."""

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

    @property
    def own_model(self) -> str:
        return self.inner.own_model

    def remarks(self) -> Sequence[str]:
        return self.inner.remarks()

    def ask(self, n: int = 1) -> list[Proposal]:
        return [self._next() for _ in range(n)]

    def _next(self) -> Proposal:
        proposals = {proposal.architecture: proposal for proposal in self.inner.ask(self._candidates)}
        return proposals[self._choose(list(proposals))]

    def tell(self, observations: Sequence[Observation]) -> None:
        self.inner.tell(observations)


class FilteredSpace(SpacePart):
    """A space whose random draws and mutations are each chosen from ``candidates``. The first candidate is what the
    space itself would draw."""

    def __init__(self, space: SearchSpace, candidates: int, choose: Choose) -> None:
        super().__init__(space, "the whole", lambda _: True)
        self.title = space.title
        self._candidates = candidates
        self._choose = choose

    @property
    def size(self) -> int:
        return self.parent.size

    def enumerate(self) -> Iterator[Architecture]:
        return self.parent.enumerate()

    def neighbors(self, arch: Architecture) -> Iterator[Architecture]:
        return self.parent.neighbors(arch)

    def sample(self, rng: np.random.Generator) -> Architecture:
        return self._choose([self.parent.sample(rng) for _ in range(self._candidates)])

    def mutate(self, arch: Architecture, rng: np.random.Generator) -> Architecture:
        return self._choose([self.parent.mutate(arch, rng) for _ in range(self._candidates)])
