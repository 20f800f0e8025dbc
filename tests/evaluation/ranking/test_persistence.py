"""The p of a rank-biased overlap: sums by brute force, published weights, limits and round trips."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import exp1

from nasbed.core.errors import InvalidOption
from nasbed.evaluation.ranking import InnerSum, persistence_for, rbo_extrapolated, rbo_normalised, top_count, top_weight

SUMS: list[InnerSum] = ["paper", "webber"]


@pytest.mark.parametrize("p, depth, weight", [(0.9, 10, 0.855585446747), (0.98, 50, 0.852233910319)])
def test_weight_is_that_of_webbers_examples(p: float, depth: int, weight: float) -> None:
    """Webber et al. (2010), after equation 21: p = 0.9 gives the first 10 ranks 86 %, p = 0.98 the first 50 the same."""
    assert top_weight(p, depth, inner="webber") == pytest.approx(weight, abs=1e-12)


@pytest.mark.parametrize("p", [0.01, 0.5, 0.9, 0.999])
@pytest.mark.parametrize("depth", [1, 2, 3, 10, 300])
def test_weight_is_equation_4_and_with_webbers_sum_the_weight_of_the_first_ranks(p: float, depth: int) -> None:
    """At depth d, each rank up to d has 1/d of the weight (1 - p) p^(d-1)."""
    depths = np.arange(1.0, 60_000)
    summed = ((1 - p) * p ** (depths - 1) * np.minimum(depths, depth) / depths).sum()
    assert top_weight(p, depth, inner="webber") == pytest.approx(summed, rel=1e-9)
    for inner, terms in (("paper", depth), ("webber", depth - 1)):
        printed = math.log(1 / (1 - p)) - sum(p**i / i for i in range(1, terms + 1))
        expected = 1 - p ** (depth - 1) + (1 - p) / p * depth * printed
        assert top_weight(p, depth, inner=inner) == pytest.approx(expected, abs=1e-9)  # type: ignore[arg-type]


@pytest.mark.parametrize("inner", SUMS)
@pytest.mark.parametrize("c", [0.01, 0.3, 1.0, 4.0])
def test_weight_at_great_depth_tends_to_its_integral(c: float, inner: InnerSum) -> None:
    """With p = 1 - c/d, equation 4 tends to 1 - exp(-c) + c E1(c)."""
    depth = 1_000_000
    assert top_weight(1 - c / depth, depth, inner=inner) == pytest.approx(1 - math.exp(-c) + c * exp1(c), abs=1e-5)


@pytest.mark.parametrize("inner", SUMS)
@pytest.mark.parametrize("depth", [2, 3, 7, 100, 5000, 1_000_000])
def test_weight_falls_with_p_from_one_to_nothing(depth: int, inner: InnerSum) -> None:
    odds = np.linspace(-30, 30, 61)
    weights = np.array([top_weight(float(1 / (1 + np.exp(-odd))), depth, inner=inner) for odd in odds])
    assert (np.diff(weights) <= 1e-9).all()
    assert weights[0] == pytest.approx(1.0) and 0 < weights[-1] < 1e-3 * depth
    assert (weights <= 1 + 1e-12).all()


@given(st.integers(2, 1_000_000), st.floats(0.001, 100), st.floats(1e-4, 0.9999), st.sampled_from(SUMS))
def test_persistence_gives_the_weight_that_was_asked_for(
    items: int, percent: float, weight: float, inner: InnerSum
) -> None:
    try:
        depth = top_count(items, percent)
    except InvalidOption:
        return
    if depth == 1 and inner == "paper" and weight > 0.216:
        with pytest.raises(InvalidOption, match="no p gives"):
            persistence_for(items, top_percent=percent, weight=weight, inner=inner)
        return
    p = persistence_for(items, top_percent=percent, weight=weight, inner=inner)
    assert 0 < p < 1
    assert top_weight(p, depth, inner=inner) == pytest.approx(weight, abs=1e-8)


def test_persistence_rises_with_the_top_and_falls_with_its_weight() -> None:
    for inner in SUMS:
        by_top = [persistence_for(15_625, top_percent=top, weight=0.5, inner=inner) for top in (0.1, 1, 10, 100)]
        by_weight = [persistence_for(15_625, top_percent=1, weight=w, inner=inner) for w in (0.1, 0.5, 0.9, 0.999)]
        assert by_top == sorted(by_top) and by_weight == sorted(by_weight, reverse=True)


def test_persistence_by_both_sums_differs_by_what_the_last_term_weighs() -> None:
    paper, webber = (persistence_for(1000, top_percent=1, weight=0.8, inner=inner) for inner in SUMS)
    assert paper < webber
    assert top_weight(paper, 10, inner="webber") == pytest.approx(0.8 + (1 - paper) * paper**9)


def test_the_papers_counts_look_deeper_than_equation_4_says() -> None:
    """An item at rank r is in all overlaps from depth r on, so it has the weight Σ_{d ≥ r} p^(d-1) in equation 5."""
    items, depth = 15_625, 156
    p = persistence_for(items, top_percent=1, weight=0.5)
    by_rank = np.cumsum(p ** np.arange(items)[::-1])[::-1]
    share = by_rank[:depth].sum() / by_rank.sum()
    assert share == pytest.approx(0.236, abs=5e-4)
    ranks = np.arange(items)[::-1]
    wrong = np.where(np.arange(items) < depth, ranks - items, ranks)  # the best ones last
    assert 1 - rbo_normalised(ranks, wrong, p=p) == pytest.approx(share)


def test_persistence_for_a_top_of_one_item() -> None:
    """The paper's sum then gives (1 - p)/p ln 1/(1 - p) - (1 - p), at most 0.216; the larger solution is given."""
    p = persistence_for(100, top_percent=1, weight=0.2)
    assert (1 - p) / p * -math.log(1 - p) - (1 - p) == pytest.approx(0.2) and p > 0.7
    assert persistence_for(100, top_percent=1, weight=0.9, inner="webber") < 0.3


