"""The part that model-based methods share: they fit a model to the evaluations so far."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence

from nasbed.core.architecture import Architecture
from nasbed.core.observation import Observation
from nasbed.optimizers.archive import ProposalArchive
from nasbed.optimizers.base import Optimizer, Proposal


class ModelBased(Optimizer):
    """A method that proposes each architecture once and learns from the evaluations that succeeded."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self._archive = ProposalArchive(self.space)
        self._archs: list[Architecture] = []
        self._losses: list[float] = []

    def begin_with(self, arch: Architecture) -> Proposal:
        self._archive.add(arch)
        return Proposal(arch)

    def ask(self, n: int = 1) -> list[Proposal]:
        return [Proposal(self._next()) for _ in range(n)]

    def tell(self, observations: Sequence[Observation]) -> None:
        for observation in observations:
            self._archive.add(observation.architecture)
            self._learn(observation.architecture, self.problem.loss(observation))

    @abstractmethod
    def _next(self) -> Architecture:
        """The next architecture to evaluate, noted in the archive."""

    def _learn(self, arch: Architecture, loss: float) -> None:
        """Note an evaluation. A failed one, of infinite loss, is in the archive but not learned from."""
        if loss < math.inf:
            self._archs.append(arch)
            self._losses.append(loss)
