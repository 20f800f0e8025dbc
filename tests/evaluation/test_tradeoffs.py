"""What a search found for what it costs, and how often it asked for the same."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nasbed import Metric, space
from nasbed.benchmarks.base import Benchmark
from nasbed.core.status import FAILED
from nasbed.evaluation.hypervolume import non_dominated
from nasbed.evaluation.repeats import repeated_share
from nasbed.evaluation.tradeoffs import cheapest_first, tradeoffs
from nasbed.experiments.runs import Run, Runs, Setup

LOSS = Metric("loss", split="validation", direction="minimize")
PARAMETERS, LATENCY = (Metric(name, direction="minimize") for name in ("parameters", "latency"))


def measured(*metrics: Metric) -> Benchmark:
    """Only what it measures matters here."""
    return cast(Benchmark, SimpleNamespace(space=space("nb201"), metrics=metrics, objective=LOSS))


def run(method: str, seed: int, cost: list[float], loss: list[float], fidelity: int = 1) -> Run:
    n = len(cost)
    return Run(
        method=method,
        seed=seed,
        codes=np.arange(6 * n).reshape(n, 6) % 5,
        fidelity=np.full(n, fidelity),
        value=np.array(loss),
        status=np.zeros(n, dtype=np.int8),
        start_s=np.arange(n, dtype=float),
        end_s=np.arange(1.0, n + 1),
        others={"parameters": np.array(cost), "latency": np.array(cost) * 2},
    )


def runs_of(*runs: Run, **settings: dict[str, str]) -> Runs:
    return Runs(Setup("b", "nb201", LOSS, "9ev", 1, settings), runs)


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=12))
def test_cheapest_first_is_the_front_without_its_doubles(points: list[tuple[int, int]]) -> None:
    table = np.array(points, dtype=float).reshape(-1, 2)
    front = cheapest_first(table[:, 0], table[:, 1])
    assert np.all(np.diff(table[front], axis=0) * [1, -1] > 0)
    assert {tuple(row) for row in table[front]} == {tuple(row) for row in table[non_dominated(table)]}


def test_cheapest_first_leaves_missing_values_out() -> None:
    assert cheapest_first([np.nan, 1.0, 2.0], [0.0, np.nan, 5.0]).tolist() == [2]


def test_tradeoffs_measure_the_share_of_the_box_by_hand() -> None:
    first = run("a", 0, [1.0, 2.0, 3.0, 3.0], [6.0, 4.0, 2.0, 5.0])
    second = run("b", 0, [2.0, 5.0], [10.0, 3.0])
    result = tradeoffs(runs_of(first, second), measured(LOSS, PARAMETERS), best=2.0)
    assert result is not None and result.ideal == (1.0, 0.0) and result.reference == (5.0, 8.0)
    assert result.fronts[0].cost.tolist() == [1, 2, 3] and result.fronts[0].regret.tolist() == [4, 2, 0]
    assert result.hypervolumes("a") == {0: pytest.approx((4 * 4 + 3 * 2 + 2 * 2) / (4 * 8))}
    assert result.hypervolumes("b") == {0: 0.0}


def test_tradeoffs_take_the_second_metric_of_the_setting() -> None:
    single = run("a", 0, [1.0, 2.0], [2.0, 1.0])
    full = measured(LOSS, LATENCY, PARAMETERS)
    for runs, benchmark, key in (
        (runs_of(single), full, "parameters"),
        (runs_of(single, nsga2={"second": "latency"}), full, "latency"),
        (runs_of(single), measured(LOSS, LATENCY), "latency"),
    ):
        result = tradeoffs(runs, benchmark, best=0.0)
        assert result is not None and result.second.key == key
    assert tradeoffs(runs_of(single), measured(LOSS), best=0.0) is None


def test_tradeoffs_are_of_the_highest_fidelity() -> None:
    short = run("a", 0, [1.0], [0.0], fidelity=1)
    result = tradeoffs(runs_of(short, run("b", 0, [2.0], [5.0], fidelity=9)), measured(LOSS, PARAMETERS), best=0.0)
    assert result is not None and [len(front.cost) for front in result.fronts] == [0, 1]
    assert np.isnan(result.hypervolumes("a")[0]) and np.isnan(result.hypervolumes("b")[0])


def test_repeated_share_counts_isomorphic_cells_at_one_fidelity() -> None:
    nb101 = space("nb101")
    rng = np.random.default_rng(0)
    cells = [nb101.sample(rng) for _ in range(40)]
    isomorph = next(arch for arch in cells if nb101.canonical(arch) != arch)
    codes = nb101.codes([isomorph, nb101.canonical(isomorph), isomorph, isomorph])
    same = replace(run("a", 0, [1.0] * 4, [1.0] * 4), codes=codes)
    assert repeated_share(same, nb101) == 0.75
    assert repeated_share(replace(same, fidelity=np.array([1, 1, 9, 9])), nb101) == 0.5
    rubbish = replace(same, codes=np.full_like(codes, -1), status=np.full(4, FAILED, dtype=np.int8))
    assert repeated_share(rubbish, nb101) == 0.75
    assert np.isnan(repeated_share(run("a", 0, [], []), space("nb201")))
