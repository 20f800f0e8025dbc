"""HEBO with a random forest: several acquisition functions at once."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_ndtr, ndtr
from sklearn.ensemble import RandomForestRegressor
from sklearn.preprocessing import power_transform

from nasbed.core.architecture import Architecture
from nasbed.optimizers.base import Proposal
from nasbed.optimizers.model_based import ModelBased
from nasbed.optimizers.nsga2 import ParetoPopulation
from nasbed.optimizers.parameters import Floats
from nasbed.optimizers.settings import integer

Features = NDArray[np.float32]

CROSSOVER_PROBABILITY = 0.9
LEAST_IMPROVEMENT = 1e-4
DELTA = 0.01
"""A parameter of the confidence bound's weight."""


@dataclass(eq=False, kw_only=True)
class HEBO(ModelBased):
    """Bayesian optimisation that proposes from the Pareto front of three acquisition functions (Cowen-Rivers et al.
    2022). Its model is a random forest, as in the Surrogate NAS Benchmarks (appendix C.3).

    Settings and defaults are those of HEBO's own code. It starts with ``initial`` random architectures, one more than
    there are parameters. The forest has 20 ``trees`` on indicators; its uncertainty is the variance over the trees plus
    the mean squared error on the training data. NSGA-II has a ``population_size`` of 100, which includes the best
    architecture, and runs for ``generations``. As in HEBO, losses go through a Box-Cox transform, or a Yeo-Johnson
    transform if some are not positive. The acquisition functions are the logarithms of expected improvement and of the
    probability of improvement, and a lower confidence bound; noise is added to the mean in all three. Proposals are
    drawn from the new architectures in the front. A batch of three or more includes the least certain and the best
    predicted of them.

    Ours: 30 generations for their 100, as each generation tries only architectures that the population lacks. Mutation
    is that of the space, and crossover is of codes. The start is random, theirs a Sobol sequence. Architectures under
    evaluation are not proposed again. A maximised objective becomes the distance from the best possible value.
    """

    name = "hebo"
    summary = "HEBO with a random forest"

    initial: int | None = integer(None, low=2)
    trees: int = integer(20, low=1)
    population_size: int = integer(100, low=2)
    generations: int = integer(30, low=1)

    def __post_init__(self) -> None:
        super().__post_init__()
        self._width = len(self.space.configspace())
        self._initial = self._width + 1 if self.initial is None else self.initial
        lowest = self.problem.lowest_loss
        self._floor = lowest if math.isfinite(lowest) else 0.0

    @property
    def start_size(self) -> int:
        return max(self._initial, 2)

    def ask(self, n: int = 1) -> list[Proposal]:
        archs = self._choose(n) if len(self._archs) >= self.start_size else []
        for arch in archs:
            self._archive.add(arch)
        archs += [self._next() for _ in range(n - len(archs))]
        return [Proposal(arch) for arch in archs]

    def _next(self) -> Architecture:
        return self._archive.sample(self.rng)

    def _learn(self, arch: Architecture, loss: float) -> None:
        super()._learn(arch, loss - self._floor)

    def _choose(self, n: int) -> list[Architecture]:
        """Up to ``n`` architectures of the front at random, with the two that HEBO always includes."""
        model = ForestModel.fit(
            self.space.encode(self._archs), more_normal(np.array(self._losses)), self.trees, self.rng
        )
        front = [arch for arch in self._front(model, n) if arch not in self._archive]
        if not front:
            return []
        indices: list[int] = self.rng.permutation(len(front))[:n].tolist()
        if n > 2 and len(front) > n:
            mean, spread = model.predict(self.space.encode(front))
            for position, required in enumerate((int(spread.argmax()), int(mean.argmin()))):
                if required not in indices:
                    indices[position] = required
        return [front[index] for index in indices]

    def _front(self, model: ForestModel, n: int) -> list[Architecture]:
        """The Pareto front of the three acquisition functions, by NSGA-II."""
        best = self._archs[int(np.argmin(self._losses))]
        target = float(model.predict(self.space.encode([best]))[0][0])
        steps = max(1, len(self._archs) // n)
        kappa = math.sqrt((2 + self._width / 2) * math.log(steps) + math.log(math.pi**2 / DELTA))
        population = ParetoPopulation(self.space, self.population_size, CROSSOVER_PROBABILITY)
        archs = [best, *(self.space.sample(self.rng) for _ in range(self.population_size - 1))]
        for _ in range(self.generations):
            forms = {self.space.canonical(arch) for arch in population.archs}
            new = {form: arch for arch in archs if (form := self.space.canonical(arch)) not in forms}
            if new:
                features = self.space.encode(list(new.values()))
                population.join(list(new.values()), model.acquisition(features, target, kappa, self.rng))
            archs = [population.child(self.rng) for _ in range(self.population_size)]
        return population.front


@dataclass(frozen=True, slots=True)
class ForestModel:
    """A random forest with an estimate of the noise of its targets."""

    forest: RandomForestRegressor
    noise: float  # a variance

    @classmethod
    def fit(cls, features: Features, targets: Floats, trees: int, rng: np.random.Generator) -> ForestModel:
        forest = RandomForestRegressor(trees, random_state=int(rng.integers(2**31))).fit(features, targets)
        return cls(forest, float(np.mean((forest.predict(features) - targets) ** 2)))

    def predict(self, features: Features) -> tuple[Floats, Floats]:
        """The mean and the standard deviation at each row."""
        predictions = np.stack([tree.tree_.predict(features)[:, 0] for tree in self.forest.estimators_])
        return predictions.mean(axis=0), np.sqrt(predictions.var(axis=0) + self.noise)

    def acquisition(self, features: Features, target: float, kappa: float, rng: np.random.Generator) -> Floats:
        """``[n, 3]``, to be minimised: the lower confidence bound, and the negative logarithms of the expected
        improvement on ``target`` and of its probability."""
        mean, spread = self.predict(features)
        spread = np.maximum(spread, np.finfo(np.float32).eps)
        shift = math.sqrt(2 * self.noise) * rng.standard_normal((2, len(mean)))
        steps = (target - LEAST_IMPROVEMENT - mean - shift[1]) / spread
        bound = mean + shift[0] - kappa * spread
        return np.column_stack([bound, -np.log(spread) - log_improvement(steps), -log_ndtr(steps)])


def log_improvement(steps: Floats) -> Floats:
    """The logarithm of the expected improvement of a standard normal variable, φ(z) + z Φ(z) at z = ``steps``. Far in
    the tail, where the two terms cancel, it is φ(z) / (z² + 3)."""
    log_phi = -0.5 * steps**2 - 0.5 * math.log(2 * math.pi)
    near = np.maximum(steps, -6)
    exact = np.log(np.exp(-0.5 * near**2) / math.sqrt(2 * math.pi) + near * ndtr(near))
    return np.where(steps > -6, exact, log_phi - np.log(steps**2 + 3))


def more_normal(losses: Floats) -> Floats:
    """The losses after HEBO's power transform, with mean 0 and standard deviation 1. Unchanged where the transform
    fails, as it does for a few values far from zero."""
    spread = losses.std()
    methods = ("box-cox", "yeo-johnson") if losses.min() > 0 else ("yeo-johnson",)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for method in methods if spread > 0 else ():
            try:
                changed: Floats = power_transform((losses / spread)[:, None], method=method)[:, 0]
            except ValueError:
                continue
            if 0.5 <= changed.std() <= 2:
                return changed
    return losses
