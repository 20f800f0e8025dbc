"""BANANAS: an ensemble of networks on the path encoding guides mutations of the best architectures."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from nasbed.core.architecture import Architecture
from nasbed.core.errors import InvalidOption
from nasbed.core.observation import Observation
from nasbed.optimizers.base import Optimizer, Problem, Proposal
from nasbed.optimizers.perceptrons import Perceptrons
from nasbed.optimizers.seen import Seen


class Bananas(Optimizer):
    """Bayesian optimisation with a neural predictor (White, Neiswanger & Savani 2021), as the Surrogate NAS
    Benchmarks ran it.

    From appendix C.3 of the latter: ``initial`` random architectures 100, ``members`` of the ensemble 3 rather than
    5, early stopping on a tenth held out. From the former: batches of ``k`` 10, ``candidates`` 100 by mutating the
    ``parents`` 10 best, networks of ``layers`` 10 of ``width`` 20 trained for up to ``epochs`` 150 with batches of 32
    and Adam's ``learning_rate`` 0.01. Our own: ``patience`` 20 epochs. The networks see the path encoding where the
    space has one, indicators elsewhere.
    """

    name = "bananas"
    summary = "Bayesian optimisation with an ensemble of networks on path encodings"

    def __init__(
        self,
        problem: Problem,
        rng: np.random.Generator,
        *,
        initial: int = 100,
        k: int = 10,
        members: int = 3,
        candidates: int = 100,
        parents: int = 10,
        layers: int = 10,
        width: int = 20,
        epochs: int = 150,
        patience: int = 20,
        learning_rate: float = 0.01,
    ) -> None:
        super().__init__(problem, rng)
        if min(initial, k, members, candidates, parents, layers, width, epochs) < 1:
            raise InvalidOption(
                "initial, k, members, candidates, parents, layers, width and epochs are at least 1, got "
                f"{(initial, k, members, candidates, parents, layers, width, epochs)}"
            )
        self._initial, self._k, self._candidates, self._parents = initial, k, candidates, parents
        self._networks = Perceptrons(
            members=members,
            layers=layers,
            width=width,
            epochs=epochs,
            patience=patience,
            batch=32,
            learning_rate=learning_rate,
        )
        self._encoding = "path" if "path" in self.space.encodings else "onehot"
        self._seen = Seen(self.space)
        self._asked = 0
        self._batch: deque[Architecture] = deque()
        self._archs: list[Architecture] = []
        self._losses: list[float] = []

    @property
    def start_size(self) -> int:
        return self._initial

    def begin_with(self, arch: Architecture) -> Proposal:
        self._asked += 1
        self._seen.add(arch)
        return Proposal(arch)

    def ask(self, n: int = 1) -> list[Proposal]:
        return [Proposal(self._next()) for _ in range(n)]

    def tell(self, observations: Sequence[Observation]) -> None:
        """What failed is known, but the networks do not learn from it."""
        for observation in observations:
            self._seen.add(observation.architecture)
            loss = self.problem.loss(observation)
            if loss < math.inf:
                self._archs.append(observation.architecture)
                self._losses.append(loss)

    def _next(self) -> Architecture:
        self._asked += 1
        if self._asked <= self._initial or len(self._archs) < 2:
            return self._seen.sample(self.rng)
        if not self._batch:
            self._batch.extend(self._promising())
        return self._batch.popleft()

    def _promising(self) -> list[Architecture]:
        """The ``k`` candidates with the lowest draw from what the ensemble believes of each: independent Thompson
        sampling."""
        features = self.space.encode(self._archs, self._encoding)
        self._networks.fit(features, self._targets(), self.rng)
        candidates = self._mutants()
        beliefs = self._networks.predict(self.space.encode(candidates, self._encoding))
        spread = beliefs.std(axis=0, ddof=1) if len(beliefs) > 1 else np.zeros(len(candidates))
        draws = beliefs.mean(axis=0) + spread * self.rng.standard_normal(len(candidates))
        chosen = [candidates[index] for index in np.argsort(draws, kind="stable")[: self._k]]
        for arch in chosen:
            self._seen.add(arch)
        return chosen

    def _mutants(self) -> list[Architecture]:
        """Mutants of the best that are not known, each once; random architectures where there are too few."""
        best = [self._archs[index] for index in np.argsort(self._losses, kind="stable")[: self._parents]]
        found: dict[Architecture, Architecture] = {}
        for arch in self._seen.mutants(best, self.rng, tries=10 * self._candidates):
            found.setdefault(self.space.canonical(arch), arch)
            if len(found) == self._candidates:
                break
        while len(found) < min(self._k, self._candidates):
            before = len(found)
            arch = self._seen.sample(self.rng)
            found.setdefault(self.space.canonical(arch), arch)
            if len(found) == before:
                break
        return list(found.values())

    def _targets(self) -> NDArray[np.float64]:
        """Losses above the lowest that can be: errors for an accuracy. Without such a bound, above the best by
        their spread."""
        losses = np.array(self._losses)
        spread = max(float(losses.std()), 1e-12)
        bound = self.problem.objective.best_bound
        if self.problem.objective.direction == "maximize":
            bound = -bound
        floor = bound if math.isfinite(bound) else losses.min() - spread
        return np.maximum(losses - floor, 1e-3 * spread)
