"""Priors against closed forms, and against ConfigSpace's own samples where there is none."""

from __future__ import annotations

from collections import Counter
from typing import Any

import ConfigSpace
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from nasbed.spaces.from_configspace.hyperparameters import hyperparameter
from nasbed.spaces.from_configspace.scales import double_at, doubles_at, rank_of, truncated_normal


def drawn(hp: Any, number: int = 20_000, seed: int = 3) -> list[Any]:
    parameter = hyperparameter(hp)
    return [parameter.value(parameter.draw(uniform)) for uniform in np.random.default_rng(seed).random(number).tolist()]


def fits(observed: Counter[Any], expected: dict[Any, float]) -> bool:
    total = sum(observed.values())
    assert set(observed) <= {value for value, share in expected.items() if share > 0}
    rows = [(observed[value], share * total) for value, share in expected.items() if share * total > 5]
    counts, means = (np.array(column, dtype=float) for column in zip(*rows, strict=True))
    return bool(stats.chisquare(counts, means * counts.sum() / means.sum()).pvalue > 1e-3)


def test_sample_follows_weights_of_a_categorical() -> None:
    hp = ConfigSpace.CategoricalHyperparameter("c", ["a", "b", "c", "d"], weights=[1, 0, 5, 2])
    assert fits(Counter(drawn(hp)), {"a": 1 / 8, "b": 0, "c": 5 / 8, "d": 2 / 8})


def test_sample_is_uniform_over_integers_ordinals_and_logarithms() -> None:
    assert fits(
        Counter(drawn(ConfigSpace.UniformIntegerHyperparameter("n", -3, 4))), dict.fromkeys(range(-3, 5), 1 / 8)
    )
    assert fits(Counter(drawn(ConfigSpace.OrdinalHyperparameter("o", [3, 1, 2]))), dict.fromkeys([1, 2, 3], 1 / 3))
    values = np.array(drawn(ConfigSpace.UniformFloatHyperparameter("f", 1e-4, 10, log=True)))
    assert stats.kstest(np.log(values), stats.uniform(np.log(1e-4), np.log(1e5)).cdf).pvalue > 1e-3


def test_sample_of_a_log_integer_has_the_closed_form_of_its_bins() -> None:
    edges = 8 + np.arange(506) * (512 - 8) / 505
    shares = np.diff(np.log(edges)) / np.log(512 / 8)
    hp = ConfigSpace.UniformIntegerHyperparameter("n", 8, 512, log=True)
    assert fits(Counter(drawn(hp)), dict(zip(range(8, 513), shares.tolist(), strict=True)))


@pytest.mark.parametrize(
    "hp",
    [
        ConfigSpace.NormalFloatHyperparameter("f", 3, 2, 1, 9),
        ConfigSpace.NormalFloatHyperparameter("f", -40, 2, 1, 9),
        ConfigSpace.NormalFloatHyperparameter("f", 2, 3, 1, 9, log=True),
        ConfigSpace.BetaFloatHyperparameter("f", 2, 5, 1, 9),
        ConfigSpace.BetaFloatHyperparameter("f", 2, 5, 1, 9, log=True),
        ConfigSpace.NormalIntegerHyperparameter("f", 6, 2, 1, 9),
        ConfigSpace.NormalIntegerHyperparameter("f", 3, 4, 1, 9, log=True),
        ConfigSpace.BetaIntegerHyperparameter("f", 2, 5, 1, 9),
        ConfigSpace.BetaIntegerHyperparameter("f", 2, 3, 1, 9, log=True),
    ],
    ids=lambda hp: f"{type(hp).__name__}-{'log' if hp.log else 'linear'}-{getattr(hp, 'mu', '')}",
)
def test_sample_of_a_shaped_prior_is_distributed_as_by_configspace(hp: Any) -> None:
    drawn_values = np.array(drawn(hp), dtype=float)
    reference = np.asarray(hp.sample_value(20_000, seed=np.random.RandomState(5)), dtype=float)
    if isinstance(hp, ConfigSpace.hyperparameters.FloatHyperparameter):
        assert stats.ks_2samp(drawn_values, reference).pvalue > 1e-3
    else:
        distinct = sorted({*drawn_values, *reference})
        table = np.array([[(column == value).sum() for value in distinct] for column in (drawn_values, reference)])
        assert stats.chi2_contingency(table[:, table.sum(0) > 10]).pvalue > 1e-3


def test_truncated_normal_is_exact_in_far_tails_and_when_flat() -> None:
    for a, b in [(-3.0, 1.0), (30.0, 34.0), (-40.0, -38.5), (-1e-9, 1e-9)]:
        quantile = truncated_normal(a, b, -a / (b - a), 1 / (b - a))
        expected = (stats.truncnorm(a, b).ppf([0.1, 0.5, 0.9]) - a) / (b - a)
        assert [quantile(share) for share in (0.1, 0.5, 0.9)] == pytest.approx(expected, rel=1e-6)


@given(st.lists(st.floats(-1e200, 1e200), min_size=2))
def test_rank_of_a_double_keeps_order(values: list[float]) -> None:
    values = [value for value in values if abs(value) >= 2**-45 or value == 0]
    ranks = sorted(map(rank_of, values))
    assert [double_at(rank) for rank in ranks] == doubles_at(np.array(ranks, dtype=np.int64)).tolist() == sorted(values)
