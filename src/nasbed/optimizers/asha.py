"""ASHA: asynchronous successive halving."""

from __future__ import annotations

import math
from bisect import bisect_left, insort
from collections.abc import Sequence
from dataclasses import dataclass
from heapq import heappop, heappush

from nasbed.core.architecture import Architecture
from nasbed.core.observation import Observation
from nasbed.optimizers.archive import ProposalArchive
from nasbed.optimizers.base import Optimizer, Proposal
from nasbed.optimizers.hyperband import budgets_of, one_fidelity_remarks
from nasbed.optimizers.settings import number_above


class AsynchronousRung:
    """The results at one fidelity. Its best 1/eta may be promoted, each once, at any time.

    Equal losses rank in the order in which they came. A failed evaluation counts in the size of the rung and is never
    promoted.
    """

    def __init__(self, fidelity: int, eta: float) -> None:
        self.fidelity = fidelity
        self._eta = eta
        self._ranked: list[tuple[float, int]] = []
        self._unpromoted: list[tuple[float, int, Architecture]] = []

    def add(self, arch: Architecture, loss: float) -> None:
        rank = loss, len(self._ranked)
        insort(self._ranked, rank)
        if loss < math.inf:
            heappush(self._unpromoted, (*rank, arch))

    def promote(self) -> Architecture | None:
        """The best architecture that was not promoted yet, if it is among the best 1/eta of all results so far."""
        quota = math.floor(len(self._ranked) / self._eta + 1e-9)
        if not self._unpromoted or bisect_left(self._ranked, self._unpromoted[0][:2]) >= quota:
            return None
        return heappop(self._unpromoted)[2]


@dataclass(eq=False, kw_only=True)
class ASHA(Optimizer):
    """Asynchronous successive halving (Li et al. 2020, "A System for Massively Parallel Hyperparameter Tuning",
    algorithm 2).

    A free worker gets a promotion from the highest rung that has one; else a new random architecture enters the lowest
    rung. Nothing waits for a rung to fill, so it keeps any number of workers busy. A promotion may turn out wrong: a
    later result can displace the architecture from the best of its rung, and is promoted then.

    ``eta``: the share promoted is 1/eta, and rungs lie at least that factor apart, counted from the problem's highest
    fidelity; 3, as for Hyperband here. With a single fidelity it is random search.
    """

    name = "asha"
    summary = "asynchronous successive halving"

    eta: float = number_above(3, 1)

    def __post_init__(self) -> None:
        super().__post_init__()
        budgets = budgets_of(self.problem.fidelities, self.eta)
        self._rungs = [AsynchronousRung(fidelity, self.eta) for fidelity in budgets]
        self._archive = ProposalArchive(self.space)

    @property
    def start_size(self) -> int:
        """As many architectures in the lowest rung as lead one to the highest."""
        return math.ceil(self.eta ** (len(self._rungs) - 1) - 1e-9)

    @property
    def random_start(self) -> int:
        """The evaluations before the first promotion."""
        return math.ceil(self.eta - 1e-9)

    def remarks(self) -> list[str]:
        return one_fidelity_remarks(len(self._rungs), "it is random search")

    def begin_with(self, arch: Architecture) -> Proposal:
        """The proposal is at the fidelity of the lowest rung, from which it is promoted like any other."""
        self._archive.add(arch)
        return Proposal(arch, self._rungs[0].fidelity)

    def ask(self, n: int = 1) -> list[Proposal]:
        return [self._next() for _ in range(n)]

    def _next(self) -> Proposal:
        for position in reversed(range(len(self._rungs) - 1)):
            arch = self._rungs[position].promote()
            if arch is not None:
                return Proposal(arch, self._rungs[position + 1].fidelity)
        return Proposal(self._archive.sample(self.rng), self._rungs[0].fidelity)

    def tell(self, observations: Sequence[Observation]) -> None:
        """A result at the fidelity of a rung enters that rung, whoever proposed it."""
        for observation in observations:
            self._archive.add(observation.architecture)
            fidelity = max(self.problem.fidelities) if observation.fidelity is None else observation.fidelity
            for rung in self._rungs:
                if rung.fidelity == fidelity:
                    rung.add(observation.architecture, self.problem.loss(observation))
