"""Local search with restarts."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

from nasbed.core.architecture import Architecture
from nasbed.core.observation import Observation
from nasbed.optimizers.base import Optimizer, Proposal
from nasbed.optimizers.settings import integer

Code = tuple[int, ...]


@dataclass(eq=False, kw_only=True)
class LocalSearch(Optimizer):
    """From a random architecture, evaluate all neighbours and move to the best while it improves; then start again.

    This is the local search of White et al. (2021, "Exploring the loss landscape in neural architecture search"). The
    neighbourhood is the space's own, evaluated in random order, since a budget may end within it.

    Nothing is evaluated twice, up to the space's canonical form: what was evaluated before counts with its first
    result. A worker that finds the neighbourhood handed out evaluates a new random architecture, whose result counts
    where a later neighbourhood contains it. A start that failed is dropped.

    ``tries`` is how often a draw may repeat an earlier proposal before a repeat is proposed, as must happen in a space
    that is used up. 100 is ours.
    """

    name = "ls"
    summary = "local search with restarts"

    tries: int = integer(100, low=1)

    def __post_init__(self) -> None:
        super().__post_init__()
        self._losses: dict[Code, float] = {}
        self._proposed: set[Code] = set()
        self._starts: list[Architecture] = []
        self._start: Architecture | None = None
        self._current: Architecture | None = None
        self._near: dict[Code, Architecture] = {}
        self._missing: set[Code] = set()
        self._queue: deque[Architecture] = deque()

    def begin_with(self, arch: Architecture) -> Proposal:
        """The first walk starts from the best of these that is evaluated by then. The authors' code evaluates ten
        random ones first."""
        self._proposed.add(self._key(arch))
        self._starts.append(arch)
        return Proposal(arch)

    def ask(self, n: int = 1) -> list[Proposal]:
        return [Proposal(self._next()) for _ in range(n)]

    def _next(self) -> Architecture:
        if self._starts:
            self._begin_walk()
        if self._queue:
            return self._queue.popleft()
        arch = self._new_architecture()
        if self._start is None:
            self._start = arch
            self._missing = {self._key(arch)}
        return arch

    def _begin_walk(self) -> None:
        evaluated = [arch for arch in self._starts if self._key(arch) in self._losses]
        self._starts = []
        if evaluated and self._start is None:
            self._start = min(evaluated, key=lambda arch: self._losses[self._key(arch)])
            self._walk()

    def _new_architecture(self) -> Architecture:
        for _ in range(self.tries):
            arch = self.space.sample(self.rng)
            key = self._key(arch)
            if key not in self._proposed:
                self._proposed.add(key)
                break
        return arch

    def _key(self, arch: Architecture) -> Code:
        return self.space.canonical(arch).code

    def tell(self, observations: Sequence[Observation]) -> None:
        for observation in observations:
            key = self._key(observation.architecture)
            self._proposed.add(key)
            self._losses.setdefault(key, self.problem.loss(observation))
            self._missing.discard(key)
        self._walk()

    def _walk(self) -> None:
        while self._start is not None and not self._missing:
            self._move()

    def _move(self) -> None:
        """All pending results are in: expand the start, move to the best neighbour, or end the walk."""
        if self._current is None:
            best = self._start
            improved = best is not None and self._losses[self._key(best)] < math.inf
        else:
            key = min(self._near, key=self._losses.__getitem__, default=None)
            best = self._near[key] if key is not None else None
            improved = key is not None and self._losses[key] < self._losses[self._key(self._current)]
        if best is not None and improved:
            self._expand(best)
        else:
            self._start = self._current = None

    def _expand(self, arch: Architecture) -> None:
        self._current = arch
        self._near = {self._key(neighbor): neighbor for neighbor in self.space.neighbors(arch)}
        self._near.pop(self._key(arch), None)
        self._missing = {key for key in self._near if key not in self._losses}
        fresh = [key for key in self._near if key not in self._proposed]
        self._proposed.update(fresh)
        self._queue.extend(self._near[fresh[index]] for index in self.rng.permutation(len(fresh)).tolist())
