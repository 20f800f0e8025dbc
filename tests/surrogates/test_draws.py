"""Draws that are a function of architecture and seed."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from nasbed.surrogates.random_streams import normal, normals, reflected, reflected_one

CODES = st.lists(st.integers(0, 2**21), min_size=1, max_size=8)


@given(CODES, st.integers(-(2**40), 2**70))
def test_draws_of_one_and_of_a_batch_are_the_same_bits(code: list[int], seed: int) -> None:
    batch = np.array([code, code[::-1]], dtype=np.int64)
    assert normals(batch, seed).tolist() == [normal(tuple(code), seed), normal(tuple(code[::-1]), seed)]


@pytest.mark.parametrize("seed", [0, 1, 12345])
def test_draws_over_architectures_are_normal(seed: int) -> None:
    grid = np.stack(np.meshgrid(*[np.arange(5)] * 6), axis=-1).reshape(-1, 6)
    assert stats.kstest(normals(grid, seed), "norm").pvalue > 0.001


def test_draws_over_seeds_are_normal_and_independent() -> None:
    drawn = np.array([normals(np.array([[1, 2, 3], [1, 2, 4]]), seed) for seed in range(5000)])
    assert stats.kstest(drawn[:, 0], "norm").pvalue > 0.001
    assert abs(np.corrcoef(drawn.T)[0, 1]) < 0.06
    assert abs(np.corrcoef(drawn[:-1, 0], drawn[1:, 0])[0, 1]) < 0.06


@given(st.floats(-1e4, 1e4))
def test_reflected_values_are_within_bounds(value: float) -> None:
    (drawn,) = reflected(np.array([value]), (0.0, 100.0))
    assert 0 <= drawn <= 100
    assert drawn == reflected_one(value, (0.0, 100.0))
    if 0 <= value <= 100:
        assert drawn == pytest.approx(value, abs=1e-12)


def test_reflected_values_without_bounds_are_unchanged() -> None:
    assert reflected(np.array([-5.0, 5.0]), (-np.inf, np.inf)).tolist() == [-5.0, 5.0]
    assert reflected(np.array([-5.0, 5.0]), (0.0, np.inf)).tolist() == [5.0, 5.0]
    assert reflected_one(-5.0, (-np.inf, np.inf)) == -5.0
    assert reflected_one(-5.0, (0.0, np.inf)) == 5.0
