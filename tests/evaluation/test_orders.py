"""Orders of the same things by several judges: against closed forms, and against scipy where it has them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import friedmanchisquare

from nasbed.core.errors import InvalidOption
from nasbed.evaluation.orders import agreement_over_seeds, concordance, order_agreement


@given(arrays(np.float64, (5, 4), elements=st.integers(0, 3).map(float)))
def test_concordance_is_friedmans_statistic_by_its_largest_value(losses: np.ndarray) -> None:
    """W = chi-squared / (judges (things - 1)), ties included."""
    if any(np.ptp(column) == 0 for column in losses.T):
        return
    statistic = friedmanchisquare(*losses).statistic
    assert concordance(losses) == pytest.approx(statistic / (4 * (5 - 1)), abs=1e-12)


def test_two_judges_with_opposite_orders_have_no_concordance() -> None:
    losses = np.array([[1.0, 4.0], [2.0, 3.0], [3.0, 2.0], [4.0, 1.0]])
    assert concordance(losses) == 0
    np.testing.assert_array_equal(order_agreement(losses), [[1, -1], [-1, 1]])
    assert np.isnan(concordance(np.ones((3, 2)))), "nobody tells them apart"
    assert np.isnan(order_agreement(np.ones((3, 2)))).all()


def test_halves_of_seeds_agree_where_differences_are_larger_than_noise() -> None:
    rng = np.random.default_rng(0)
    levels = np.arange(6.0)[:, None, None] * [[1.0], [0.0]]
    losses = levels + rng.normal(scale=0.5, size=(6, 2, 40))
    clear, chance = agreement_over_seeds(losses, rng)
    assert clear == pytest.approx(1, abs=0.02) and abs(chance) < 0.4


def test_too_little_is_refused() -> None:
    for losses in (np.ones((1, 3)), np.ones((3, 1))):
        with pytest.raises(InvalidOption, match="2 things and 2 judges or more"):
            concordance(losses)
    with pytest.raises(InvalidOption, match="2 seeds or more"):
        agreement_over_seeds(np.ones((3, 2, 1)), np.random.default_rng(0))
