"""Random search."""

from __future__ import annotations

from collections.abc import Sequence

from nasbed.core.observation import Observation
from nasbed.optimizers.base import Optimizer, Proposal


class RandomSearch(Optimizer):
    """Architectures drawn from the space, each at the highest fidelity (Bergstra & Bengio 2012). It has no settings."""

    name = "rs"
    summary = "random search"

    @property
    def start_size(self) -> None:
        return None

    def ask(self, n: int = 1) -> list[Proposal]:
        return [Proposal(self.space.sample(self.rng)) for _ in range(n)]

    def tell(self, observations: Sequence[Observation]) -> None:
        pass
