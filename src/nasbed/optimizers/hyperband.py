"""Hyperband."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from nasbed.core.architecture import Architecture
from nasbed.core.observation import Observation
from nasbed.optimizers.archive import ProposalArchive
from nasbed.optimizers.base import Optimizer, Proposal
from nasbed.optimizers.settings import integer, number_above

Schedule = tuple[tuple[int, int], ...]
"""A bracket: how many architectures its rungs hold, and the fidelity of each."""


def budgets_of(fidelities: Sequence[int], eta: float) -> tuple[int, ...]:
    """The fidelities that lie at least a factor ``eta`` apart, counted from the highest, rising.

    >>> budgets_of(range(1, 101), 3)
    (1, 3, 11, 33, 100)
    """
    budgets = [max(fidelities)]
    while lower := [fidelity for fidelity in fidelities if fidelity * eta <= budgets[-1]]:
        budgets.append(max(lower))
    return tuple(reversed(budgets))


def schedules(budgets: Sequence[int], eta: float) -> tuple[Schedule, ...]:
    """One bracket for each lowest budget, the most aggressive first, of the sizes in table 1 of Li et al. (2018).

    These are also HpBandSter's: the number of budgets that a bracket could pay for is rounded down before it is
    multiplied by ``eta`` for each halving. Algorithm 1 of the paper rounds the product up instead, and so would start
    with 34, 15 and 8 architectures where its table 1 has 27, 9 and 6.

    >>> schedules((4, 12, 36), 3)
    (((9, 4), (3, 12), (1, 36)), ((3, 12), (1, 36)), ((3, 36),))
    """
    brackets = []
    for halvings in reversed(range(len(budgets))):
        start = len(budgets) // (halvings + 1) * eta**halvings
        sizes = (max(1, math.floor(start / eta**rung + 1e-9)) for rung in range(halvings + 1))
        brackets.append(tuple(zip(sizes, budgets[-halvings - 1 :], strict=True)))
    return tuple(brackets)


def one_fidelity_remarks(rungs: int, left: str) -> list[str]:
    """The remark of a method with several fidelities where there is one rung; ``left`` is what the method is then."""
    return [] if rungs > 1 else [f"With one fidelity to choose from there is nothing to stop early: {left}."]


class Bracket:
    """Successive halving: the best of a rung are promoted to the next when all its results are in."""

    def __init__(self, schedule: Schedule) -> None:
        self._schedule = schedule
        self._rung = 0
        self._ready: deque[Architecture] = deque()
        self._open = schedule[0][0]
        self._waiting = 0
        self._results: list[tuple[float, Architecture]] = []

    @property
    def fidelity(self) -> int:
        return self._schedule[self._rung][1]

    @property
    def wants_new(self) -> bool:
        """Whether its current rung, in Hyperband the lowest, still takes new architectures."""
        return self._open > 0

    @property
    def finished(self) -> bool:
        return not (self._open or self._ready or self._waiting)

    def start(self, arch: Architecture) -> Proposal:
        """Fill a place of the current rung with a new architecture."""
        self._open -= 1
        self._waiting += 1
        return Proposal(arch, self.fidelity)

    def promoted(self) -> Proposal | None:
        """An architecture to promote to this rung, if one is left."""
        if not self._ready:
            return None
        self._waiting += 1
        return Proposal(self._ready.popleft(), self.fidelity)

    def tell(self, arch: Architecture, loss: float) -> None:
        """Note a result. A failed evaluation is never promoted; a bracket ends if all its evaluations failed."""
        self._waiting -= 1
        self._results.append((loss, arch))
        if not self.finished or self._rung + 1 == len(self._schedule):
            return
        self._rung += 1
        self._fill(self._schedule[self._rung][0])
        self._results = []

    def _fill(self, size: int) -> None:
        """Promote the best of the finished rung to the next one, which holds ``size``."""
        ranked = sorted((pair for pair in self._results if pair[0] < math.inf), key=lambda pair: pair[0])
        self._ready.extend(arch for _, arch in ranked[:size])


@dataclass(eq=False, kw_only=True)
class Hyperband(Optimizer):
    """Successive halving over brackets that trade many short evaluations for few long ones (Li et al. 2018).

    ``eta``: the share promoted is 1/eta, and rungs lie at least that factor apart; 3, as in HpBandSter and as the
    budgets of NAS-Bench-101 are spaced. Only fidelities that the problem has are used, from ``lowest_fidelity`` on; the
    highest always is. With a single one it is random search. If no open bracket has work for a worker, the worker opens
    the next one, so no worker waits.
    """

    name = "hb"
    summary = "Hyperband"

    on_one_fidelity: ClassVar[str] = "it is random search"
    """What is left of the method where there is nothing to stop early."""

    eta: float = number_above(3, 1)
    lowest_fidelity: int | None = integer(None, low=1)

    def __post_init__(self) -> None:
        super().__post_init__()
        lowest = min(self.lowest_fidelity or 0, max(self.problem.fidelities))
        fidelities = [fidelity for fidelity in self.problem.fidelities if fidelity >= lowest]
        self._schedules = schedules(budgets_of(fidelities, self.eta), self.eta)
        self._bracket_count = 0
        self._brackets: list[Bracket] = []
        self._pending: dict[tuple[Architecture, int], deque[Bracket]] = {}
        self._archive = ProposalArchive(self.space)

    @property
    def start_size(self) -> int:
        """The lowest rung of the first bracket."""
        return self._schedules[0][0][0]

    def remarks(self) -> list[str]:
        return one_fidelity_remarks(self._rungs, self.on_one_fidelity)

    @property
    def _rungs(self) -> int:
        """How many fidelities it chooses from."""
        return len(self._schedules[0])

    def begin_with(self, arch: Architecture) -> Proposal:
        """The proposal is at the fidelity of a lowest rung, from which it is promoted like any other."""
        self._archive.add(arch)
        bracket = next((candidate for candidate in self._brackets if candidate.wants_new), None) or self._open()
        return self._register(bracket, bracket.start(arch))

    def ask(self, n: int = 1) -> list[Proposal]:
        return [self._next() for _ in range(n)]

    def tell(self, observations: Sequence[Observation]) -> None:
        for observation in observations:
            self._archive.add(observation.architecture)
            waiting = self._pending.get(self._key(observation.architecture, observation.fidelity))
            if waiting:
                waiting.popleft().tell(observation.architecture, self.problem.loss(observation))
        self._pending = {key: waiting for key, waiting in self._pending.items() if waiting}
        self._brackets = [bracket for bracket in self._brackets if not bracket.finished]

    def _sample(self, bracket: Bracket) -> Architecture:
        """A new architecture for the current rung of a bracket: from the space, at random."""
        return self._archive.sample(self.rng)

    def _next(self) -> Proposal:
        for bracket in self._brackets:
            proposal = bracket.promoted()
            if proposal is None and bracket.wants_new:
                proposal = bracket.start(self._sample(bracket))
            if proposal is not None:
                break
        else:
            bracket = self._open()
            proposal = bracket.start(self._sample(bracket))
        return self._register(bracket, proposal)

    def _open(self) -> Bracket:
        bracket = self._new_bracket(self._schedules[self._bracket_count % len(self._schedules)])
        self._bracket_count += 1
        self._brackets.append(bracket)
        return bracket

    def _new_bracket(self, schedule: Schedule) -> Bracket:
        return Bracket(schedule)

    def _register(self, bracket: Bracket, proposal: Proposal) -> Proposal:
        self._pending.setdefault(self._key(proposal.architecture, proposal.fidelity), deque()).append(bracket)
        return proposal

    def _key(self, arch: Architecture, fidelity: int | None) -> tuple[Architecture, int]:
        return self.space.canonical(arch), fidelity if fidelity is not None else max(self.problem.fidelities)
