"""Distributions and groups, against scipy, numpy and counting by hand."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from nasbed import NasbedError, space
from nasbed.evaluation.landscape import (
    binned_mean,
    ecdf,
    mean_by,
    pareto_front,
    pearson,
    rank_correlations,
    repeat_noise,
    spearman,
)

NUMBERS = st.lists(st.floats(-1e6, 1e6), min_size=3, max_size=40)
FEW = st.lists(st.sampled_from([0.0, 1.0, 2.0, 5.0, float("nan")]), min_size=3, max_size=40)


@given(NUMBERS)
def test_ecdf_is_that_of_scipy(values: list[float]) -> None:
    result, expected = ecdf(values), scipy.stats.ecdf(values).cdf
    np.testing.assert_array_equal(result.values, expected.quantiles)
    np.testing.assert_allclose(result.fractions, expected.probabilities)


@given(NUMBERS, st.integers(2, 10))
def test_ecdf_thinned_keeps_true_points_and_both_ends(values: list[float], points: int) -> None:
    result = ecdf(values)
    thin = result.thinned(points)
    assert len(thin.values) <= max(points, 2) and thin.values[-1] == result.values[-1]
    assert set(zip(thin.values, thin.fractions, strict=True)) <= set(zip(result.values, result.fractions, strict=True))
    assert thin.values[0] == result.values[0]


def test_ecdf_quantile_is_the_inverted_cdf_of_numpy() -> None:
    values = np.random.default_rng(0).normal(size=501)
    for level in (0.0, 0.01, 0.25, 0.5, 0.9, 1.0):
        assert ecdf(values).quantile(level) == np.quantile(values, level, method="inverted_cdf")
    assert np.isnan(ecdf([]).quantile(0.5))


@pytest.mark.parametrize("ddof", [0, 1])
def test_repeat_noise_is_the_deviation_of_numpy_where_enough_repeats_are_there(ddof: int) -> None:
    rng = np.random.default_rng(1)
    values = rng.normal(size=(50, 4, 3))
    values[rng.random(values.shape) < 0.3] = np.nan
    result = repeat_noise(values, ddof=ddof)
    for cell in np.ndindex(result.shape):
        repeats = values[cell][~np.isnan(values[cell])]
        if len(repeats) > ddof:
            assert result[cell] == pytest.approx(np.std(repeats, ddof=ddof), abs=1e-12)
        else:
            assert np.isnan(result[cell])


@given(FEW)
def test_mean_by_is_the_mean_of_each_group(values: list[float]) -> None:
    keys = [i % 3 for i in range(len(values))]
    result = mean_by(keys, values)
    for key, count, mean, error in zip(result.keys, result.counts, result.means, result.standard_errors, strict=True):
        own = [value for value, own_key in zip(values, keys, strict=True) if own_key == key and value == value]
        assert count == len(own) and mean == pytest.approx(np.mean(own))
        if count > 1:
            assert error == pytest.approx(scipy.stats.sem(own))
        else:
            assert np.isnan(error)
    assert result.counts.sum() == sum(value == value for value in values)


def test_means_by_depth_and_width_count_every_cell_once_and_know_chains() -> None:
    nb101 = space("nb101")
    codes = nb101.codes([arch for arch, _ in zip(nb101.enumerate(), range(2500), strict=False)])
    ones = np.ones(len(codes))
    depth, width = (mean_by(nb101.properties(codes)[name], ones) for name in nb101.shape_properties)
    assert depth.counts.sum() == width.counts.sum() == len(codes)
    chains = sum(3**interior for interior in range(4))  # width 1 exactly: every labelled chain of up to five vertices
    assert width.counts[width.keys == 1] == chains
    assert depth.counts[depth.keys == 1] == 1  # input to output, nothing between


@given(FEW, st.randoms())
def test_correlations_are_those_of_scipy(values: list[float], shuffler: st.DataObject) -> None:
    changed = list(values)
    shuffler.shuffle(changed)  # type: ignore[attr-defined]
    pairs = np.array([(a, b) for a, b in zip(values, changed, strict=True) if a == a and b == b]).reshape(-1, 2)
    varied = len(pairs) > 1 and (np.ptp(pairs, axis=0) > 0).all()
    expected = scipy.stats.spearmanr(*pairs.T).statistic if varied else np.nan
    straight = scipy.stats.pearsonr(*pairs.T).statistic if varied else np.nan
    assert spearman(values, changed) == pytest.approx(expected, nan_ok=True)
    assert pearson(values, changed) == pytest.approx(straight, nan_ok=True)


def test_rank_correlations_are_the_matrix_of_scipy_whatever_the_scale() -> None:
    table = np.random.default_rng(2).normal(size=(200, 4)).cumsum(axis=1)
    expected = scipy.stats.spearmanr(table).statistic
    np.testing.assert_allclose(rank_correlations(table), expected)
    np.testing.assert_allclose(rank_correlations(np.exp(table) * [1e9, 1e-9, 1, 1]), expected)


def test_binned_mean_is_that_of_scipy() -> None:
    x, y, z = np.random.default_rng(3).normal(size=(3, 300))
    result = binned_mean(x, y, values=z, bins=(5, 7))
    expected = scipy.stats.binned_statistic_2d(x, y, z, bins=(5, 7))
    np.testing.assert_allclose(result.means, expected.statistic)
    assert result.counts.sum() == 300


@pytest.mark.parametrize("direction", ["maximize", "minimize"])
def test_pareto_front_is_what_no_other_row_dominates(direction: str) -> None:
    rng = np.random.default_rng(4)
    cost, metric = rng.integers(0, 12, (2, 80)).astype(float)
    metric[5] = np.nan
    sign = 1 if direction == "maximize" else -1
    points = {(c, sign * m) for c, m in zip(cost, metric, strict=True) if m == m}
    best = {p for p in points if not any(q != p and q[0] <= p[0] and q[1] >= p[1] for q in points)}
    front = pareto_front(cost, metric, direction=direction)  # type: ignore[arg-type]
    assert [(cost[row], sign * metric[row]) for row in front] == sorted(best)


def test_columns_of_unequal_length_are_refused_in_one_line() -> None:
    for call in (lambda: pearson([1.0], [1.0, 2.0]), lambda: mean_by([1, 2], [1.0]), lambda: rank_correlations([1.0])):
        with pytest.raises(NasbedError) as error:
            call()
        assert "\n" not in str(error.value) and "got" in str(error.value)
