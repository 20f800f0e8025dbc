"""Searches to be reported: made-up runs, with and without a table behind them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from nasbed import Metric, space
from nasbed.benchmarks.base import Benchmark
from nasbed.benchmarks.observations import Observations
from nasbed.core.architecture import Architecture
from nasbed.core.observation import Observation
from nasbed.experiments.runs import Run, Runs, Setup
from nasbed.spaces.base import Batch, Codes
from support.tables import VALIDATION, additive

PARAMETERS = Metric("parameters", direction="minimize")


class Formula(Benchmark):
    """A benchmark without a table and, unless ``test_metric`` is given, without a test metric."""

    name, objective, fidelities = "formula", VALIDATION, (12, 200)
    metrics: tuple[Metric, ...] = (VALIDATION,)

    def __init__(self, test_metric: Metric | None = None) -> None:
        self.space = space("nb201")
        self._test_metric = test_metric

    @classmethod
    def with_parameters(cls, test_metric: Metric) -> Formula:
        """One that measures what an architecture costs, too."""
        benchmark = cls(test_metric)
        benchmark.metrics = (VALIDATION, PARAMETERS)
        return benchmark

    def _query(self, arch: Architecture, fidelity: int, seed: int) -> Observation:
        raise NotImplementedError

    def _query_many(self, archs: Batch, fidelity: int, seed: int) -> Observations:
        raise NotImplementedError

    @property
    def test_metric(self) -> Metric | None:
        return self._test_metric

    def mean_test(self, archs: Batch) -> NDArray[np.float64]:
        return additive(self.space.codes(archs))

    def optimum(self) -> tuple[Architecture, float]:
        return self._optimum

    @cached_property
    def _optimum(self) -> tuple[Architecture, float]:
        return Architecture("nb201", (3,) * 6), float(additive(np.full((1, 6), 3))[0])


def search(
    method: str, seed: int, *, evaluations: int = 40, greed: float = 0.0, error: str = "", lost: float = 0.0
) -> Run:
    """A run that draws architectures at random and keeps the ``greed`` best share; a share is ``lost`` as NaN."""
    rng = np.random.default_rng([seed, len(method)])
    codes: Codes = rng.integers(5, size=(round(evaluations / (1 - greed)), 6))
    best = np.sort(np.argsort(-additive(codes), kind="stable")[:evaluations])
    codes = codes[best]
    value = np.minimum(additive(codes) + 0.3 * rng.normal(size=evaluations), 100)
    missing = rng.random(evaluations) < lost
    end = np.cumsum(rng.uniform(50, 500, size=evaluations))
    return Run(
        method=method,
        seed=seed,
        codes=codes,
        fidelity=np.full(evaluations, 200),
        value=np.where(missing, np.nan, value),
        status=np.where(missing, 1, 0).astype(np.int8),
        start_s=end - 10,
        end_s=end,
        others={PARAMETERS.key: 7e4 + 1e5 * (codes == 3).sum(axis=1)},
        error=error,
    )


def runs_of(runs: Sequence[Run]) -> Runs:
    setup = Setup(
        benchmark="formula",
        space="nb201",
        objective=VALIDATION,
        budget="40ev",
        workers=1,
        settings={"re": {"population": 50}},
        command="nasbed run formula --seeds 6",
        versions={"nasbed": "0.1.0"},
    )
    return Runs(setup, runs)


def three_methods(seeds: int = 8) -> Runs:
    """A method that is clearly better, one that is not, and one with a broken run."""
    runs = [search("rs", seed) for seed in range(seeds)] + [search("re", seed, greed=0.8) for seed in range(seeds)]
    runs += [search("ls", seed, greed=0.3, lost=0.2) for seed in range(1, seeds)]
    return runs_of([*runs, search("ls", 0, evaluations=3, error="ValueError: no <b>neighbour</b> left")])
