"""NSGA-II: the objective against what it costs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nasbed.core.architecture import Architecture
from nasbed.core.errors import InvalidArchitecture, InvalidOption, nearest, shorten
from nasbed.core.metric import Metric
from nasbed.core.observation import Observation
from nasbed.core.status import Status
from nasbed.optimizers.base import Optimizer, Problem, Proposal
from nasbed.optimizers.settings import integer, number
from nasbed.spaces.base import SearchSpace

CROSSOVER_TRIES = 5
"""How many crossovers of two codes may be invalid before the first parent is used alone; ours."""


@dataclass(eq=False, kw_only=True)
class NSGA2(Optimizer):
    """Minimise the objective's loss and one further metric, ``second``, by its key (Deb et al. 2002).

    A population of 100 and a crossover probability of 0.9 are Deb et al.'s defaults. Crossover takes each position of
    the code from either parent. Mutation is one edit by the space, the mean number of changes at their rate of 1 / n a
    variable.

    A generation ends when ``population_size`` results have arrived, so no worker waits: late children of the previous
    parents count in the next generation. Architectures are random until the first generation ends. A failed evaluation
    is dominated by every other.
    """

    name = "nsga2"
    summary = "NSGA-II for two objectives"

    second: str = "parameters"
    population_size: int = integer(100, low=2)
    crossover_probability: float = number(0.9, low=0, high=1)

    def __post_init__(self) -> None:
        super().__post_init__()
        self._second = _metric(self.problem, self.second)
        self._population = ParetoPopulation(self.space, self.population_size, self.crossover_probability)
        self._generation: list[tuple[Architecture, tuple[float, float]]] = []

    @property
    def start_size(self) -> int:
        return self.population_size

    @property
    def front(self) -> list[Architecture]:
        """The architectures of the population that nothing in it dominates."""
        return self._population.front

    def ask(self, n: int = 1) -> list[Proposal]:
        if not self._population.archs:
            return [Proposal(self.space.sample(self.rng)) for _ in range(n)]
        return [Proposal(self._population.child(self.rng)) for _ in range(n)]

    def tell(self, observations: Sequence[Observation]) -> None:
        for observation in observations:
            self._generation.append((observation.architecture, self._pair(observation)))
            if len(self._generation) == self.population_size:
                archs, pairs = zip(*self._generation, strict=True)
                self._population.join(archs, np.array(pairs))
                self._generation = []

    def _pair(self, observation: Observation) -> tuple[float, float]:
        value = observation.values.get(self._second)
        if value is None or observation.status is not Status.OK:
            return math.inf, math.inf
        return self.problem.loss(observation), -value if self._second.direction == "maximize" else value


class ParetoPopulation:
    """The best ``size`` architectures so far by several losses, and children of them."""

    def __init__(self, space: SearchSpace, size: int, crossover_probability: float) -> None:
        self._space = space
        self._size = size
        self._crossover_probability = crossover_probability
        self.archs: list[Architecture] = []
        self._losses: NDArray[np.float64] | None = None  # [n, losses]
        self._order: list[tuple[int, float]] = []

    @property
    def front(self) -> list[Architecture]:
        """Those that no other dominates."""
        return [arch for arch, (rank, _) in zip(self.archs, self._order, strict=True) if rank == 0]

    def join(self, archs: Sequence[Architecture], losses: NDArray[np.float64]) -> None:
        """Keep the best of old and new: whole fronts, then the least crowded of the front that is cut."""
        candidates = [*self.archs, *archs]
        all_losses = losses if self._losses is None else np.concatenate([self._losses, losses])
        members: list[int] = []
        self._order = []
        for rank, front in enumerate(nondominated_fronts(all_losses)):
            crowding = crowding_distances(all_losses[front])
            by_room = np.argsort(-crowding, kind="stable")[: self._size - len(members)]
            members += front[by_room].tolist()
            self._order += [(rank, -room) for room in crowding[by_room].tolist()]
            if len(members) == self._size:
                break
        self.archs = [candidates[index] for index in members]
        self._losses = all_losses[members]

    def child(self, rng: np.random.Generator) -> Architecture:
        """A mutant of a parent, or of a mixture of two."""
        return self._space.mutate(self._crossed(rng), rng)

    def _crossed(self, rng: np.random.Generator) -> Architecture:
        first = self._parent(rng)
        if rng.random() >= self._crossover_probability:
            return first
        second = self._parent(rng)
        for _ in range(CROSSOVER_TRIES):
            heads = (rng.random(self._space.code_length) < 0.5).tolist()
            code = tuple(a if head else b for a, b, head in zip(first.code, second.code, heads, strict=True))
            child = Architecture(first.space, code)
            try:
                self._space.validate(child)
            except InvalidArchitecture:
                continue
            return child
        return first

    def _parent(self, rng: np.random.Generator) -> Architecture:
        """The better of two: of the lower front, and within one the less crowded."""
        first, second = rng.integers(len(self.archs), size=2).tolist()
        better: int = second if self._order[second] < self._order[first] else first
        return self.archs[better]


def nondominated_fronts(losses: NDArray[np.float64]) -> list[NDArray[np.int64]]:
    """The rows of ``[n, objectives]``, all to be minimised, by front: the first is dominated by none, the second by
    rows of the first only, and so on.

    >>> [front.tolist() for front in nondominated_fronts(np.array([[1.0, 2], [2, 1], [2, 2], [3, 3]]))]
    [[0, 1], [2], [3]]
    """
    no_worse: NDArray[np.bool_] = np.all(losses[:, None] <= losses, axis=2)
    dominates = no_worse & ~no_worse.T
    above = dominates.sum(axis=0)
    fronts = []
    while (above == 0).any():
        front = np.flatnonzero(above == 0)
        fronts.append(front)
        above[front] = -1
        above -= dominates[front].sum(axis=0)
    return fronts


def crowding_distances(losses: NDArray[np.float64]) -> NDArray[np.float64]:
    """The size of the box between each row's neighbours in its front, infinite at the ends, each objective scaled to 1.

    >>> crowding_distances(np.array([[0.0, 4], [1, 1], [4, 0]])).tolist()
    [inf, 2.0, inf]
    """
    distances = np.zeros(len(losses))
    for column in losses.T:
        if not np.isfinite(column).all():
            continue
        order = np.argsort(column, kind="stable")
        ranked = column[order]
        distances[order[[0, -1]]] = math.inf
        if ranked[-1] > ranked[0]:
            distances[order[1:-1]] += (ranked[2:] - ranked[:-2]) / (ranked[-1] - ranked[0])
    return distances


def _metric(problem: Problem, key: str) -> Metric:
    for metric in problem.others:
        if metric.key == key:
            return metric
    keys = [metric.key for metric in problem.others]
    raise InvalidOption(f"second is a metric other than the objective, got {shorten(key)}; {nearest(str(key), keys)}")
