"""Resampling items: the fast path against the plain one, coverage, and tests that hold their level."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from nasbed.evaluation.ranking import (
    best_rank_at,
    compare_spearman,
    item_bootstrap,
    kendall,
    ndcg_at,
    paired_bootstrap,
    precision_at,
    rbo_normalised,
    spearman,
    williams,
    within_top,
)
from support.examples import examples


def plain(truth: np.ndarray, scores: np.ndarray) -> float:
    """Not the function that the fast path knows."""
    return spearman(truth, scores)


@examples(20)
@given(st.integers(2, 25).flatmap(lambda n: st.tuples(*[st.lists(st.integers(0, 6), min_size=n, max_size=n)] * 3)))
def test_resampled_spearman_is_that_of_each_resample(columns: tuple[list[int], list[int], list[int]]) -> None:
    truth, first, second = columns
    fast = item_bootstrap(truth, first, np.random.default_rng(0), resamples=30)
    slow = item_bootstrap(truth, first, np.random.default_rng(0), resamples=30, measure=plain)
    assert (fast.estimate, fast.low, fast.high) == pytest.approx((slow.estimate, slow.low, slow.high), nan_ok=True)
    pairs = [
        paired_bootstrap(truth, first, second, np.random.default_rng(1), resamples=30, measure=measure)
        for measure in (spearman, plain)
    ]
    assert pairs[0].low == pytest.approx(pairs[1].low, nan_ok=True, abs=1e-9)
    assert pairs[0].high == pytest.approx(pairs[1].high, nan_ok=True, abs=1e-9)


def test_bootstrap_interval_covers_spearman_of_normal_pairs_as_often_as_it_says() -> None:
    """The correlation of a normal pair with Pearson's rho is 6/pi asin(rho/2)."""
    rng, rho = np.random.default_rng(2), 0.6
    true, covered = 6 / np.pi * np.arcsin(rho / 2), 0
    for _ in range(300):
        truth, noise = rng.normal(size=(2, 100))
        interval = item_bootstrap(truth, rho * truth + np.sqrt(1 - rho**2) * noise, rng, resamples=200)
        covered += interval.low <= true <= interval.high
    assert 0.90 <= covered / 300 <= 0.98


def test_bootstrap_interval_narrows_with_the_root_of_the_items() -> None:
    rng = np.random.default_rng(3)
    widths = []
    for items in (200, 3200):
        truth, noise = rng.normal(size=(2, items))
        interval = item_bootstrap(truth, truth + noise, rng)
        assert interval.low < interval.estimate < interval.high
        widths.append(interval.high - interval.low)
    assert widths[0] / widths[1] == pytest.approx(4, rel=0.25)


@pytest.mark.parametrize(
    "measure",
    [
        kendall,
        partial(rbo_normalised, p=0.9),
        partial(rbo_normalised, p=0.9, ties="index"),
        partial(precision_at, k=10, best=10),
        partial(best_rank_at, k=10),
        partial(ndcg_at, k=10),
        partial(within_top, percent=20, measure=spearman),
    ],
)
def test_bootstrap_takes_any_measure_with_its_options(measure: partial[float]) -> None:
    rng = np.random.default_rng(4)
    truth, noise, other_noise = np.abs(rng.normal(size=(3, 100)))
    interval = item_bootstrap(truth, truth + noise / 2, rng, measure=measure, resamples=200)
    assert interval.estimate == measure(truth, truth + noise / 2)
    assert interval.low <= interval.estimate <= interval.high and interval.low < interval.high
    pair = paired_bootstrap(truth, truth + noise / 2, other_noise, rng, measure=measure, resamples=100)
    swapped = paired_bootstrap(truth, other_noise, truth + noise / 2, rng, measure=measure, resamples=100)
    assert pair.estimate == pytest.approx(-swapped.estimate)


def test_copies_of_an_item_keep_equal_rankings_equal_by_index() -> None:
    truth = np.random.default_rng(5).normal(size=50)
    by_index = partial(rbo_normalised, p=0.9, ties="index")
    interval = item_bootstrap(truth, truth, np.random.default_rng(6), measure=by_index, resamples=50)
    assert (interval.low, interval.high) == (1.0, 1.0)


def test_same_seed_gives_the_same_interval_and_levels_nest() -> None:
    truth, scores = np.random.default_rng(7).normal(size=(2, 80))
    first, repeated = (item_bootstrap(truth, scores, np.random.default_rng(8)) for _ in range(2))
    wide = item_bootstrap(truth, scores, np.random.default_rng(8), level=0.99)
    assert first == repeated and wide.low < first.low < first.high < wide.high


def test_paired_tests_hold_their_level_and_agree() -> None:
    """Two scorings of the same quality: at most about 5 % below 0.05, by both."""
    rng, bootstrapped, formula = np.random.default_rng(9), [], []
    for _ in range(200):
        truth, first, second = rng.normal(size=(3, 100))
        bootstrapped.append(paired_bootstrap(truth, truth + first, truth + second, rng, resamples=100).p)
        formula.append(compare_spearman(truth, truth + first, truth + second).p)
    for p in (bootstrapped, formula):
        assert 0.01 <= np.mean(np.array(p) < 0.05) <= 0.09
    assert stats.spearmanr(bootstrapped, formula).statistic > 0.9


def test_paired_tests_find_a_real_difference_and_none_between_equals() -> None:
    rng = np.random.default_rng(10)
    truth, first, second = rng.normal(size=(3, 500))
    better, worse = truth + 0.5 * first, truth + 2 * second
    difference = paired_bootstrap(truth, better, worse, rng)
    assert difference.low > 0 and difference.p == pytest.approx(2 / 1001)
    assert compare_spearman(truth, better, worse).p < 1e-6
    assert paired_bootstrap(truth, better, better, rng).p == compare_spearman(truth, better, better).p == 1.0


def test_williams_is_steigers_example_and_antisymmetric() -> None:
    """Steiger (1980): 103 people, correlations 0.4 and 0.5 that correlate by 0.1."""
    result = williams(0.4, 0.5, between=0.1, items=103)
    assert (round(result.t, 2), round(result.p, 2)) == (-0.89, 0.37)
    assert williams(0.5, 0.4, between=0.1, items=103).t == pytest.approx(-result.t)
    assert np.isnan(williams(float("nan"), 0.4, between=0.1, items=103).p)


def test_resamples_without_a_value_are_left_out() -> None:
    truth, scores = [1.0, 2.0, 2.0], [1.0, 2.0, 3.0]
    interval = item_bootstrap(truth, scores, np.random.default_rng(11), resamples=200)
    assert np.isfinite([interval.estimate, interval.low, interval.high]).all()
    constant = item_bootstrap(truth, [5.0, 5.0, 5.0], np.random.default_rng(12), resamples=20)
    assert np.isnan([constant.estimate, constant.low, constant.high]).all()
    assert np.isnan(paired_bootstrap(truth, [5.0, 5.0, 5.0], scores, np.random.default_rng(13), resamples=20).p)
