"""Methods with several fidelities on a table with several budgets, on the simulated clock."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import mannwhitneyu

from nasbed import Metric, space
from nasbed.benchmarks import TabularBenchmark
from nasbed.evaluation.trajectories import incumbent_index
from nasbed.experiments.runs import Run
from nasbed.experiments.simulate import Budget, problem_of, simulate
from nasbed.optimizers import OPTIMIZERS
from nasbed.results import Rows, TableInfo, write_results

NB201 = space("nb201")
ACCURACY = Metric("accuracy", split="validation", unit="%", bounds=(0, 100))
BUDGETS = (4, 12, 36)
ROUND = {4: 9, 12: 3 + 3, 36: 1 + 1 + 3}
"""Evaluations in one round of Hyperband's brackets (9, 3, 1), (3, 1) and (3)."""
ROUND_S = sum(budget * count for budget, count in ROUND.items())
"""At a second an epoch."""

Floats = NDArray[np.float64]


def all_codes() -> NDArray[np.int64]:
    return np.array([arch.code for arch in NB201.enumerate()], dtype=np.int64)


def additive(codes: NDArray[np.int64]) -> Floats:
    """Every edge's operation adds its share, from 0 to 80 in all."""
    gains = np.random.default_rng(0).random((6, 5))
    total: Floats = gains[np.arange(6), codes].sum(axis=1)
    least, most = float(total.min()), float(total.max())
    return 80 * (total - least) / (most - least)


def table(folder: Path, accuracy: Callable[[Floats, int], Floats]) -> TabularBenchmark:
    """One training for each architecture and budget, of a second an epoch."""
    codes = all_codes()
    quality = additive(codes)
    rows = [
        Rows.of(
            codes,
            {ACCURACY.key: accuracy(quality, budget)},
            fidelity=budget,
            seed=0,
            train_time_s=np.full(len(codes), float(budget)),
            method="table",
        )
        for budget in BUDGETS
    ]
    about = TableInfo("nb201", "nb201", (ACCURACY,), dataset="generated", licence="none")
    return TabularBenchmark(write_results(folder, about, rows))


@pytest.fixture(scope="module")
def noisy(tmp_path_factory: pytest.TempPathFactory) -> TabularBenchmark:
    """Short trainings are noisy, and flatter: their best is above the best of the long ones."""
    rng = np.random.default_rng(1)

    def accuracy(quality: Floats, budget: int) -> Floats:
        return np.clip(quality + rng.normal(scale=40 / budget, size=len(quality)) + 15 * (budget < 36), 0, 100)

    return table(tmp_path_factory.mktemp("noisy") / "nb201", accuracy)


@pytest.fixture(scope="module")
def misleading(tmp_path_factory: pytest.TempPathFactory) -> TabularBenchmark:
    """What is good after 36 epochs is bad after fewer."""
    return table(
        tmp_path_factory.mktemp("misleading") / "nb201",
        lambda quality, budget: quality if budget == 36 else 100 - quality,
    )


def search(
    method: str, benchmark: TabularBenchmark, seed: int, *, workers: int = 1, continued: bool = False, **budget: Any
) -> Run:
    optimizer = OPTIMIZERS.get(method)(problem_of(benchmark), np.random.default_rng(seed))
    run = simulate(
        optimizer, benchmark, seed=seed, budget=Budget(**budget), workers=workers, continue_trainings=continued
    )
    assert not run.error
    return run


def brackets(run: Run) -> list[list[list[int]]]:
    """The evaluations of whole rounds by bracket and rung, as one worker makes them."""
    result, start = [], 0
    while start < len(run):
        for sizes in ((9, 3, 1), (3, 1), (3,)):
            rungs = []
            for size in sizes:
                rungs.append(list(range(start, start + size)))
                start += size
            result.append(rungs)
    return result


@pytest.mark.parametrize("method", ["hb", "bohb", "dehb"])
@pytest.mark.parametrize("rounds", [1, 6])
def test_rounds_have_the_evaluations_and_the_cost_of_the_closed_form(
    noisy: TabularBenchmark, method: str, rounds: int
) -> None:
    run = search(method, noisy, seed=0, seconds=float(rounds * ROUND_S))
    assert Counter(run.fidelity.tolist()) == {budget: rounds * count for budget, count in ROUND.items()}
    assert run.end_s[-1] == rounds * ROUND_S == (run.end_s - run.start_s).sum()


@pytest.mark.parametrize("method", ["hb", "bohb"])
@pytest.mark.parametrize("seed", range(3))
def test_only_the_best_of_each_rung_continue(noisy: TabularBenchmark, method: str, seed: int) -> None:
    run = search(method, noisy, seed, evaluations=6 * 20)
    codes = [tuple(code) for code in run.codes.tolist()]
    for rungs in brackets(run):
        for rung in rungs:
            assert len(set(run.fidelity[rung])) == 1 and len({codes[index] for index in rung}) == len(rung)
        for lower, upper in pairwise(rungs):
            assert run.fidelity[upper[0]] == 3 * run.fidelity[lower[0]]
            ranked = sorted(lower, key=lambda index: -run.value[index])
            assert {codes[index] for index in upper} == {codes[index] for index in ranked[: len(upper)]}


