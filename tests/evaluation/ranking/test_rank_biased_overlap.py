"""Rank-biased overlap: by hand, by sets, in closed form, and over all orders of equal items."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import permutations
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nasbed.evaluation.ranking import (
    Ties,
    overlaps,
    rbo_counted,
    rbo_extrapolated,
    rbo_normalised,
    rbo_truncated,
)
from support.examples import examples

RBO: list[Callable[..., float]] = [rbo_counted, rbo_normalised, rbo_truncated, rbo_extrapolated]
RULES: list[Ties] = ["average", "pessimistic", "optimistic", "index"]

PERMUTATIONS = st.integers(2, 40).flatmap(lambda n: st.tuples(st.permutations(range(n)), st.permutations(range(n))))
TIED = st.integers(2, 5).flatmap(lambda n: st.tuples(*[st.lists(st.integers(0, 3), min_size=n, max_size=n)] * 2))
LONG_TIED = st.integers(2, 60).flatmap(lambda n: st.tuples(*[st.lists(st.integers(0, 5), min_size=n, max_size=n)] * 2))
P = st.floats(0.01, 0.999)


def scored(order: str, universe: str) -> list[int]:
    """Scores that rank letters in an order, the rest of the universe behind in its own."""
    ranked = order + "".join(letter for letter in universe if letter not in order)
    return [-ranked.index(letter) for letter in universe]


def by_sets(truth: Any, scores: Any) -> list[int]:
    """Equation 3, word for word, for columns without ties."""
    first, second = (sorted(range(len(column)), key=lambda i: -column[i]) for column in (truth, scores))
    return [len(set(first[:d]) & set(second[:d])) for d in range(1, len(first) + 1)]


def all_orders(values: list[int]) -> np.ndarray:
    """The ranks [orders, items] in every order that puts higher values first."""
    ranks = [np.argsort(order) + 1 for order in permutations(range(len(values)))]
    compatible = [order for order in ranks if (np.diff(np.array(values)[np.argsort(order)]) <= 0).all()]
    return np.array(compatible)


def test_overlap_of_webbers_example() -> None:
    """Webber et al. (2010), figure of a ranking abcdefg and a ranking zcavwxy with their agreements at each depth."""
    universe = "abcdefgvwxyz"
    truth, scores = scored("abcdefg", universe), scored("zcavwxy", universe)
    result = overlaps(truth, scores)[:7]
    assert result.tolist() == [0, 0, 2, 2, 2, 2, 2]
    assert (result / np.arange(1, 8)).round(3).tolist() == [0, 0, 0.667, 0.5, 0.4, 0.333, 0.286]
    by_hand = 0.1 * sum(0.9 ** (d - 1) * 2 / d for d in range(3, 8))
    assert rbo_truncated(truth, scores, p=0.9, depth=7) == pytest.approx(by_hand)
    assert rbo_extrapolated(truth, scores, p=0.9, depth=7) == pytest.approx(by_hand + 0.9**7 * 2 / 7)


def test_rbo_of_four_items_is_what_a_pencil_says() -> None:
    truth, scores = scored("abcd", "abcd"), scored("bacd", "abcd")  # overlaps 0, 2, 3, 4
    assert rbo_counted(truth, scores, p=0.5) == pytest.approx(0.5 * (2 / 2 + 3 / 4 + 4 / 8))
    assert rbo_normalised(truth, scores, p=0.5) == pytest.approx((2 / 2 + 3 / 4 + 4 / 8) / (1 + 2 / 2 + 3 / 4 + 4 / 8))
    assert rbo_truncated(truth, scores, p=0.5) == pytest.approx(0.5 * (1 / 2 + 1 / 4 + 1 / 8))
    assert rbo_extrapolated(truth, scores, p=0.5) == pytest.approx(0.5 * (1 / 2 + 1 / 4 + 1 / 8) + 1 / 16)


@given(PERMUTATIONS, P)
def test_rbo_is_its_definition_by_sets(columns: tuple[list[int], list[int]], p: float) -> None:
    counts = by_sets(*columns)
    depths = range(1, len(counts) + 1)
    summed = sum(p ** (d - 1) * counts[d - 1] for d in depths)
    assert overlaps(*columns).tolist() == counts
    assert rbo_counted(*columns, p=p) == pytest.approx((1 - p) * summed)
    assert rbo_normalised(*columns, p=p) == pytest.approx(summed / sum(p ** (d - 1) * d for d in depths))
    for depth in (1, len(counts)):
        textbook = (1 - p) * sum(p ** (d - 1) * counts[d - 1] / d for d in depths[:depth])
        assert rbo_truncated(*columns, p=p, depth=depth) == pytest.approx(textbook)
        extrapolated = textbook + p**depth * counts[depth - 1] / depth
        assert rbo_extrapolated(*columns, p=p, depth=depth) == pytest.approx(extrapolated)


@examples(25)
@given(TIED)
def test_tie_rules_are_mean_least_and_most_over_all_orders(columns: tuple[list[int], list[int]]) -> None:
    depths = np.arange(1, len(columns[0]) + 1)
    first, second = ((all_orders(column)[:, :, None] <= depths).astype(np.int64) for column in columns)
    every = np.einsum("aid,bid->abd", first, second).reshape(-1, len(depths))
    np.testing.assert_allclose(overlaps(*columns, ties="average"), every.mean(axis=0), atol=1e-12)
    np.testing.assert_array_equal(overlaps(*columns, ties="pessimistic"), every.min(axis=0))
    np.testing.assert_array_equal(overlaps(*columns, ties="optimistic"), every.max(axis=0))
    assert (every == overlaps(*columns, ties="index")).all(axis=1).any()
    for measure in RBO:
        low, mean, high = (measure(*columns, p=0.8, ties=rule) for rule in ("pessimistic", "average", "optimistic"))
        assert low - 1e-12 <= mean <= high + 1e-12


@given(LONG_TIED, st.randoms(use_true_random=False), P)
def test_rbo_does_not_depend_on_the_order_of_the_input_but_by_index(
    columns: tuple[list[int], list[int]], random: Any, p: float
) -> None:
    order = list(range(len(columns[0])))
    random.shuffle(order)
    moved = [[column[i] for i in order] for column in columns]
    for rule in RULES[:3]:
        np.testing.assert_allclose(overlaps(*moved, ties=rule), overlaps(*columns, ties=rule), atol=1e-9)
        assert rbo_normalised(*moved, p=p, ties=rule) == pytest.approx(rbo_normalised(*columns, p=p, ties=rule))


@given(LONG_TIED, st.sampled_from(RULES), st.sampled_from(RBO), P)
def test_rbo_is_symmetric_and_knows_nothing_but_order(
    columns: tuple[list[int], list[int]], rule: Ties, measure: Callable[..., float], p: float
) -> None:
    truth, scores = columns
    value = measure(truth, scores, p=p, ties=rule)
    assert measure(scores, truth, p=p, ties=rule) == pytest.approx(value)
    assert measure(np.exp(truth), np.array(scores) * 2 - 7, p=p, ties=rule) == pytest.approx(value)
    assert value >= 0
    if measure is not rbo_counted:
        assert value <= 1 + 1e-12


@given(LONG_TIED)
def test_overlap_by_index_is_that_of_a_stable_sort(columns: tuple[list[int], list[int]]) -> None:
    ranks = []
    for column in columns:
        ranks.append(-np.argsort(np.argsort(-np.array(column), kind="stable"), kind="stable"))
    assert overlaps(*columns, ties="index").tolist() == by_sets(*ranks)


@pytest.mark.parametrize("p", [1e-300, 0.1, 0.9, 0.9999, 1 - 1e-12])
@pytest.mark.parametrize("items", [2, 1000, 100_000])
def test_rbo_of_equal_rankings_has_its_closed_form(items: int, p: float) -> None:
    truth = np.random.default_rng(items).permutation(items).astype(float)
    assert rbo_normalised(truth, truth, p=p) == 1.0
    assert rbo_extrapolated(truth, truth, p=p) == pytest.approx(1.0, abs=1e-10)
    assert rbo_truncated(truth, truth, p=p) == pytest.approx(
        -np.expm1(items * np.log(p)), rel=1e-4 if p > 0.99999 else 1e-10
    )
    if p < 0.99999:
        closed = (1 - p**items) / (1 - p) - items * p**items
        assert rbo_counted(truth, truth, p=p) == pytest.approx(closed, rel=1e-9)


@pytest.mark.parametrize("items", [2, 3, 50, 1001])
def test_rbo_of_reversed_rankings_has_its_closed_form(items: int) -> None:
    truth, p = np.arange(items), 0.97
    expected = np.maximum(0, 2 * np.arange(1, items + 1) - items)
    np.testing.assert_array_equal(overlaps(truth, -truth), expected)
    weights = p ** np.arange(items)
    closed = weights @ expected / (weights @ np.arange(1, items + 1))
    assert rbo_normalised(truth, -truth, p=p) == pytest.approx(closed)
    shuffled = np.random.default_rng(0).permutation(items)
    assert rbo_normalised(truth, -truth, p=p) <= rbo_normalised(truth, shuffled, p=p)


@pytest.mark.parametrize("items", [10, 500])
def test_constant_scores_have_the_overlap_of_chance(items: int) -> None:
    """d of n drawn at random are d / n of the first d."""
    depths = np.arange(1, items + 1)
    truth, same = np.arange(items), np.zeros(items)
    np.testing.assert_allclose(overlaps(truth, same), depths**2 / items)
    np.testing.assert_allclose(overlaps(same, same), depths**2 / items)
    np.testing.assert_array_equal(overlaps(same, same, ties="pessimistic"), np.maximum(0, 2 * depths - items))
    np.testing.assert_array_equal(overlaps(same, same, ties="optimistic"), depths)
    assert rbo_normalised(same, same, p=0.9, ties="index") == 1.0


@given(PERMUTATIONS, st.integers(0, 38), P)
def test_putting_two_neighbours_right_never_lowers_rbo(columns: tuple[list[int], list[int]], at: int, p: float) -> None:
    truth, scores = map(np.array, columns)
    order = np.argsort(-scores)
    upper, lower = order[at % (len(order) - 1)], order[at % (len(order) - 1) + 1]
    swapped = scores.copy()
    swapped[[upper, lower]] = scores[[lower, upper]]
    better, worse = (swapped, scores) if truth[lower] > truth[upper] else (scores, swapped)
    for measure in RBO:
        assert measure(truth, better, p=p) >= measure(truth, worse, p=p) - 1e-12


def test_rbo_sees_a_swap_at_the_top_more_than_one_at_the_bottom() -> None:
    truth = np.arange(100, 0, -1)
    top, bottom = truth.copy(), truth.copy()
    top[[0, 1]], bottom[[98, 99]] = top[[1, 0]], bottom[[99, 98]]
    for measure in map(partial, RBO):
        assert measure(truth, top, p=0.9) < measure(truth, bottom, p=0.9) <= measure(truth, truth, p=0.9)


def test_mean_overlap_of_a_long_ranking_with_ties_is_exact() -> None:
    """With all items in pairs of equals, every second depth has the overlap of whole pairs: a whole number."""
    rng = np.random.default_rng(5)
    pairs = rng.permutation(100_000)
    truth, scores = np.repeat(np.arange(100_000), 2), np.repeat(pairs, 2)
    total = 2 * overlaps(np.arange(100_000), pairs)
    np.testing.assert_array_equal(overlaps(truth, scores)[1::2], total)
