"""BOHB: Hyperband that draws its architectures from kernel densities."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from nasbed.core.architecture import Architecture
from nasbed.core.observation import Observation
from nasbed.optimizers.base import Problem
from nasbed.optimizers.hyperband import Hyperband
from nasbed.optimizers.kde import ParzenModel


class BOHB(Hyperband):
    """Hyperband's schedule; new architectures come from the model of the highest fidelity that has enough evaluations
    (Falkner et al. 2018).

    The settings and their defaults are those of Hyperband (``eta`` 3) and, from the paper's appendix G, of the
    densities: the share called ``good``, the ``samples`` of the acquisition function, the ``random_fraction`` drawn
    without the model, ``min_points`` (one more than there are parameters), ``bandwidth_factor`` and
    ``min_bandwidth``.
    """

    name = "bohb"
    summary = "Hyperband with kernel densities"

    def __init__(
        self,
        problem: Problem,
        rng: np.random.Generator,
        *,
        eta: float = 3,
        good: float = 0.15,
        samples: int = 64,
        random_fraction: float = 1 / 3,
        min_points: int | None = None,
        bandwidth_factor: float = 3,
        min_bandwidth: float = 1e-3,
    ) -> None:
        super().__init__(problem, rng, eta=eta)
        self._random_fraction = random_fraction
        self._models = {
            fidelity: ParzenModel(
                problem,
                good=good,
                samples=samples,
                min_points=min_points,
                bandwidth_factor=bandwidth_factor,
                min_bandwidth=min_bandwidth,
            )
            for fidelity in sorted(problem.fidelities, reverse=True)
        }

    def tell(self, observations: Sequence[Observation]) -> None:
        super().tell(observations)
        for observation in observations:
            fidelity = observation.fidelity if observation.fidelity is not None else max(self._models)
            self._models[fidelity].add(observation.architecture, self.problem.loss(observation))

    def _sample(self) -> Architecture:
        model = next((one for one in self._models.values() if one.ready), None)
        arch = None
        if model is not None and self.rng.random() >= self._random_fraction:
            arch = self._seen.first_new(model.best(self.rng))
        return arch or super()._sample()
