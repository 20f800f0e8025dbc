"""REINFORCE without a controller network."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nasbed.core.architecture import Architecture
from nasbed.core.observation import Observation
from nasbed.optimizers.base import Optimizer, Proposal
from nasbed.optimizers.parameters import Parameters
from nasbed.optimizers.settings import number

TRIES = 100
"""How many samples may be no architecture before one is drawn from the space itself; ours."""


@dataclass(eq=False, kw_only=True)
class Reinforce(Optimizer):
    """A categorical distribution for each parameter of the space's ConfigSpace, its logits moved by REINFORCE.

    NAS-Bench-101 (section 4.1) found this to work better than an LSTM controller. The defaults are those of its
    published benchmark script: plain gradient steps with a learning rate of 0.1. The baseline is a bias-corrected
    moving average of the rewards with momentum 0.9, updated before it is subtracted.

    As there, the reward is the objective as a fraction of its bounds. An objective without finite bounds has no such
    fraction: its advantage is divided by its own moving root mean square (ours). A failed evaluation earns the lowest
    reward so far (ours; the script draws again). The gradient is taken at the logits of the time of the answer, and
    inactive parameters have none. An integer or float is a choice among at most ten levels.
    """

    name = "rl"
    summary = "REINFORCE over independent categorical distributions"
    draws_from_space = False
    filtered = "proposals"

    learning_rate: float = number(0.1, low=0)
    momentum: float = number(0.9, low=0, high=1)

    def __post_init__(self) -> None:
        super().__post_init__()
        self._parameters = Parameters(self.space)
        levels = self._parameters.levels
        self._steps = np.maximum(levels - 1, 1)
        self._logits = np.where(np.arange(levels.max()) < levels[:, None], 0.0, -math.inf)
        self._rows = np.arange(len(levels))
        self._baseline = _MovingAverage(self.momentum)
        self._square = _MovingAverage(self.momentum)
        self._lowest = math.inf
        low, high = self.problem.objective.bounds
        self._span = high - low

    @property
    def probabilities(self) -> NDArray[np.float64]:
        """The chance of each level of each parameter, ``[parameters, most levels]``, zero beyond a parameter's own."""
        weights = np.exp(self._logits - self._logits.max(axis=1, keepdims=True))
        share: NDArray[np.float64] = weights / weights.sum(axis=1, keepdims=True)
        return share

    def ask(self, n: int = 1) -> list[Proposal]:
        thresholds = np.cumsum(self.probabilities, axis=1)
        return [Proposal(self._sample(thresholds)) for _ in range(n)]

    def _sample(self, thresholds: NDArray[np.float64]) -> Architecture:
        for _ in range(TRIES):
            levels = (thresholds <= self.rng.random((len(thresholds), 1))).sum(axis=1)
            places = np.minimum(levels, self._parameters.levels - 1) / self._steps
            arch = self._parameters.nearest(places)
            if arch is not None:
                return arch
        return self.space.sample(self.rng)

    def tell(self, observations: Sequence[Observation]) -> None:
        for observation in observations:
            reward = -self.problem.loss(observation)
            if reward > -math.inf:
                self._lowest = min(self._lowest, reward)
            elif self._lowest < math.inf:
                reward = self._lowest
            else:
                continue
            self._learn(observation.architecture, self._advantage(reward))

    def _advantage(self, reward: float) -> float:
        self._baseline.update(reward)
        advantage = reward - self._baseline.value
        if self._span < math.inf:
            return advantage / self._span
        self._square.update(advantage**2)
        return advantage / math.sqrt(self._square.value) if self._square.value > 0 else 0.0

    def _learn(self, arch: Architecture, advantage: float) -> None:
        places = self._parameters.in_cube(arch)
        active = ~np.isnan(places)
        rows = self._rows[active]
        gradient = -self.probabilities[rows]
        gradient[np.arange(len(rows)), np.rint(places[active] * self._steps[active]).astype(np.int64)] += 1
        self._logits[rows] += self.learning_rate * advantage * gradient


class _MovingAverage:
    """An exponential one, without the bias towards its start at zero."""

    def __init__(self, momentum: float) -> None:
        self._momentum = momentum
        self._sum = self._weight = 0.0

    def update(self, value: float) -> None:
        self._sum = self._momentum * self._sum + (1 - self._momentum) * value
        self._weight = self._momentum * self._weight + (1 - self._momentum)

    @property
    def value(self) -> float:
        return self._sum / self._weight if self._weight else 0.0
