"""A benchmark of somebody else's is judged by what it says of itself, as ours are."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from nasbed import Architecture, Metric, Observation, space
from nasbed.benchmarks import NoiseFree
from nasbed.benchmarks.base import Benchmark
from nasbed.benchmarks.observations import Observations
from nasbed.core.errors import InvalidOption
from nasbed.evaluation.judging import judge
from nasbed.experiments.runs import Runs, Setup
from nasbed.experiments.simulate import Budget, problem_of, simulate
from nasbed.optimizers import OPTIMIZERS
from nasbed.spaces.base import Batch


class Measured(Benchmark):
    """Counts convolutions, with noise; it has no test results and does not know its means."""

    name = "third-party"
    space = space("nb201")
    objective = Metric("accuracy", split="validation", unit="%", bounds=(0, 100))
    metrics = (objective,)
    fidelities = (10,)
    test_metric = None

    def means(self, archs: Batch) -> NDArray[np.float64]:
        values: NDArray[np.float64] = 50.0 + 5.0 * (self.space.codes(archs) == 3).sum(axis=1)
        return values

    def answers(self, archs: Batch, values: NDArray[np.float64]) -> Observations:
        count, codes = len(values), self.space.codes(archs)
        zeros = np.zeros(count, dtype=np.int64)
        return Observations("nb201", codes, {self.objective: values}, 10, zeros, np.ones(count), zeros.astype(np.int8))

    def _query(self, arch: Architecture, fidelity: int, seed: int) -> Observation:
        return self._query_many([arch], fidelity, seed)[0]

    def _query_many(self, archs: Batch, fidelity: int, seed: int) -> Observations:
        noise = [np.random.default_rng([seed, *code]).normal() for code in self.space.codes(archs).tolist()]
        return self.answers(archs, self.means(archs) + noise)

    def mean_test(self, archs: Batch) -> NDArray[np.float64]:
        raise InvalidOption("no test results")

    def optimum(self) -> tuple[Architecture, float]:
        raise InvalidOption("not known")


class Modelled(Measured):
    """Knows what its answers average to, and its best."""

    def expected(self, arch: Architecture, *, fidelity: int | None = None) -> Observation:
        return self.expected_many([arch])[0]

    def expected_many(self, archs: Batch, *, fidelity: int | None = None) -> Observations:
        return self.answers(archs, self.means(archs))

    def optimum(self) -> tuple[Architecture, float]:
        return Architecture("nb201", (3,) * 6), 80.0


def searched(benchmark: Benchmark) -> Runs:
    method = OPTIMIZERS.get("rs")(problem_of(benchmark), np.random.default_rng(0))
    run = simulate(method, benchmark, seed=0, budget=Budget(evaluations=25))
    return Runs(Setup(benchmark.name, "nb201", benchmark.objective, "25ev", 1, {}), [run])


@pytest.mark.parametrize("benchmark", [Modelled(), NoiseFree(Modelled())], ids=["alone", "wrapped"])
def test_benchmark_without_test_results_is_judged_by_the_means_that_it_knows(benchmark: Benchmark) -> None:
    runs = searched(benchmark)
    judged = judge(runs, benchmark)
    assert judged.judge == Measured.objective and (judged.test_best, judged.best_of_runs) == (80.0, False)
    (line,) = judged.trajectories
    means = Modelled().means(runs.runs[0].codes[line.incumbent])
    np.testing.assert_array_equal(line.test_regret, 80.0 - means)
    assert judged.validation_best == runs.runs[0].value.max()


def test_benchmark_that_knows_neither_tests_nor_means_is_judged_by_nothing() -> None:
    judged = judge(searched(Measured()), Measured())
    assert judged.judge is None and np.isnan(judged.test_best)
    assert np.isnan(judged.trajectories[0].test_regret).all()


def test_benchmark_that_knows_its_best_answer_is_asked_for_it() -> None:
    class Bounded(Modelled):
        def best_answer(self, fidelities: object) -> float:
            assert fidelities == [10]
            return 85.0

    assert judge(searched(Bounded()), Bounded()).validation_best == 85.0
