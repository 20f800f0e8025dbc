"""Differential evolution on the unit cube."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nasbed.core.architecture import Architecture
from nasbed.core.observation import Observation
from nasbed.optimizers.base import Optimizer, Proposal
from nasbed.optimizers.parameters import Parameters
from nasbed.optimizers.settings import integer, number

TRIES = 20
"""How often an invalid trial vector is redrawn before a random architecture replaces it; ours."""

FEWEST = 4
"""A target and the three others that rand1 adds up."""


@dataclass(eq=False, kw_only=True)
class DifferentialEvolution(Optimizer):
    """rand1/bin over vectors that have one place in [0, 1] for each parameter of the space's ConfigSpace.

    A categorical is decoded to the nearest of its evenly spaced options, as in Surrogate NAS Benchmarks (appendix C.3).
    The code of Awad et al. cuts [0, 1] into equal parts instead, so that all options are equally likely. Inactive
    parameters keep their places: they are inherited, and count again once active.

    The defaults are a population of 20, mutation factor 0.5 and crossover probability 0.5. They are those of the
    scripts of Awad et al. (2020, "Differential evolution for neural architecture search"), which also redraw a
    component outside [0, 1]. Surrogate NAS Benchmarks took generations of 100.

    Selection waits for a whole generation. As in that appendix, a worker that finds all trials handed out evaluates a
    random architecture, which does not enter the population.
    """

    name = "de"
    summary = "differential evolution (rand1/bin)"
    draws_from_space = False

    population_size: int = integer(20, low=FEWEST)
    mutation_factor: float = number(0.5, low=0, high=2)
    crossover_probability: float = number(0.5, low=0, high=1)

    def __post_init__(self) -> None:
        super().__post_init__()
        self._parameters = Parameters(self.space)
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

    def _enqueue(self, place: int, arch: Architecture, vector: NDArray[np.float64]) -> None:
        self._trials[place] = vector
        self._queue.append((place, arch))

    def _trial(self, place: int) -> tuple[Architecture, NDArray[np.float64]]:
        for _ in range(TRIES):
            indices = self.rng.choice(self.population_size - 1, size=3, replace=False)
            base, plus, minus = self._population[indices + (indices >= place)]
            mutant = base + self.mutation_factor * (plus - minus)
            outside = (mutant < 0) | (mutant > 1)
            mutant[outside] = self.rng.random(int(outside.sum()))
            crossed = self.rng.random(len(mutant)) < self.crossover_probability
            crossed[self.rng.integers(len(mutant))] = True
            vector = np.where(crossed, mutant, self._population[place])
            arch = self._parameters.nearest(vector)
            if arch is not None:
                return arch, vector
        return self._random()

    def _random(self) -> tuple[Architecture, NDArray[np.float64]]:
        arch = self.space.sample(self.rng)
        return arch, self._vector(arch)

    def _vector(self, arch: Architecture) -> NDArray[np.float64]:
        """The vector of an architecture, with random values for its inactive parameters."""
        vector = self._parameters.in_cube(arch)
        inactive = np.isnan(vector)
        vector[inactive] = self.rng.random(int(inactive.sum()))
        return vector
