"""Incumbents, regrets and curves: against the definition written out, and by what must hold for any values."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nasbed import NasbedError
from nasbed.core.metric import Direction
from nasbed.evaluation.trajectories import (
    area_under_curve,
    at_times,
    bands,
    incumbent,
    incumbent_index,
    regret,
    time_grid,
)

VALUES = st.lists(st.floats(-1e6, 1e6) | st.just(math.nan), max_size=40)
DIRECTIONS = st.sampled_from(["maximize", "minimize"])


@given(st.lists(st.tuples(st.integers(0, 5) | st.just(math.nan), st.sampled_from([4, 12, 108])), max_size=30))
def test_incumbent_index_is_the_first_best_at_the_highest_fidelity_so_far(rows: list[tuple[float, int]]) -> None:
    indices = incumbent_index([v for v, _ in rows], "minimize", fidelity=[f for _, f in rows])
    for end in range(1, len(rows) + 1):
        candidates = [(-f, v, i) for i, (v, f) in enumerate(rows[:end]) if v == v]
        assert indices[end - 1] == (min(candidates)[2] if candidates else -1)


@given(VALUES, DIRECTIONS)
def test_incumbent_is_monotone_skips_missing_values_and_is_the_value_of_its_index(
    values: list[float], direction: Direction
) -> None:
    best, index = incumbent(values, direction), incumbent_index(values, direction)
    started = index >= 0
    assert np.array_equal(np.isnan(best), ~started)
    np.testing.assert_array_equal(best[started], np.array(values)[index[started]])
    steps = np.diff(best[started])
    assert (steps >= 0).all() if direction == "maximize" else (steps <= 0).all()


@given(VALUES.filter(lambda values: any(v == v for v in values)), DIRECTIONS)
def test_regret_of_incumbents_is_never_negative_falls_and_ends_at_zero(
    values: list[float], direction: Direction
) -> None:
    best = float(np.nanmax(values) if direction == "maximize" else np.nanmin(values))
    regrets = regret(incumbent(values, direction), direction, best=best)
    regrets = regrets[~np.isnan(regrets)]
    assert (regrets >= 0).all() and (np.diff(regrets) <= 0).all() and regrets[-1] == 0


@given(st.lists(st.tuples(st.floats(0.1, 100), st.floats(-5, 5)), max_size=20), st.floats(0.05, 200))
def test_at_times_is_the_last_value_until_then(rows: list[tuple[float, float]], moment: float) -> None:
    rows = sorted(rows, key=lambda row: row[0])
    before = [value for time, value in rows if time <= moment]
    (value,) = at_times([t for t, _ in rows], [v for _, v in rows], grid_s=[moment])
    assert value == before[-1] if before else math.isnan(value)


def test_area_under_curve_is_the_limit_of_sums_on_a_fine_grid() -> None:
    rng = np.random.default_rng(0)
    times, values = np.sort(rng.uniform(1, 1000, 50)), np.sort(rng.random(50))[::-1]
    for scale in ("log", "linear"):
        grid = time_grid(times[0], 1500.0, points=400_001, scale=scale)
        sums = at_times(times, values, grid_s=grid[:-1]).mean()
        exact = area_under_curve(times, values, first_s=times[0], last_s=1500.0, scale=scale)
        assert exact == pytest.approx(sums, abs=1e-4)
    assert math.isnan(area_under_curve(times, values, first_s=times[0] / 2, last_s=10.0))
    doubled = area_under_curve(np.repeat(times, 2), np.repeat(values, 2), first_s=times[0], last_s=1500.0)
    assert doubled == area_under_curve(times, values, first_s=times[0], last_s=1500.0)


@given(st.permutations(range(7)))
def test_bands_do_not_depend_on_the_order_of_the_seeds(order: list[int]) -> None:
    curves = np.random.default_rng(1).normal(size=(7, 5))
    bands_in_order, bands_shuffled = bands(curves, level=0.8), bands(curves[order], level=0.8)
    for name in ("median", "low", "high"):
        np.testing.assert_allclose(getattr(bands_in_order, name), getattr(bands_shuffled, name), rtol=1e-12)
    assert (bands_in_order.low <= bands_in_order.median).all() and (bands_in_order.median <= bands_in_order.high).all()


@pytest.mark.parametrize("first, last, points", [(0.0, 1.0, 5), (2.0, 1.0, 5), (1.0, math.inf, 5), (1.0, 2.0, 1)])
def test_time_grid_refuses_what_is_no_span(first: float, last: float, points: int) -> None:
    with pytest.raises(NasbedError, match="time grid"):
        time_grid(first, last, points=points)