def test_weight_of_the_top_is_what_it_decides() -> None:
    """Rankings that agree on the first ranks, then not at all, have the weight of those ranks by Webber's sum."""
    shared, unshared = 20, 4000
    top = list(range(shared))
    first = top + list(range(shared, shared + unshared))
    second = top + list(range(shared + unshared, shared + 2 * unshared))
    ranks = [np.zeros(shared + 2 * unshared), np.zeros(shared + 2 * unshared)]
    for column, order in zip(ranks, (first, second), strict=True):
        missing = sorted(set(range(len(column))) - set(order))
        column[order + missing] = -np.arange(len(column))
    p = persistence_for(2000, top_percent=1, weight=0.7, inner="webber")
    assert rbo_extrapolated(*ranks, p=p, depth=shared + unshared) == pytest.approx(0.7, abs=1e-6)


@pytest.mark.parametrize("weight", [0.0, 1.0, -0.1, 2.0, math.nan])
def test_persistence_refuses_a_weight_that_none_has(weight: float) -> None:
    with pytest.raises(InvalidOption, match="above 0 and below 1"):
        persistence_for(1000, top_percent=1, weight=weight)


def test_persistence_says_when_there_is_no_solution() -> None:
    with pytest.raises(
        InvalidOption, match=r"no p gives the first 1 of 100 items the weight 0.5, only from .* to 0.216"
    ):
        persistence_for(100, top_percent=1, weight=0.5)
    with pytest.raises(InvalidOption, match="no p gives"):
        persistence_for(1_000_000, top_percent=100, weight=1e-12)
    with pytest.raises(InvalidOption, match="less than one item"):
        persistence_for(100, top_percent=0.5, weight=0.5)
    with pytest.raises(InvalidOption, match="paper or webber"):
        persistence_for(1000, top_percent=1, weight=0.5, inner="mean")  # type: ignore[arg-type]
    with pytest.raises(InvalidOption, match="a depth of 1 or more"):
        top_weight(0.5, 0)
