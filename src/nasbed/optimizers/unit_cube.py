"""Mutation and crossover of differential evolution, on the unit cube of a space's parameters."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from nasbed.core.architecture import Architecture
from nasbed.optimizers.base import Optimizer
from nasbed.optimizers.parameters import Floats, Parameters
from nasbed.optimizers.settings import number

TRIES = 20
"""How often an invalid trial vector is redrawn before a random architecture replaces it; ours."""

FEWEST = 4
"""A target and the three others that rand1 adds up."""


@dataclass(eq=False, kw_only=True)
class UnitCubeEvolution(Optimizer):
    """rand1/bin over vectors that have one place in [0, 1] for each parameter of the space's ConfigSpace.

    A categorical is decoded to the nearest of its evenly spaced options, as in Surrogate NAS Benchmarks (appendix C.3).
    The code of Awad et al. cuts [0, 1] into equal parts instead, so that all options are equally likely. Inactive
    parameters keep their places: they are inherited, and count again once active. A component outside [0, 1] is
    redrawn, as in the scripts of Awad et al., whose mutation factor 0.5 and crossover probability 0.5 are the defaults.
    """

    draws_from_space = False

    mutation_factor: float = number(0.5, low=0, high=2)
    crossover_probability: float = number(0.5, low=0, high=1)

    def __post_init__(self) -> None:
        super().__post_init__()
        self._parameters = Parameters(self.space)

    def _offspring(self, target: Floats, draw_parents: Callable[[], Floats]) -> tuple[Architecture, Floats]:
        """A valid trial for a target, with its vector. ``draw_parents`` returns the three vectors of rand1."""
        for _ in range(TRIES):
            base, plus, minus = draw_parents()
            mutant = base + self.mutation_factor * (plus - minus)
            outside = (mutant < 0) | (mutant > 1)
            mutant[outside] = self.rng.random(int(outside.sum()))
            crossed = self.rng.random(len(mutant)) < self.crossover_probability
            crossed[self.rng.integers(len(mutant))] = True
            vector = np.where(crossed, mutant, target)
            arch = self._parameters.nearest(vector)
            if arch is not None:
                return arch, vector
        return self._random()

    def _random(self) -> tuple[Architecture, Floats]:
        arch = self.space.sample(self.rng)
        return arch, self._vector(arch)

    def _vector(self, arch: Architecture) -> Floats:
        """The vector of an architecture, with random values for its inactive parameters."""
        vector = self._parameters.in_cube(arch)
        inactive = np.isnan(vector)
        vector[inactive] = self.rng.random(int(inactive.sum()))
        return vector
