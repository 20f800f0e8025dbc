"""The interface of a search method: it proposes architectures and receives their evaluations."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Literal

import numpy as np

from nasbed.core.architecture import Architecture
from nasbed.core.metric import Metric
from nasbed.core.observation import Observation
from nasbed.core.status import Status
from nasbed.optimizers.settings import check_settings
from nasbed.spaces.base import SearchSpace


@dataclass(frozen=True, slots=True)
class Problem:
    """What a method may know: the space, the objective, the fidelities it can ask for, the other metrics.

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

    @property
    def lowest_loss(self) -> float:
        """The loss of the best value that the objective can have; ``-inf`` without such a bound."""
        bound = self.objective.best_bound
        return -bound if self.objective.direction == "maximize" else bound


@dataclass(frozen=True, slots=True)
class Proposal:
    """An architecture to evaluate, at a fidelity or, without one, at the highest."""

    architecture: Architecture
    fidelity: int | None = None


@dataclass(eq=False)
class Optimizer(ABC):
    """A search method, created for each run from a problem, a random generator and its settings.

    The runner calls ``ask`` when a worker is free and ``tell`` when an evaluation ends, in the order of the simulated
    clock. With several workers, results may come back in another order than the proposals. A method may be asked again
    before it has the results of earlier proposals. All randomness comes from ``rng``, so a run is repeated exactly by
    repeating its calls; that is also how it is resumed.

    Settings are keyword arguments of the constructor. The methods here declare them as fields of a dataclass with
    ``eq=False, kw_only=True`` and a range by :mod:`nasbed.optimizers.settings`, and prepare their state in
    ``__post_init__``. A method with an ``__init__`` of its own calls ``super().__init__(problem, rng)``.
    """

    problem: Problem = field(repr=False)
    rng: np.random.Generator = field(repr=False)

    name: ClassVar[str]
    summary: ClassVar[str]
    filtered: ClassVar[Literal["draws", "proposals", "never"]] = "draws"
    """Where a proxy can choose one of several candidates: among random draws and mutations from the space; among the
    method's proposals, if the method does not keep track of them; or nowhere."""

    model_family: ClassVar[str] = ""
    """The family of the method's own model, in the words of :attr:`nasbed.surrogates.base.Surrogate.family`; empty
    where it has none, or one that no surrogate is of."""

    draws_from_space: ClassVar[bool] = True
    """Whether all proposals come from the space's sample, mutate and neighbors, or are checked with the space. A method
    that builds architectures from parameters itself cannot keep to a table that holds few of them."""

    def __post_init__(self) -> None:
        check_settings(self)
        self.space = self.problem.space

    @property
    def start_size(self) -> int | None:
        """How many architectures are evaluated before the method uses what it learned; ``None`` if it never learns.
        The default is 10."""
        return 10

    @property
    def random_start(self) -> int | None:
        """How many evaluations pass before the method uses what it learned; ``None`` if it never learns or defines no
        ``start_size``. Reports carry a remark on runs that end within it."""
        defined = type(self).start_size is not Optimizer.start_size
        return self.start_size if defined else None

    @property
    def own_model(self) -> str:
        """The family of the model with which this run searches, see :attr:`model_family`."""
        return self.model_family

    def remarks(self) -> Sequence[str]:
        """Remarks on this run for a reader of its report, a sentence each; requested when the run ends."""
        return ()

    def begin_with(self, arch: Architecture) -> Proposal:
        """Start with an architecture that the caller chose, as if the method had proposed it."""
        return Proposal(arch)

    @abstractmethod
    def ask(self, n: int = 1) -> list[Proposal]:
        """Between one and ``n`` architectures to evaluate next."""

    @abstractmethod
    def tell(self, observations: Sequence[Observation]) -> None:
        """Learn from evaluations that ended; validation metrics only."""
