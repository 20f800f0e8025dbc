"""BANANAS: an ensemble of networks on the path encoding guides mutations of the best architectures."""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nasbed.core.architecture import Architecture
from nasbed.optimizers.base import Proposal
from nasbed.optimizers.model_based import ModelBased
from nasbed.optimizers.models.perceptrons import Perceptrons
from nasbed.optimizers.settings import integer, number


@dataclass(eq=False, kw_only=True)
class Bananas(ModelBased):
    """Bayesian optimisation with a neural predictor (White, Neiswanger & Savani 2021), as the Surrogate NAS
    Benchmarks ran it.

    From appendix C.3 of the latter: ``initial`` random architectures 100, ``members`` of the ensemble 3 rather than 5,
    early stopping on a tenth held out. From the former come batches of ``k`` 10 and ``candidates`` 100 by mutating the
    ``parents`` 10 best. Its networks have ``layers`` 10 of ``width`` 20, trained for up to ``epochs`` 150 with batches
    of 32 and Adam's ``learning_rate`` 0.01. Our own: ``patience`` 20 epochs. The networks see the path encoding where
    the space has one, indicators elsewhere.
    """

    name = "bananas"
    summary = "Bayesian optimisation with an ensemble of networks on path encodings"
    model_family = "perceptrons"

    initial: int = integer(100, low=1)
    k: int = integer(10, low=1)
    members: int = integer(3, low=1)
    candidates: int = integer(100, low=1)
    parents: int = integer(10, low=1)
    layers: int = integer(10, low=1)
    width: int = integer(20, low=1)
    epochs: int = integer(150, low=1)
    patience: int = integer(20, low=0)
    learning_rate: float = number(0.01, low=0)

    def __post_init__(self) -> None:
        super().__post_init__()
        self._networks = Perceptrons(
            members=self.members,
            layers=self.layers,
            width=self.width,
            epochs=self.epochs,
            patience=self.patience,
            batch=32,
            learning_rate=self.learning_rate,
        )
        self._encoding = "path" if "path" in self.space.encodings else "onehot"
        self._proposed = 0
        self._batch: deque[Architecture] = deque()

    @property
    def start_size(self) -> int:
        return self.initial

    def begin_with(self, arch: Architecture) -> Proposal:
        self._proposed += 1
        return super().begin_with(arch)

    def _next(self) -> Architecture:
        self._proposed += 1
        if self._proposed <= self.initial or len(self._archs) < 2:
            return self._archive.sample(self.rng)
        if not self._batch:
            self._batch.extend(self._promising())
        return self._batch.popleft()

    def _promising(self) -> list[Architecture]:
        """The ``k`` candidates with the lowest draw from the ensemble's prediction: independent Thompson sampling."""
        features = self.space.encode(self._archs, self._encoding)
        self._networks.fit(features, self._targets(), self.rng)
        candidates = self._mutants()
        predictions = self._networks.predict(self.space.encode(candidates, self._encoding))
        spread = predictions.std(axis=0, ddof=1) if len(predictions) > 1 else np.zeros(len(candidates))
        draws = predictions.mean(axis=0) + spread * self.rng.standard_normal(len(candidates))
        proposals = [candidates[index] for index in np.argsort(draws, kind="stable")[: self.k]]
        for arch in proposals:
            self._archive.add(arch)
        return proposals

    def _mutants(self) -> list[Architecture]:
        """New mutants of the best, each once; random architectures where there are too few."""
        best = [self._archs[index] for index in np.argsort(self._losses, kind="stable")[: self.parents]]
        mutants: dict[Architecture, Architecture] = {}
        for arch in self._archive.mutants(best, self.rng, tries=10 * self.candidates):
            mutants.setdefault(self.space.canonical(arch), arch)
            if len(mutants) == self.candidates:
                break
        while len(mutants) < min(self.k, self.candidates):
            previous_count = len(mutants)
            arch = self._archive.sample(self.rng)
            mutants.setdefault(self.space.canonical(arch), arch)
            if len(mutants) == previous_count:
                break
        return list(mutants.values())

    def _targets(self) -> NDArray[np.float64]:
        """Losses above the lowest possible: errors for an accuracy. Without such a bound, above the best less their
        standard deviation."""
        losses = np.array(self._losses)
        spread = max(float(losses.std()), 1e-12)
        bound = self.problem.lowest_loss
        floor = bound if math.isfinite(bound) else losses.min() - spread
        return np.maximum(losses - floor, 1e-3 * spread)
