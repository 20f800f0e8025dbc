"""Rankings on several datasets against closed forms, and the correction for noise against known truth."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import spearmanr

from nasbed.core.errors import InvalidOption
from nasbed.evaluation.rank_transfer import mean_over_seeds, operation_effects, rank_transfer, seed_reliability

MATRICES = ("spearman", "low", "high", "corrected", "top", "overlap")


def noisy(truth: np.ndarray, rng: np.random.Generator, *, repeated: int) -> np.ndarray:
    """Three seeds of the first ``repeated`` rows, one of the others, with noise as large as the truth."""
    values = truth[:, None] + rng.normal(size=(len(truth), 3))
    values[repeated:, 1:] = np.nan
    return values


def test_the_same_order_has_one_and_the_reverse_minus_one() -> None:
    values = np.arange(100.0)[:, None] * [1, 1.001]
    ranks = rank_transfer([values, values**3, -values], np.random.default_rng(0), resamples=20)
    signs = np.array([[1, 1, -1], [1, 1, -1], [-1, -1, 1]])
    for name in ("spearman", "low", "high", "corrected", "top"):
        np.testing.assert_allclose(getattr(ranks, name), signs, atol=1e-12, err_msg=name)
    assert ranks.overlap[0, 1] == pytest.approx(1) and ranks.overlap[0, 2] < 0.1
    assert ranks.reliability == pytest.approx([1, 1, 1])


@pytest.mark.parametrize("correlation", [-0.7, 0.0, 0.6])
def test_correction_recovers_the_correlation_without_noise(correlation: float) -> None:
    """Two normal variables with correlation r have Spearman 6/π asin(r/2); noise of their own size halves r."""
    rng = np.random.default_rng(1)
    first, other = rng.normal(size=(2, 8000))
    second = correlation * first + np.sqrt(1 - correlation**2) * other
    ranks = rank_transfer([noisy(first, rng, repeated=1500), noisy(second, rng, repeated=1500)], rng, resamples=20)
    assert ranks.corrected[0, 1] == pytest.approx(6 / np.pi * np.arcsin(correlation / 2), abs=0.05)
    assert abs(ranks.spearman[0, 1]) < abs(ranks.corrected[0, 1]) or correlation == 0
    np.testing.assert_allclose(ranks.reliability, 6 / np.pi * np.arcsin(0.25), atol=0.03)


@given(seed=st.integers(0, 2**32 - 1), count=st.integers(20, 60))
def test_matrices_are_in_bounds_and_follow_the_order_of_datasets(seed: int, count: int) -> None:
    rng = np.random.default_rng(seed)
    columns = [noisy(rng.normal(size=count), rng, repeated=15) for _ in range(3)]
    ranks = rank_transfer(columns, np.random.default_rng(0), resamples=5, top_percent=25)
    turned = rank_transfer(columns[::-1], np.random.default_rng(0), resamples=5, top_percent=25)
    for name in MATRICES:
        values = getattr(ranks, name)
        assert (np.isnan(values) | (np.abs(values) <= 1 + 1e-12)).all() and (np.diag(values) == 1).all()
        if name in ("spearman", "corrected", "top", "overlap"):
            np.testing.assert_allclose(values, getattr(turned, name)[::-1, ::-1], atol=1e-12)
    for name in ("spearman", "corrected", "overlap"):
        np.testing.assert_array_equal(getattr(ranks, name), getattr(ranks, name).T)


def test_reliability_is_scipys_over_pairs_of_seeds() -> None:
    values = np.random.default_rng(2).normal(size=(40, 1)) + np.random.default_rng(3).normal(size=(40, 3))
    values[12:, 2] = np.nan
    expected = [
        spearmanr(values[:, 0], values[:, 1]).statistic,
        spearmanr(values[:12, 0], values[:12, 2]).statistic,
        spearmanr(values[:12, 1], values[:12, 2]).statistic,
    ]
    assert seed_reliability(values) == pytest.approx(np.mean(expected))
    assert np.isnan(seed_reliability(values[:, :1])) and np.isnan(seed_reliability(values[:9]))


def test_without_repeats_nothing_is_corrected() -> None:
    columns = [np.random.default_rng(seed).normal(size=(30, 1)) for seed in range(2)]
    ranks = rank_transfer(columns, np.random.default_rng(0), resamples=5)
    assert np.isnan(ranks.corrected[0, 1]) and np.isfinite(ranks.spearman).all()


def test_effects_of_a_full_grid_add_up_to_nothing() -> None:
    codes = np.array([[a, b] for a in range(3) for b in range(4)])
    values = 2.0 * codes[:, 0] - codes[:, 1] ** 2
    effects = operation_effects(codes, values, [0, 1], 4)
    deviation = values.std()
    np.testing.assert_allclose(effects[0, :3] * deviation, [-2, 0, 2], atol=1e-12)
    np.testing.assert_allclose(effects[1] * deviation, 3.5 - np.arange(4) ** 2, atol=1e-12)
    assert np.isnan(effects[0, 3])


def test_what_cannot_be_compared_is_refused() -> None:
    rng = np.random.default_rng(0)
    with pytest.raises(InvalidOption, match="the same architectures"):
        rank_transfer([np.zeros((3, 1))], rng)
    with pytest.raises(InvalidOption, match="the same architectures"):
        rank_transfer([np.zeros((3, 1)), np.zeros((4, 1))], rng)
    with pytest.raises(InvalidOption, match="ended well"):
        mean_over_seeds(np.array([[np.nan]]))
