"""The tree Parzen estimator as BOHB has it: multivariate kernel densities of the good and of the other
architectures."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

from nasbed.core.architecture import Architecture
from nasbed.core.errors import InvalidOption
from nasbed.core.observation import Observation
from nasbed.optimizers.base import Optimizer, Problem, Proposal
from nasbed.optimizers.density import Density, Floats
from nasbed.optimizers.parameters import Parameters
from nasbed.optimizers.seen import Seen


class ParzenModel:
    """The evaluations at one fidelity, and architectures that look more like the good ones than like the rest."""

    def __init__(
        self,
        problem: Problem,
        *,
        good: float,
        samples: int,
        min_points: int | None,
        bandwidth_factor: float,
        min_bandwidth: float,
    ) -> None:
        if not (0 < good < 1 and samples >= 1 and bandwidth_factor > 0 and 0 < min_bandwidth < 0.5):
            raise InvalidOption(
                "good is a share in (0, 1), samples at least 1, bandwidth_factor > 0, min_bandwidth in (0, 0.5), got "
                f"{good!r}, {samples!r}, {bandwidth_factor!r} and {min_bandwidth!r}"
            )
        self._parameters = Parameters(problem.space)
        width = len(self._parameters.options)
        self._least = max(width + 1, min_points or 0)
        self._good, self._samples = good, samples
        self._factor, self._min_bandwidth = bandwidth_factor, min_bandwidth
        self._rows: list[Floats] = []
        self._losses: list[float] = []
        self._densities: tuple[Density, Density] | None = None

    def add(self, arch: Architecture, loss: float) -> None:
        """Note an evaluation; one that failed has an infinite loss and so is among the bad."""
        self._rows.append(self._parameters.row(arch))
        self._losses.append(loss)
        self._densities = None

    @property
    def ready(self) -> bool:
        """Whether there are enough evaluations, and enough that succeeded, for two densities."""
        return len(self._losses) >= 2 * self._least and sum(map(math.isfinite, self._losses)) >= self._least

    def best(self, rng: np.random.Generator) -> Iterator[Architecture]:
        """Valid architectures among ``samples`` draws, the highest ratio of the densities first."""
        good, bad = self._fitted(rng)
        points = good.sample(self._samples, rng, factor=self._factor)
        ratio = np.maximum(good.log_density(points), math.log(1e-32)) - np.maximum(
            bad.log_density(points), math.log(1e-32)
        )
        for index in np.argsort(-ratio, kind="stable"):
            arch = self._parameters.architecture(points[index])
            if arch is not None:
                yield arch

    def _fitted(self, rng: np.random.Generator) -> tuple[Density, Density]:
        if self._densities is None:
            losses = np.array(self._losses)
            order = np.argsort(losses, kind="stable")
            rows = np.array(self._rows)[order]
            count = max(self._least, int(self._good * len(rows)))
            good, bad = (
                Density.fit(
                    self._parameters.filled(part, rng), self._parameters.options, min_bandwidth=self._min_bandwidth
                )
                for part in (rows[:count], rows[count:])
            )
            self._densities = good, bad
        return self._densities


class KDE(Optimizer):
    """The model of BOHB at the highest fidelity alone, called TPE in the Surrogate NAS Benchmarks.

    ``good`` 0.15 and ``samples`` 64 are given in their appendix C.3; ``random_fraction`` 1/3, ``bandwidth_factor`` 3
    and ``min_bandwidth`` 1e-3 in appendix G of BOHB (Falkner et al. 2018), as is ``min_points``: one more than there
    are parameters, and never less.
    """

    name = "kde"
    summary = "TPE with multivariate kernel densities, as in BOHB"

    def __init__(
        self,
        problem: Problem,
        rng: np.random.Generator,
        *,
        good: float = 0.15,
        samples: int = 64,
        random_fraction: float = 1 / 3,
        min_points: int | None = None,
        bandwidth_factor: float = 3,
        min_bandwidth: float = 1e-3,
    ) -> None:
        super().__init__(problem, rng)
        self._random_fraction = random_fraction
        self._seen = Seen(self.space)
        self._model = ParzenModel(
            problem,
            good=good,
            samples=samples,
            min_points=min_points,
            bandwidth_factor=bandwidth_factor,
            min_bandwidth=min_bandwidth,
        )

    def ask(self, n: int = 1) -> list[Proposal]:
        return [Proposal(self._sample()) for _ in range(n)]

    def tell(self, observations: Sequence[Observation]) -> None:
        for observation in observations:
            self._seen.add(observation.architecture)
            self._model.add(observation.architecture, self.problem.loss(observation))

    def _sample(self) -> Architecture:
        arch = None
        if self._model.ready and self.rng.random() >= self._random_fraction:
            arch = self._seen.first_new(self._model.best(self.rng))
        return arch or self._seen.sample(self.rng)
