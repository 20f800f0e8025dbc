"""Local search with restarts."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

from nasbed.core.architecture import Architecture
from nasbed.core.observation import Observation
from nasbed.optimizers.base import Optimizer, Proposal
from nasbed.optimizers.settings import flag, integer

Code = tuple[int, ...]


@dataclass(eq=False, kw_only=True)
class LocalSearch(Optimizer):
    """From a random architecture, evaluate all neighbours and move to the best while it improves; then start again.

    This is the local search of White et al. (2021, "Exploring the loss landscape in neural architecture search"). The
    neighbourhood is the space's own, evaluated in random order, since a budget may end within it.

    A walk begins at the best of ``starts`` random architectures. With ``first_improvement`` it moves as soon as a
    neighbour is better, and the rest of the neighbourhood is not evaluated. The authors' code has 10 starts and moves
    at the first improvement; the defaults, 1 and the whole neighbourhood, are the basic algorithm of their paper.

    Nothing is evaluated twice, up to the space's canonical form: what was evaluated before counts with its first
    result. A worker that finds the neighbourhood handed out evaluates a new random architecture, whose result counts
    where a later neighbourhood contains it. A start that failed is dropped.

    ``tries`` is how often a draw may repeat an earlier proposal before a repeat is proposed, as must happen in a space
    that is used up. 100 is ours.
    """

    name = "ls"
    summary = "local search with restarts"

    starts: int = integer(1, low=1)
    first_improvement: bool = flag(False)
    tries: int = integer(100, low=1)

    def __post_init__(self) -> None:
        super().__post_init__()
        self._losses: dict[Code, float] = {}
        self._proposed: set[Code] = set()
        self._warm_start: list[Architecture] = []
        self._walking = False
        self._starts_to_draw = 0
        self._current: Code | None = None
        self._candidates: dict[Code, Architecture] = {}
        """Where the walk may go next: its starts, then the neighbours of the current architecture."""
        self._missing: set[Code] = set()
        self._queue: deque[tuple[Code, Architecture]] = deque()

    def begin_with(self, arch: Architecture) -> Proposal:
        """The first walk starts from the best of these that is evaluated by then."""
        self._proposed.add(self._key(arch))
        self._warm_start.append(arch)
        return Proposal(arch)

    def ask(self, n: int = 1) -> list[Proposal]:
        return [Proposal(self._next()) for _ in range(n)]

    def _next(self) -> Architecture:
        if self._warm_start:
            self._begin_warm_walk()
        if self._queue:
            key, arch = self._queue.popleft()
            self._proposed.add(key)
            return arch
        arch = self._new_architecture()
        if not self._walking:
            self._begin_walk({})
            self._starts_to_draw = self.starts
        if self._starts_to_draw:
            self._starts_to_draw -= 1
            self._candidates[self._key(arch)] = arch
            self._missing.add(self._key(arch))
        return arch

    def _begin_warm_walk(self) -> None:
        keyed = {self._key(arch): arch for arch in self._warm_start}
        evaluated = {key: arch for key, arch in keyed.items() if key in self._losses}
        self._warm_start = []
        if evaluated and not self._walking:
            self._begin_walk(evaluated)
            self._walk()

    def _begin_walk(self, candidates: dict[Code, Architecture]) -> None:
        self._walking = True
        self._candidates = candidates

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
            if key in self._missing:
                self._missing.remove(key)
                if self.first_improvement and self._current is not None and self._improves(key):
                    self._keep_only(key)
        self._walk()

    def _improves(self, key: Code) -> bool:
        return self._losses[key] < (math.inf if self._current is None else self._losses[self._current])

    def _keep_only(self, key: Code) -> None:
        """Drop the rest of the neighbourhood, so that the walk moves there next."""
        self._candidates = {key: self._candidates[key]}
        self._missing = set()
        self._queue.clear()

    def _walk(self) -> None:
        while self._walking and not self._missing and not self._starts_to_draw:
            self._move()

    def _move(self) -> None:
        """All pending results are in: move to the best start or neighbour if it improves, or end the walk."""
        key = min(self._candidates, key=self._losses.__getitem__, default=None)
        if key is not None and self._improves(key):
            self._expand(key, self._candidates[key])
        else:
            self._walking, self._current = False, None

    def _expand(self, key: Code, arch: Architecture) -> None:
        self._current = key
        self._candidates = {self._key(neighbor): neighbor for neighbor in self.space.neighbors(arch)}
        self._candidates.pop(key, None)
        evaluated = [near for near in self._candidates if near in self._losses]
        self._missing = self._candidates.keys() - evaluated
        fresh = [near for near in self._candidates if near not in self._proposed]
        order = self.rng.permutation(len(fresh)).tolist()
        self._queue.extend((fresh[index], self._candidates[fresh[index]]) for index in order)
        best = min(evaluated, key=self._losses.__getitem__, default=None)
        if self.first_improvement and best is not None and self._improves(best):
            self._keep_only(best)
