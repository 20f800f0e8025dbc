"""Differential evolution on the unit cube."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from nasbed.core.architecture import Architecture
from nasbed.core.observation import Observation
from nasbed.optimizers.base import Proposal
from nasbed.optimizers.parameters import Floats
from nasbed.optimizers.settings import integer
from nasbed.optimizers.unit_cube import FEWEST, UnitCubeEvolution


@dataclass(eq=False, kw_only=True)
class DifferentialEvolution(UnitCubeEvolution):
    """Differential evolution of one population (Awad et al. 2020, "Differential evolution for neural architecture
    search"), with the mutation and crossover of :class:`~nasbed.optimizers.unit_cube.UnitCubeEvolution`.

    The default population of 20 is that of the authors' scripts. Surrogate NAS Benchmarks took generations of 100.

    Selection waits for a whole generation. As in appendix C.3 of Surrogate NAS Benchmarks, a worker that finds all
    trials handed out evaluates a random architecture, which does not enter the population.
    """

    name = "de"
    summary = "differential evolution (rand1/bin)"

    population_size: int = integer(20, low=FEWEST)

    def __post_init__(self) -> None:
        super().__post_init__()
        self._population = np.empty((self.population_size, len(self._parameters)))
        self._losses = np.full(self.population_size, math.inf)
        self._trials = np.empty_like(self._population)
        self._trial_losses = np.full(self.population_size, math.inf)
        self._open = self.population_size
        self._queue: deque[tuple[int, Architecture]] = deque()
        self._waiting: dict[Architecture, deque[int]] = {}
        for place in range(self.population_size):
            self._enqueue(place, *self._random())

    @property
    def start_size(self) -> int:
        return self.population_size

    def begin_with(self, arch: Architecture) -> Proposal:
        """The architecture replaces the next one in the queue, if there is one."""
        if self._queue:
            place, _ = self._queue.popleft()
            self._trials[place] = self._vector(arch)
            self._waiting.setdefault(arch, deque()).append(place)
        return Proposal(arch)

    def ask(self, n: int = 1) -> list[Proposal]:
        return [Proposal(self._next()) for _ in range(n)]

    def _next(self) -> Architecture:
        if not self._queue:
            return self.space.sample(self.rng)
        place, arch = self._queue.popleft()
        self._waiting.setdefault(arch, deque()).append(place)
        return arch

    def tell(self, observations: Sequence[Observation]) -> None:
        for observation in observations:
            places = self._waiting.get(observation.architecture)
            if not places:
                continue
            self._trial_losses[places.popleft()] = self.problem.loss(observation)
            self._open -= 1
            if not self._open:
                self._select()

    def _select(self) -> None:
        """The better of each target and its trial, the trial if they are equal; then the next generation's trials."""
        replaces = self._trial_losses <= self._losses
        self._population[replaces] = self._trials[replaces]
        self._losses[replaces] = self._trial_losses[replaces]
        self._waiting.clear()
        self._open = self.population_size
        for place in range(self.population_size):
            self._enqueue(place, *self._trial(place))

    def _enqueue(self, place: int, arch: Architecture, vector: Floats) -> None:
        self._trials[place] = vector
        self._queue.append((place, arch))

    def _trial(self, place: int) -> tuple[Architecture, Floats]:
        def draw_parents() -> Floats:
            """Three members of the population other than the target."""
            indices = self.rng.choice(self.population_size - 1, size=3, replace=False)
            return self._population[indices + (indices >= place)]

        return self._offspring(self._population[place], draw_parents)