@pytest.mark.parametrize("method", ["hb", "bohb", "asha", "dehb"])
def test_incumbent_is_one_of_the_longest_trainings_once_there_is_one(noisy: TabularBenchmark, method: str) -> None:
    run = search(method, noisy, seed=0, evaluations=200)
    first = run.fidelity.tolist().index(36)
    index = incumbent_index(run.value, "maximize", fidelity=run.fidelity)
    assert set(run.fidelity[index[first:]]) == {36}
    assert run.value[index[-1]] == run.value[run.fidelity == 36].max() < run.value.max()


@pytest.mark.parametrize("method", ["hb", "asha", "dehb"])
@pytest.mark.parametrize("workers", [3, 10])
def test_workers_never_wait(noisy: TabularBenchmark, workers: int, method: str) -> None:
    run = search(method, noisy, 0, workers=workers, seconds=2000.0)
    assert (run.end_s - run.start_s).sum() > (2000 - max(BUDGETS)) * workers


def gains_of_draws(benchmark: TabularBenchmark, method: str) -> Floats:
    """How good what the method draws is at the highest budget, promotions left out, once it has had time to learn."""
    codes: list[NDArray[np.int64]] = []
    for seed in range(3):
        run = search(method, benchmark, seed, evaluations=16 * 20)
        codes += [run.codes[rungs[0]] for rungs in brackets(run)[-15:]]
    gains = dict(zip(map(tuple, all_codes().tolist()), additive(all_codes()).tolist(), strict=True))
    return np.array([gains[tuple(code)] for code in np.concatenate(codes).tolist()])


@pytest.mark.parametrize(("method", "kind"), [("bohb", "noisy"), ("bohb", "misleading"), ("dehb", "noisy")])
def test_draws_learn_from_earlier_trainings(method: str, kind: str, request: pytest.FixtureRequest) -> None:
    """They are better than Hyperband's, which are random; BOHB's even where short trainings mislead."""
    benchmark = request.getfixturevalue(kind)
    gains, random_gains = gains_of_draws(benchmark, method), gains_of_draws(benchmark, "hb")
    assert mannwhitneyu(gains, random_gains, alternative="greater").pvalue < 1e-3


CONTINUED_ROUND_S = (9 * 4 + 3 * (12 - 4) + (36 - 12)) + (3 * 12 + (36 - 12)) + 3 * 36
"""A round of Hyperband whose promoted trainings are continued, at a second an epoch."""


@pytest.mark.parametrize("rounds", [1, 6])
def test_hyperband_rounds_with_continued_trainings_cost_the_added_epochs(noisy: TabularBenchmark, rounds: int) -> None:
    run = search("hb", noisy, 0, continued=True, seconds=float(rounds * CONTINUED_ROUND_S))
    assert Counter(run.fidelity.tolist()) == {budget: rounds * count for budget, count in ROUND.items()}
    assert run.end_s[-1] == rounds * CONTINUED_ROUND_S


@pytest.mark.parametrize("method", ["rs", "hb", "bohb", "asha", "dehb"])
@pytest.mark.parametrize("workers", [1, 4])
def test_continued_trainings_take_no_longer_than_trainings_from_scratch(
    noisy: TabularBenchmark, method: str, workers: int
) -> None:
    """The table has one training for each architecture and budget, so one worker makes the same evaluations."""
    scratch, continued = (
        search(method, noisy, 0, workers=workers, continued=continued, evaluations=200) for continued in (False, True)
    )
    longer, shorter = ((run.end_s - run.start_s) for run in (scratch, continued))
    assert (longer == scratch.fidelity).all() and (shorter <= continued.fidelity).all()
    assert continued.end_s[-1] <= scratch.end_s[-1] and (method == "rs" or shorter.sum() < longer.sum())
    if workers == 1:
        assert (scratch.codes == continued.codes).all() and (scratch.value == continued.value).all()


@pytest.mark.parametrize("method", ["asha", "dehb"])
@pytest.mark.parametrize("workers", [1, 4])
def test_runs_with_continued_trainings_repeat_by_their_seed(noisy: TabularBenchmark, method: str, workers: int) -> None:
    first, again, other = (
        search(method, noisy, seed, workers=workers, continued=True, seconds=1500.0) for seed in (0, 0, 1)
    )
    for name in ("codes", "fidelity", "value", "start_s", "end_s"):
        assert np.array_equal(getattr(first, name), getattr(again, name))
    assert not np.array_equal(first.codes, other.codes)
