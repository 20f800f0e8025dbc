"""Evolution with and without ageing."""

from __future__ import annotations

import heapq
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

from nasbed.core.architecture import Architecture
from nasbed.core.observation import Observation
from nasbed.optimizers.base import Optimizer, Proposal
from nasbed.optimizers.settings import integer, number


@dataclass(eq=False, kw_only=True)
class Evolution(Optimizer):
    """Mutate the best of a random sample of the population. Each result enters the population, and one member leaves.

    The defaults, a population of 100 and tournaments of 10 drawn with replacement, are those of the benchmark scripts
    published with NAS-Bench-101. For the data of Surrogate NAS Benchmarks it was 3000 and 100 (appendix C.3).

    A mutation is ``mutation_rate`` edits by the space, one as in those scripts. A fraction is the probability of one
    more, so at a rate of 0.5 every second child repeats its parent.

    Architectures are random until ``population_size`` results have arrived, so several workers draw a few more. Age
    counts from the arrival of the result. A failed evaluation enters as the worst.
    """

    population_size: int = integer(100, low=1)
    sample_size: int = integer(10, low=1)
    mutation_rate: float = number(1, low=0)

    def __post_init__(self) -> None:
        super().__post_init__()
        self._edits = int(self.mutation_rate)
        self._extra_edit = self.mutation_rate - self._edits
        self._heap: list[tuple[float, int, float, Architecture]] = []
        self._arrivals = 0

    @abstractmethod
    def _survival_score(self, loss: float, arrival: int) -> float:
        """The member with the lowest score is evicted next; among equals the oldest."""

    @property
    def population(self) -> list[Architecture]:
        """The members of the population, the oldest first."""
        return [arch for _, _, _, arch in sorted(self._heap, key=lambda member: member[1])]

    @property
    def start_size(self) -> int:
        return self.population_size

    def ask(self, n: int = 1) -> list[Proposal]:
        if len(self._heap) < self.population_size:
            return [Proposal(self.space.sample(self.rng)) for _ in range(n)]
        return [Proposal(self._child()) for _ in range(n)]

    def _child(self) -> Architecture:
        child = self._parent()
        edits = self._edits
        if self._extra_edit and self.rng.random() < self._extra_edit:
            edits += 1
        for _ in range(edits):
            child = self.space.mutate(child, self.rng)
        return child

    def _parent(self) -> Architecture:
        heap = self._heap
        tournament: list[int] = self.rng.integers(len(heap), size=self.sample_size).tolist()
        best = heap[tournament[0]]
        for index in tournament:
            member = heap[index]
            if member[2] < best[2]:
                best = member
        return best[3]

    def tell(self, observations: Sequence[Observation]) -> None:
        for observation in observations:
            loss = self.problem.loss(observation)
            member = (self._survival_score(loss, self._arrivals), self._arrivals, loss, observation.architecture)
            self._arrivals += 1
            if len(self._heap) < self.population_size:
                heapq.heappush(self._heap, member)
            else:
                heapq.heappushpop(self._heap, member)


class RegularizedEvolution(Evolution):
    """Regularized (ageing) evolution: the oldest leaves (Real et al. 2019). Settings as in :class:`Evolution`."""

    name = "re"
    summary = "regularized evolution"

    def _survival_score(self, loss: float, arrival: int) -> float:
        return arrival


class NonRegularizedEvolution(Evolution):
    """The same, except that the worst leaves, the newcomer included (NAS-Bench-101, section 4.2)."""

    name = "nre"
    summary = "evolution without ageing: the worst leaves the population"

    def _survival_score(self, loss: float, arrival: int) -> float:
        return -loss
