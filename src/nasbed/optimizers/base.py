"""What every search method is: it proposes architectures, and is told what their evaluation gave."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from nasbed.core.architecture import Architecture
from nasbed.core.metric import Metric
from nasbed.core.observation import Observation
from nasbed.core.status import Status
from nasbed.spaces.base import SearchSpace


@dataclass(frozen=True, slots=True)
class Problem:
    """What a method may know: the space, what to optimise, the budgets it can ask for, what else is measured.

    ``others`` are further metrics for methods with several objectives. Nothing here leads to the benchmark.
    """

    space: SearchSpace
    objective: Metric
    fidelities: tuple[int, ...]
    others: tuple[Metric, ...] = ()

    def loss(self, observation: Observation) -> float:
        """The objective as something to minimise; infinite for an evaluation that failed or diverged."""
        value = observation.values.get(self.objective)
        if value is None or observation.status is not Status.OK:
            return math.inf
        return -value if self.objective.direction == "maximize" else value


@dataclass(frozen=True, slots=True)
class Proposal:
    """An architecture to evaluate, at a fidelity or, without one, at the highest."""

    architecture: Architecture
    fidelity: int | None = None


class Optimizer(ABC):
    """A search method, made anew for each run from a problem, a random generator and its settings.

    The runner calls ``ask`` when a worker is free and ``tell`` when an evaluation ends, in the order of the simulated
    clock: with several workers, answers come back in another order than they were asked for, and a method may be asked
    again before it hears of what it proposed. All randomness comes from ``rng``, so a run is repeated exactly by
    repeating its calls; that is also how it is resumed.
    """

    name: ClassVar[str]
    summary: ClassVar[str]
    filtered: ClassVar[Literal["draws", "proposals", "never"]] = "draws"
    """Where one of several candidates can be taken by what is known without training: where it draws from the space, at
    random or by mutation; among its proposals, if it keeps no account of them; or nowhere."""

    draws_from_space: ClassVar[bool] = True
    """Whether everything that it proposes comes from the space's own sample, mutate and neighbors, or is checked with
    the space. One that makes architectures from parameters of its own cannot keep to a table that holds few of them."""

    def __init__(self, problem: Problem, rng: np.random.Generator) -> None:
        self.problem = problem
        self.space = problem.space
        self.rng = rng

    @property
    def start_size(self) -> int | None:
        """How many architectures it begins with before what it learned decides; ``None`` for one that never learns.
        10 where a method does not say."""
        return 10

    @property
    def random_start(self) -> int | None:
        """How many evaluations pass before what it learned decides; ``None`` for one that does not say, or never
        learns. It says so by a ``start_size`` of its own. Runs that end within it are remarked on in reports."""
        says = type(self).start_size is not Optimizer.start_size
        return self.start_size if says else None

    def remarks(self) -> Sequence[str]:
        """What a reader of a report should know of this run, a sentence each; asked when the run ends."""
        return ()

    def begin_with(self, arch: Architecture) -> Proposal:
        """Take up an architecture that was chosen for it, as a proposal of its own start; :meth:`tell` answers it."""
        return Proposal(arch)

    @abstractmethod
    def ask(self, n: int = 1) -> list[Proposal]:
        """Between one and ``n`` architectures to evaluate next."""

    @abstractmethod
    def tell(self, observations: Sequence[Observation]) -> None:
        """Learn from evaluations that ended; validation metrics only."""
