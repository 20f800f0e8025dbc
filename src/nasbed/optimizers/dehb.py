"""DEHB: Hyperband whose rungs evolve by differential evolution."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from nasbed.core.architecture import Architecture
from nasbed.core.observation import Observation
from nasbed.optimizers.hyperband import Bracket, Hyperband, Schedule
from nasbed.optimizers.parameters import Floats
from nasbed.optimizers.unit_cube import FEWEST, UnitCubeEvolution

PARENTS = 3
"""How many vectors rand1 adds up."""


class EvolvingBracket(Bracket):
    """A bracket of the same sizes in which every rung takes new architectures: nothing is promoted."""

    @property
    def size(self) -> int:
        """How many architectures the current rung holds."""
        return self._schedule[self._rung][0]

    @property
    def parents_fidelity(self) -> int:
        """The fidelity whose best are the parents: that of the rung below; the lowest rung has its own."""
        return self._schedule[max(self._rung - 1, 0)][1]

    def _fill(self, size: int) -> None:
        self._open = size


class Subpopulation:
    """The vectors at one fidelity, in a fixed number of places. A place is a target in its turn, whether it was
    evaluated yet or not."""

    def __init__(self, size: int) -> None:
        self.vectors: list[Floats | None] = [None] * size
        self._losses = np.full(size, math.inf)
        self._turn = 0

    def next_place(self) -> int:
        place = self._turn
        self._turn = (place + 1) % len(self.vectors)
        return place

    def select(self, place: int, vector: Floats, loss: float) -> None:
        """The better of a trial and what stands at its place, the trial if they are equal."""
        if loss <= self._losses[place]:
            self.vectors[place], self._losses[place] = vector, loss

    def best(self, count: int | None = None) -> list[Floats]:
        """The ``count`` best that were evaluated, the best first; all of them by default."""
        order = np.argsort(self._losses, kind="stable")[:count]
        chosen = ((self._losses[place], self.vectors[place]) for place in order.tolist())
        return [vector for loss, vector in chosen if vector is not None and loss < math.inf]


@dataclass(eq=False, kw_only=True)
class DEHB(UnitCubeEvolution, Hyperband):
    """Hyperband's brackets with a population for each fidelity (Awad, Mallik & Hutter 2021).

    The first bracket is Hyperband's: random architectures, the best of which are promoted. In all later ones each place
    of each rung is a trial of differential evolution. Its target is the next member of the population at that fidelity,
    its three parents are among the best of the rung below, as many as the rung itself holds. In the lowest rung of a
    bracket they are from the rung's own population. Where these are fewer than three, others come from all populations.
    Selection is immediate: a trial that is no worse replaces its target when its result comes.

    A population is as large as the largest rung at its fidelity, and at least 4, which is ours. ``eta`` is Hyperband's.
    ``mutation_factor`` and ``crossover_probability`` are 0.5 each, as in the authors' code (``dehb/optimizers``). In
    that code, and not here, the first bracket begins with trials of a random population, and the others of the first
    round promote too.
    """

    name = "dehb"
    summary = "Hyperband with differential evolution"
    on_one_fidelity = f"it is differential evolution of a population of {FEWEST}, use de, whose population is larger"

    def __post_init__(self) -> None:
        super().__post_init__()
        sizes: dict[int, int] = {}
        for size, fidelity in (rung for schedule in self._schedules for rung in schedule):
            sizes[fidelity] = max(size, sizes.get(fidelity, FEWEST))
        self._populations = {fidelity: Subpopulation(size) for fidelity, size in sizes.items()}
        self._trials: dict[tuple[Architecture, int], deque[tuple[int, Floats]]] = {}

    def tell(self, observations: Sequence[Observation]) -> None:
        """A result without a target, from the first bracket or of another's proposal, takes the next place in turn."""
        super().tell(observations)
        for observation in observations:
            key = self._key(observation.architecture, observation.fidelity)
            population = self._populations.get(key[1])
            if population is None:
                continue
            trials = self._trials.get(key)
            if trials:
                place, vector = trials.popleft()
            else:
                place, vector = population.next_place(), self._vector(observation.architecture)
            population.select(place, vector, self.problem.loss(observation))
        self._trials = {key: trials for key, trials in self._trials.items() if trials}

    def _new_bracket(self, schedule: Schedule) -> Bracket:
        return EvolvingBracket(schedule) if self._bracket_count else Bracket(schedule)

    def _sample(self, bracket: Bracket) -> Architecture:
        if not isinstance(bracket, EvolvingBracket):
            return super()._sample(bracket)
        population = self._populations[bracket.fidelity]
        place = population.next_place()
        target = population.vectors[place]
        if target is None:
            target = self._random()[1]
        pool = self._parents(bracket)
        arch, vector = self._offspring(target, lambda: pool[self.rng.choice(len(pool), PARENTS, replace=False)])
        self._trials.setdefault(self._key(arch, bracket.fidelity), deque()).append((place, vector))
        return arch

    def _parents(self, bracket: EvolvingBracket) -> Floats:
        """The vectors that a trial's three parents are drawn from."""
        pool = self._populations[bracket.parents_fidelity].best(bracket.size)
        if len(pool) < PARENTS:
            everyone = [vector for population in self._populations.values() for vector in population.best()]
            others = [vector for vector in everyone if not any(vector is parent for parent in pool)]
            chosen = self.rng.permutation(len(others))[: PARENTS - len(pool)].tolist()
            pool += [others[position] for position in chosen]
        pool += [self._random()[1] for _ in range(PARENTS - len(pool))]
        return np.stack(pool)
