"""The tree Parzen estimator of BOHB: multivariate kernel densities of the good and of the other architectures."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from nasbed.core.architecture import Architecture
from nasbed.optimizers.archive import ProposalArchive
from nasbed.optimizers.base import Problem
from nasbed.optimizers.model_based import ModelBased
from nasbed.optimizers.models.density import Density, fill_gaps
from nasbed.optimizers.parameters import Floats, Parameters
from nasbed.optimizers.settings import integer, number

LEAST = math.log(1e-32)
"""The lowest density that counts, as in HpBandSter."""


@dataclass(eq=False, kw_only=True)
class Parzen:
    """The settings that KDE and BOHB share, with the defaults of BOHB's reference implementation, HpBandSter.

    ``good`` is the share of evaluations that the first density is fitted to. ``samples`` is the number of points at
    which the ratio of the two densities is computed. ``random_fraction`` is the share of proposals drawn without the
    model. ``min_points`` is the fewest evaluations a density is fitted to, by default and at least one more than there
    are parameters. ``bandwidth_factor`` widens the density that numbers are sampled from; ``min_bandwidth`` is its
    least width.
    """

    good: float = number(0.15, low=0.01, high=0.99)
    samples: int = integer(64, low=1)
    random_fraction: float = number(1 / 3, low=0, high=1)
    min_points: int | None = integer(None, low=1)
    bandwidth_factor: float = number(3, low=0.01)
    min_bandwidth: float = number(1e-3, low=1e-9, high=0.5)


class ParzenModel:
    """The evaluations at one fidelity, as densities of the good and of the other architectures."""

    def __init__(self, problem: Problem, settings: Parzen) -> None:
        self._parameters = Parameters(problem.space)
        self._settings = settings
        self._fewest = len(self._parameters) + 1
        self._rows: list[Floats] = []
        self._losses: list[float] = []
        self._densities: tuple[Density, Density] | None = None

    def add(self, arch: Architecture, loss: float) -> None:
        """Note an evaluation; one that failed has an infinite loss and so is among the bad."""
        self._rows.append(self._parameters.row(arch))
        self._losses.append(loss)
        self._densities = None

    @property
    def needed(self) -> int:
        """How many evaluations the model needs, if all succeed."""
        return self._least_good + self._fewest

    @property
    def ready(self) -> bool:
        """Whether there are enough evaluations for two densities, and enough that succeeded for the good one."""
        enough = len(self._losses) - self._good_count >= self._fewest
        return enough and sum(map(math.isfinite, self._losses)) >= self._good_count

    def propose(self, archive: ProposalArchive, rng: np.random.Generator) -> Architecture | None:
        """The best new sample; ``None`` if there is none, or if a random architecture is due."""
        if rng.random() < self._settings.random_fraction:
            return None
        return archive.first_new(self._best(rng))

    @property
    def _good_count(self) -> int:
        return max(self._least_good, int(self._settings.good * len(self._losses)))

    @property
    def _least_good(self) -> int:
        return max(self._fewest, self._settings.min_points or 0)

    def _best(self, rng: np.random.Generator) -> Iterator[Architecture]:
        """Valid architectures among the samples, the highest ratio of the densities first."""
        good, bad = self._fitted(rng)
        points = good.sample(self._settings.samples, rng, factor=self._settings.bandwidth_factor)
        ratio = np.maximum(good.log_density(points), LEAST) - np.maximum(bad.log_density(points), LEAST)
        for index in np.argsort(-ratio, kind="stable"):
            arch = self._parameters.architecture(points[index])
            if arch is not None:
                yield arch

    def _fitted(self, rng: np.random.Generator) -> tuple[Density, Density]:
        if self._densities is None:
            rows = np.array(self._rows)[np.argsort(self._losses, kind="stable")]
            options, narrowest = self._parameters.options, self._settings.min_bandwidth
            good, bad = (
                Density.fit(fill_gaps(part, options, rng), options, min_bandwidth=narrowest)
                for part in (rows[: self._good_count], rows[self._good_count :])
            )
            self._densities = good, bad
        return self._densities


@dataclass(eq=False, kw_only=True)
class KDE(Parzen, ModelBased):
    """The model of BOHB at the highest fidelity alone, called TPE in the Surrogate NAS Benchmarks.

    The settings and their defaults are those of BOHB's reference implementation, HpBandSter. The share called ``good``
    is 0.15 and ``samples`` 64 (also in their appendix C.3), ``random_fraction`` 1/3, ``bandwidth_factor`` 3 and
    ``min_bandwidth`` 1e-3. ``min_points`` is one more than there are parameters, and never less.

    Ours differs in three ways. Each architecture is proposed once: the best sample that is new, where HpBandSter takes
    the best. The bandwidth of a choice does not depend on how its options are numbered; HpBandSter's is made from the
    standard deviation of the numbers (see :meth:`Density.fit`). An ordered choice is taken as unordered; HpBandSter
    refuses it.
    """

    name = "kde"
    summary = "TPE with multivariate kernel densities, as in BOHB"
    draws_from_space = False

    def __post_init__(self) -> None:
        super().__post_init__()
        self._model = ParzenModel(self.problem, self)

    @property
    def start_size(self) -> int:
        return self._model.needed

    def _learn(self, arch: Architecture, loss: float) -> None:
        self._model.add(arch, loss)

    def _next(self) -> Architecture:
        arch = self._model.propose(self._archive, self.rng) if self._model.ready else None
        return arch or self._archive.sample(self.rng)
