"""Shrinkage against closed forms, and the smoothed table."""

from __future__ import annotations

import numpy as np
import pytest

import nasbed
from nasbed.core.errors import InvalidOption
from nasbed.surrogates import Examples
from nasbed.surrogates.shrinkage import noise_variance, shrink
from nasbed.surrogates.smoothed import Smoothed

QUICK = {"base_settings": {"rounds": 60, "learning_rate": 0.1, "features": "onehot"}, "folds": 4}


def test_shrinkage_of_normal_differences_is_the_linear_one() -> None:
    """Where true differences are normal with variance t, the posterior mean is d t / (t + v)."""
    rng = np.random.default_rng(0)
    true = rng.normal(scale=2.0, size=4000)
    variance = rng.uniform(0.5, 4, size=4000)
    observed = true + rng.normal(size=4000) * np.sqrt(variance)
    best = observed * 4 / (4 + variance)
    shrunk = shrink(observed, variance)
    assert np.mean((shrunk - true) ** 2) < 1.03 * np.mean((best - true) ** 2)


def test_shrinkage_spares_the_few_that_differ() -> None:
    rng = np.random.default_rng(1)
    true = np.where(np.arange(2000) % 20 == 0, rng.normal(scale=30, size=2000), 0)
    observed = true + rng.normal(size=2000)
    shrunk = shrink(observed, np.ones(2000))
    quiet = true == 0
    assert np.abs(shrunk[quiet]).mean() < 0.25 * np.abs(observed[quiet]).mean()
    assert np.abs(shrunk - true)[~quiet].mean() < 1.2 * np.abs(observed - true)[~quiet].mean()


def test_noise_is_learnt_from_repeats() -> None:
    rng = np.random.default_rng(2)
    level = np.repeat(np.linspace(80, 95, 3000), 3)
    spread = np.where(level < 87, 1.0, 0.2)
    owner = np.repeat(np.arange(3000), 3)
    variance = noise_variance(level + spread * rng.normal(size=9000), owner, label="this")
    assert variance[:1000].mean() == pytest.approx(1.0, rel=0.1)
    assert variance[2000:].mean() == pytest.approx(0.04, rel=0.1)
    with pytest.raises(InvalidOption, match="repeated"):
        noise_variance(rng.normal(size=10), np.arange(10), label="this")


@pytest.fixture(scope="module")
def truth_and_runs() -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Every second nb201 cell; what it is worth depends on its function alone; one noisy evaluation each."""
    space = nasbed.space("nb201")
    codes = space.codes(list(space.enumerate()))[::2]
    forms = space.function_codes(codes)
    rng = np.random.default_rng(3)
    worth = 80 + 2 * (forms == 3).sum(axis=1) + (forms == 2).sum(axis=1) - 3 * (forms == 0).sum(axis=1)
    _, owner = np.unique(forms, axis=0, return_inverse=True)
    worth = worth + rng.normal(scale=0.5, size=owner.max() + 1)[owner.reshape(-1)]
    return codes, worth, worth + rng.normal(scale=0.7, size=len(codes)), rng.permutation(len(codes))


def test_the_smoothed_table_is_nearer_the_truth_than_the_table(
    truth_and_runs: tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray],
) -> None:
    codes, worth, evaluated, order = truth_and_runs
    known_rows, new = order[:-300], order[-300:]
    model = Smoothed(nasbed.space("nb201"), settings=QUICK)
    model.fit(Examples.plain(codes[known_rows], evaluated[known_rows]))
    table = np.abs(evaluated - worth)[known_rows].mean()
    assert np.abs(model.predict(codes[known_rows]) - worth[known_rows]).mean() < 0.8 * table
    assert np.abs(model.predict(codes[new]) - worth[new]).mean() < table  # cells never evaluated


def test_a_smoothed_table_comes_back_from_its_files(
    truth_and_runs: tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray],
) -> None:
    codes, _, evaluated, order = truth_and_runs
    space = nasbed.space("nb201")
    model = Smoothed(space, settings=QUICK)
    model.fit(Examples.plain(codes[order[:2000]], evaluated[order[:2000]]))
    reloaded = Smoothed.restore(model.dump(), space, QUICK, 0)
    np.testing.assert_array_equal(model.predict(codes), reloaded.predict(codes))
