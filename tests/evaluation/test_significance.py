"""Ranks and tests: against scipy, published tables and enumeration."""

from __future__ import annotations

import warnings
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from nasbed import NasbedError
from nasbed.evaluation.ranks import mean_ranks, ranks
from nasbed.evaluation.significance import (
    bootstrap_interval,
    critical_difference,
    friedman,
    holm,
    mann_whitney,
    pairwise,
    superiority,
    wilcoxon,
)

SMALL = st.integers(2, 9).flatmap(
    lambda n: st.tuples(*[st.lists(st.integers(0, 4).map(float), min_size=n, max_size=n)] * 2)
)


@pytest.mark.parametrize("pairs", [5, 20, 50, 51, 300])
def test_wilcoxon_is_scipys_where_no_differences_tie(pairs: int) -> None:
    x, y = np.random.default_rng(pairs).normal([[0.0], [0.3]], size=(2, pairs))
    method = "exact" if pairs <= 50 else "approx"
    assert wilcoxon(x, y) == pytest.approx(stats.wilcoxon(x, y, method=method).pvalue, rel=1e-9)


@given(SMALL)
def test_wilcoxon_with_ties_is_the_count_over_all_signs(columns: tuple[list[float], list[float]]) -> None:
    difference = np.subtract(*columns)
    difference = difference[difference != 0]
    sizes = stats.rankdata(np.abs(difference))
    observed = abs(float(np.sign(difference) @ sizes))
    sums = np.array([abs(float(np.dot(signs, sizes))) for signs in product((-1, 1), repeat=len(sizes))])
    assert wilcoxon(*columns) == pytest.approx(float((sums >= observed - 1e-9).mean()))


@given(SMALL)
def test_mann_whitney_and_superiority_are_scipys(columns: tuple[list[float], list[float]]) -> None:
    x, y = columns
    if len(set(x + y)) == 1:
        assert mann_whitney(x, y) == 1.0 and superiority(x, y) == 0.5
        return
    expected = stats.mannwhitneyu(x, y)
    assert mann_whitney(x, y) == pytest.approx(expected.pvalue)
    assert superiority(x, y) == pytest.approx(1 - expected.statistic / len(x) / len(y))
    assert superiority(x, y) + superiority(y, x) == pytest.approx(1)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_holm_keeps_the_order_and_lies_between_none_and_bonferroni(p: list[float]) -> None:
    corrected = holm(p)
    assert (corrected >= np.array(p)).all() and (corrected <= np.minimum(1, len(p) * np.array(p)) + 1e-15).all()
    assert (np.diff(corrected[np.argsort(p)]) >= 0).all()
    level = 0.05  # the definition: reject from the smallest on, each at level / (how many are left)
    rejected = 0
    for position, raw in enumerate(sorted(p)):
        if raw * (len(p) - position) > level:
            break
        rejected += 1
    assert int((corrected <= level).sum()) == rejected


def test_holm_holds_the_familywise_level() -> None:
    p = np.random.default_rng(0).random((4000, 6))
    wrong = np.mean([(holm(row) <= 0.05).any() for row in p])
    assert abs(wrong - (1 - (1 - 0.05 / 6) ** 6)) < 4 * np.sqrt(0.05 * 0.95 / 4000)


@pytest.mark.parametrize("ties", [False, True])
def test_friedman_is_scipys(ties: bool) -> None:
    table = np.random.default_rng(2).normal(size=(5, 12)) + np.arange(5)[:, None] / 3
    table = np.round(table) if ties else table
    expected = stats.friedmanchisquare(*table)
    assert (friedman(table).statistic, friedman(table).p) == pytest.approx((expected.statistic, expected.pvalue))
    assert friedman(np.ones((3, 4))).p == 1.0


@pytest.mark.parametrize(
    "methods, q05, q10", [(2, 1.960, 1.645), (3, 2.343, 2.052), (5, 2.728, 2.459), (10, 3.164, 2.920)]
)
def test_critical_difference_has_the_published_critical_values(methods: int, q05: float, q10: float) -> None:
    """Demšar 2006, table 5a."""
    factor = np.sqrt(methods * (methods + 1) / (6 * 40))
    assert critical_difference(methods, 40) / factor == pytest.approx(q05, abs=1.1e-3)
    assert critical_difference(methods, 40, alpha=0.1) / factor == pytest.approx(q10, abs=1.1e-3)


@given(st.permutations(range(8)))
def test_comparisons_do_not_depend_on_the_order_of_the_seeds(order: list[int]) -> None:
    table = np.random.default_rng(3).normal(size=(4, 8))
    for result, repeated in (
        (pairwise(table).holm, pairwise(table[:, order]).holm),
        (pairwise(table, test="mann-whitney").p, pairwise(table[:, order], test="mann-whitney").p),
        (ranks(table)[:, order], ranks(table[:, order])),
    ):
        np.testing.assert_allclose(result, repeated)


@given(st.lists(st.lists(st.integers(0, 6), min_size=4, max_size=4), min_size=2, max_size=5))
def test_ranks_are_kept_by_rising_functions_and_sum_to_the_triangle(rows: list[list[int]]) -> None:
    table = np.array(rows, dtype=float)
    np.testing.assert_array_equal(ranks(table), ranks(np.exp(table) - 3))
    np.testing.assert_allclose(ranks(table).sum(axis=0), len(rows) * (len(rows) + 1) / 2)


def test_mean_ranks_over_time_are_those_at_each_time() -> None:
    curves = np.random.default_rng(4).normal(size=(3, 20, 6))
    together = mean_ranks(curves, np.random.default_rng(5))
    for time in range(6):
        single = mean_ranks(curves[..., time], np.random.default_rng(5))
        np.testing.assert_allclose(together.mean[:, time], single.mean)
        np.testing.assert_allclose(together.low[:, time], single.low)
    assert (together.low <= together.mean).all() and (together.mean <= together.high).all()


def test_bootstrap_intervals_cover_about_as_often_as_they_say() -> None:
    rng = np.random.default_rng(6)
    covered = 0
    for _ in range(300):
        interval = bootstrap_interval(rng.normal(size=40) + 1, rng, resamples=300)
        covered += interval.low <= 1 <= interval.high
    assert 0.90 <= covered / 300 <= 0.99


def test_bootstrap_interval_of_a_mean_is_as_wide_as_its_standard_error_says() -> None:
    values = np.random.default_rng(7).normal(size=400)
    interval = bootstrap_interval([*values, np.nan], np.random.default_rng(8), resamples=4000)
    assert interval.estimate == pytest.approx(values.mean())
    assert interval.high - interval.low == pytest.approx(2 * 1.96 * values.std() / 20, rel=0.05)


def test_comparisons_of_nothing_find_nothing() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert (
            wilcoxon([1.0], [1.0]) == wilcoxon([], []) == wilcoxon([np.inf], [np.inf]) == mann_whitney([], [1.0]) == 1
        )
        assert wilcoxon([np.inf, 1, 2, 3, 4, 5], [0.0, 0, 0, 0, 0, 0]) == 2 / 2**6
        assert np.isnan(superiority([], [1.0])) and np.isnan(bootstrap_interval([], np.random.default_rng(0)).low)
    for broken in (lambda: friedman([[1.0]]), lambda: critical_difference(1, 5), lambda: ranks([1.0])):
        with pytest.raises(NasbedError):
            broken()
