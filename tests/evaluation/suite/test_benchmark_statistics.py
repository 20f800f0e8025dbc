"""Statistics over benchmarks: against published examples, scipy, closed forms and plain recomputation."""

from __future__ import annotations

from itertools import combinations, pairwise

import numpy as np
import pytest
from scipy import stats

from nasbed import NasbedError
from nasbed.evaluation.ranks import ranks
from nasbed.evaluation.significance import critical_difference, friedman
from nasbed.evaluation.suite import cliques, leave_one_out, signed_rank_posterior, stratified_mean

DEMSAR = {"C4.5": 3.143, "C4.5+m": 2.000, "C4.5+cf": 2.893, "C4.5+m+cf": 1.964}
"""Mean ranks over 14 data sets, Demšar (2006), table 6."""


def test_groups_of_demsars_example_are_those_of_his_figure() -> None:
    """Section 3.2.2: at 10 % C4.5 is worse than two methods, and C4.5+cf belongs to either group; at 5 % nothing
    differs."""
    names, values = list(DEMSAR), list(DEMSAR.values())
    assert critical_difference(4, 14) == pytest.approx(1.25, abs=0.005)
    assert critical_difference(4, 14, alpha=0.1) == pytest.approx(1.12, abs=0.005)
    at_ten = [{names[place] for place in group} for group in cliques(values, critical_difference(4, 14, alpha=0.1))]
    assert at_ten == [{"C4.5+m+cf", "C4.5+m", "C4.5+cf"}, {"C4.5+cf", "C4.5"}]
    assert [len(group) for group in cliques(values, critical_difference(4, 14))] == [4]


def test_groups_are_the_largest_sets_within_the_difference() -> None:
    rng = np.random.default_rng(0)
    for _ in range(40):
        values = rng.integers(2, 13, size=6) / 2
        near = [
            set(group)
            for size in range(2, 7)
            for group in combinations(range(6), size)
            if np.ptp(values[list(group)]) < 1.2
        ]
        largest = [group for group in near if not any(group < other for other in near)]
        groups = cliques(values, 1.2)
        assert sorted(map(sorted, groups)) == sorted(map(sorted, largest))
        assert all(values[a] <= values[b] for group in groups for a, b in pairwise(group))


def test_friedman_over_benchmarks_is_scipys() -> None:
    losses = np.random.default_rng(1).normal(size=(5, 9)) + np.arange(5)[:, None] / 2
    expected = stats.friedmanchisquare(*losses)
    assert friedman(losses).statistic == pytest.approx(expected.statistic)
    assert friedman(losses).p == pytest.approx(expected.pvalue)
    q = stats.studentized_range.ppf(0.95, 5, np.inf) / np.sqrt(2)
    assert critical_difference(5, 9) == pytest.approx(q * np.sqrt(5 * 6 / (6 * 9)))


def test_mean_ranks_without_a_benchmark_are_those_of_the_others() -> None:
    losses = np.random.default_rng(2).integers(0, 4, size=(4, 6)).astype(float)
    for left_out, row in enumerate(leave_one_out(losses)):
        assert row == pytest.approx(ranks(np.delete(losses, left_out, axis=1)).mean(axis=1))
    with pytest.raises(NasbedError, match="2 benchmarks or more"):
        leave_one_out(losses[:, :1])


def test_posterior_of_one_benchmark_has_a_closed_form() -> None:
    """With one difference beyond the rope, the weight of the prior has the density of Beta(1/2, 1), and the method wins
    where its square is below one half: with probability 2^(-1/4)."""
    posterior = signed_rank_posterior([1.0], np.random.default_rng(0), rope=0.1, samples=40_000)
    assert posterior.worse == pytest.approx(2**-0.25, abs=0.01)
    assert posterior.better == 0 and sum(posterior) == pytest.approx(1)


def test_posterior_turns_round_with_the_methods_and_knows_equality() -> None:
    differences = np.random.default_rng(3).normal(-0.3, 1, size=12)
    one = signed_rank_posterior(differences, np.random.default_rng(0), rope=0.2)
    other = signed_rank_posterior(-differences, np.random.default_rng(0), rope=0.2)
    assert (one.better, one.equivalent, one.worse) == pytest.approx((other.worse, other.equivalent, other.better))
    assert one.better > one.worse
    assert signed_rank_posterior(differences / 100, np.random.default_rng(0), rope=0.2).equivalent == 1
    with pytest.raises(NasbedError, match="1 difference or more"):
        signed_rank_posterior([], np.random.default_rng(0))


def test_stratified_mean_weighs_benchmarks_alike_and_its_interval_is_that_of_independent_seeds() -> None:
    rng = np.random.default_rng(4)
    strata = [rng.normal(1.0, 2.0, size=(400, 1)), rng.normal(5.0, 1.0, size=(100, 1))]
    band = stratified_mean(strata, rng, resamples=4000)
    assert band.mean[0] == pytest.approx((strata[0].mean() + strata[1].mean()) / 2)
    error = np.sqrt(sum(table.var() / len(table) for table in strata)) / 2
    assert band.high[0] - band.low[0] == pytest.approx(2 * 1.96 * error, rel=0.06)


def test_stratified_mean_is_missing_where_a_benchmark_has_no_run_or_a_run_no_value() -> None:
    rng = np.random.default_rng(0)
    band = stratified_mean([[[np.nan, 1.0], [2.0, 3.0]], [[4.0, 5.0]]], rng)
    assert np.isnan(band.mean[0]) and band.mean[1] == 3.5
    assert np.isnan(stratified_mean([np.empty((0, 2)), [[4.0, 5.0]]], rng).mean).all()
    with pytest.raises(NasbedError, match=r"values \[seeds, places\]"):
        stratified_mean([[1.0, 2.0]], rng)
