"""HEBO with a random forest: several acquisition functions at once."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm, yeojohnson
from sklearn.ensemble import RandomForestRegressor

from nasbed.core.architecture import Architecture
from nasbed.core.errors import InvalidOption
from nasbed.core.observation import Observation
from nasbed.optimizers.base import Optimizer, Problem, Proposal
from nasbed.optimizers.seen import Seen

Floats = NDArray[np.float64]


class HEBO(Optimizer):
    """Bayesian optimisation that proposes from the Pareto front of three acquisition functions (Cowen-Rivers et al.
    2022).

    As in the Surrogate NAS Benchmarks (appendix C.3) the model is a random forest, of ``trees`` 100, here on
    indicators. The losses are made more normal by a power transform, and the front is that of expected improvement,
    probability of improvement and confidence bound. ``initial`` random architectures: one more than the code is long,
    after HEBO's one more than there are parameters. Our own: instead of NSGA-II, ``candidates`` 200 drawn at random
    and as many by mutating the ``parents`` 10 best, then mutants of the front for ``rounds`` 2.
    """

    name = "hebo"
    summary = "HEBO with a random forest"

    def __init__(
        self,
        problem: Problem,
        rng: np.random.Generator,
        *,
        initial: int | None = None,
        trees: int = 100,
        candidates: int = 200,
        parents: int = 10,
        rounds: int = 2,
    ) -> None:
        super().__init__(problem, rng)
        self._initial = self.space.code_length + 1 if initial is None else initial
        if min(self._initial, trees, candidates, parents) < 1 or rounds < 0:
            raise InvalidOption(
                "initial, trees, candidates and parents are at least 1 and rounds at least 0, got "
                f"{(initial, trees, candidates, parents, rounds)}"
            )
        self._trees, self._candidates, self._parents, self._rounds = trees, candidates, parents, rounds
        self._seen = Seen(self.space)
        self._asked = 0
        self._archs: list[Architecture] = []
        self._losses: list[float] = []

    def ask(self, n: int = 1) -> list[Proposal]:
        self._asked += n
        front = [] if self._asked <= self._initial or len(self._archs) < 2 else self._front()
        front = [front[index] for index in self.rng.permutation(len(front))]
        proposals = []
        for _ in range(n):
            arch = front.pop() if front else self._seen.sample(self.rng)
            self._seen.add(arch)
            proposals.append(Proposal(arch))
        return proposals

    def tell(self, observations: Sequence[Observation]) -> None:
        """What failed is known, but the forest does not learn from it."""
        for observation in observations:
            self._seen.add(observation.architecture)
            loss = self.problem.loss(observation)
            if loss < math.inf:
                self._archs.append(observation.architecture)
                self._losses.append(loss)

    def _front(self) -> list[Architecture]:
        """The candidates that no other beats in all three acquisition functions."""
        losses = _normal(np.array(self._losses))
        forest = RandomForestRegressor(self._trees, random_state=int(self.rng.integers(2**31)))
        forest.fit(self.space.encode(self._archs), losses)
        best = [self._archs[index] for index in np.argsort(losses, kind="stable")[: self._parents]]
        drawn = (self.space.sample(self.rng) for _ in range(self._candidates))
        pool = {self.space.canonical(arch): arch for arch in drawn if arch not in self._seen}
        front = best
        for _ in range(1 + self._rounds):
            for arch in self._seen.mutants(front, self.rng, tries=self._candidates):
                pool.setdefault(self.space.canonical(arch), arch)
            if not pool:
                return []
            archs = list(pool.values())
            gains = self._gains(forest, archs, losses)
            front = [arch for arch, kept in zip(archs, undominated(gains), strict=True) if kept]
        return front

    def _gains(self, forest: RandomForestRegressor, archs: list[Architecture], losses: Floats) -> Floats:
        """Expected improvement, probability of improvement and the negative lower confidence bound, ``[n, 3]``."""
        features = self.space.encode(archs)
        says = np.stack([tree.predict(features) for tree in forest.estimators_])
        mean, spread = says.mean(axis=0), says.std(axis=0) + 1e-6
        count = len(losses)
        width = self.space.code_length
        kappa = math.sqrt((2 + width / 2) * math.log(count) + math.log(3 * math.pi**2 / (3 * 0.01)))
        steps = (losses.min() - mean) / spread
        improvement = spread * (steps * norm.cdf(steps) + norm.pdf(steps))
        gains: Floats = np.column_stack([improvement, norm.cdf(steps), kappa * spread - mean])
        return gains


def undominated(gains: Floats) -> NDArray[np.bool_]:
    """Which rows no other row equals or exceeds everywhere and exceeds somewhere.

    >>> undominated(np.array([[1.0, 2.0], [2.0, 1.0], [1.0, 1.0]])).tolist()
    [True, True, False]
    """
    least = (gains[:, None] >= gains[None]).all(axis=2)
    more = (gains[:, None] > gains[None]).any(axis=2)
    return np.asarray(~(least & more).any(axis=0))


def _normal(losses: Floats) -> Floats:
    """Standardised after the power transform of Yeo & Johnson (2000); constant losses are all 0."""
    spread = losses.std()
    if not spread > 0:
        return np.zeros_like(losses)
    scaled = (losses - losses.mean()) / spread
    changed: Floats = yeojohnson(scaled)[0] if len(np.unique(losses)) > 2 else scaled
    spread = float(changed.std())
    return np.asarray((changed - changed.mean()) / spread if spread > 1e-9 else scaled)
