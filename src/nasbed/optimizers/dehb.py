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
    """A bracket of the same sizes in which every rung takes what the method makes for it. ``first_round`` tells whether
    it is one of the first round of brackets."""

    def __init__(self, schedule: Schedule, *, first_round: bool) -> None:
        super().__init__(schedule)
        self.first_round = first_round

    @property
    def is_lowest(self) -> bool:
        return self._rung == 0

    @property
    def size(self) -> int:
        """How many architectures the current rung holds."""
        return self._schedule[self._rung][0]

    @property
    def lower_fidelity(self) -> int:
        """That of the rung below; of the lowest rung its own."""
        return self._schedule[max(self._rung - 1, 0)][1]

    def _fill(self, size: int) -> None:
        self._open = size


@dataclass(frozen=True, slots=True, eq=False)
class Member:
    """An architecture as a vector, with its loss at one fidelity."""

    vector: Floats
    architecture: Architecture
    loss: float


class Subpopulation:
    """The members at one fidelity, in a fixed number of places that are targets in turn."""

    def __init__(self, size: int) -> None:
        self._members: list[Member | None] = [None] * size
        self._turn = 0

    def next_place(self) -> int:
        place = self._turn
        self._turn = (place + 1) % len(self._members)
        return place

    def __getitem__(self, place: int) -> Member | None:
        """The member at a place, if it was evaluated yet."""
        return self._members[place]

    def select(self, place: int, trial: Member) -> None:
        """The better of a trial and the member at its place stays, the trial if they are equal."""
        member = self._members[place]
        if member is None or trial.loss <= member.loss:
            self._members[place] = trial

    def ranked(self) -> list[Member]:
        """The members whose evaluation ended well, the best first."""
        valued = [member for member in self._members if member is not None and member.loss < math.inf]
        return sorted(valued, key=lambda member: member.loss)


@dataclass(eq=False, kw_only=True)
class DEHB(UnitCubeEvolution, Hyperband):
    """Hyperband's brackets with a population for each fidelity (Awad, Mallik & Hutter 2021).

    The first bracket is Hyperband's: random architectures, the best of which are promoted. In later brackets a new
    architecture is a trial of differential evolution. Its target is the next member of the population at its fidelity.
    Its three parents are among the best of the rung below, as many as the rung itself holds; in the lowest rung of a
    bracket they are from the rung's own population. Where there are fewer than three, others come from all populations.
    A trial that is no worse replaces its target when its result comes.

    As in the authors' code (``dehb/optimizers/dehb.py``), upper rungs of the first round of brackets hold the best
    members at the fidelity below that were not evaluated at theirs; trials fill them from the second round on. In that
    code the first bracket begins with trials of random members. A population is as large as the largest rung at its
    fidelity, and at least 4, which is ours.

    ``eta`` is Hyperband's. ``mutation_factor`` and ``crossover_probability`` are those of the code.
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
        self._evaluated: dict[int, set[Architecture]] = {fidelity: set() for fidelity in sizes}
        self._trials: dict[tuple[Architecture, int], deque[tuple[int, Floats]]] = {}

    def tell(self, observations: Sequence[Observation]) -> None:
        """A result without a target, of a random or promoted architecture, takes the next place in turn."""
        super().tell(observations)
        for observation in observations:
            arch, fidelity = key = self._key(observation.architecture, observation.fidelity)
            population = self._populations.get(fidelity)
            if population is None:
                continue
            self._evaluated[fidelity].add(arch)
            trials = self._trials.get(key)
            if trials:
                place, vector = trials.popleft()
            else:
                place, vector = population.next_place(), self._vector(observation.architecture)
            population.select(place, Member(vector, observation.architecture, self.problem.loss(observation)))
        self._trials = {key: trials for key, trials in self._trials.items() if trials}

    def _new_bracket(self, schedule: Schedule) -> Bracket:
        return EvolvingBracket(schedule, first_round=self._bracket_count < len(self._schedules))

    def _sample(self, bracket: Bracket) -> Architecture:
        assert isinstance(bracket, EvolvingBracket)
        if bracket.is_lowest and self._bracket_count == 1:
            return super()._sample(bracket)
        promoted = None if bracket.is_lowest or not bracket.first_round else self._promotion(bracket)
        return promoted or self._trial(bracket)

    def _promotion(self, bracket: EvolvingBracket) -> Architecture | None:
        """The best member at the fidelity below that was not evaluated at this one and is not about to be."""
        for member in self._populations[bracket.lower_fidelity].ranked():
            arch, _ = key = self._key(member.architecture, bracket.fidelity)
            if arch not in self._evaluated[bracket.fidelity] and key not in self._pending:
                return member.architecture
        return None

    def _trial(self, bracket: EvolvingBracket) -> Architecture:
        """Mutation and crossover for the next target of the bracket's rung."""
        population = self._populations[bracket.fidelity]
        place = population.next_place()
        target = population[place]
        pool = self._parents(bracket)
        arch, vector = self._offspring(
            self._random()[1] if target is None else target.vector,
            lambda: pool[self.rng.choice(len(pool), PARENTS, replace=False)],
        )
        self._trials.setdefault(self._key(arch, bracket.fidelity), deque()).append((place, vector))
        return arch

    def _parents(self, bracket: EvolvingBracket) -> Floats:
        """The vectors that the three parents are drawn from."""
        pool = self._populations[bracket.lower_fidelity].ranked()[: bracket.size]
        if len(pool) < PARENTS:
            everyone = [member for population in self._populations.values() for member in population.ranked()]
            others = [member for member in everyone if member not in pool]
            chosen = self.rng.permutation(len(others))[: PARENTS - len(pool)].tolist()
            pool += [others[position] for position in chosen]
        vectors = [member.vector for member in pool]
        return np.stack([*vectors, *(self._random()[1] for _ in range(PARENTS - len(pool)))])
