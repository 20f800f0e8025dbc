"""Measures at k: against sklearn, by definition, and over all orders of equal scores."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise, permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import ndcg_score

from nasbed.evaluation.ranking import best_rank_at, ndcg_at, precision_at, recall_at
from support.examples import examples

TIED = st.integers(2, 5).flatmap(lambda n: st.tuples(*[st.lists(st.integers(0, 3), min_size=n, max_size=n)] * 2))
LONG = st.integers(2, 50).flatmap(lambda n: st.tuples(*[st.lists(st.integers(0, 9), min_size=n, max_size=n)] * 2))


def orders(values: list[int]) -> list[list[int]]:
    """Every order of the items with the higher values first."""
    every = (list(order) for order in permutations(range(len(values))))
    return [order for order in every if all(values[a] >= values[b] for a, b in pairwise(order))]


def plain_best_rank(truth: list[int], order: list[int], k: int) -> float:
    return 1 + sum(value > max(truth[i] for i in order[:k]) for value in truth)


def plain_ndcg(truth: list[int], order: list[int], k: int) -> float:
    discounts = 1 / np.log2(np.arange(2, k + 2))
    ideal = np.sort(truth)[::-1][:k] @ discounts
    return float(np.array(truth)[order[:k]] @ discounts / ideal)


def check_rules(measure: Callable[..., float], every: list[float], *args: object, **options: object) -> None:
    """The rules give the mean, the extremes and one of all the orders."""
    assert measure(*args, **options) == pytest.approx(np.mean(every))
    ends = [measure(*args, **options, ties=rule) for rule in ("pessimistic", "optimistic")]
    if measure is best_rank_at:
        ends = ends[::-1]
    assert ends == pytest.approx([min(every), max(every)])
    assert any(measure(*args, **options, ties="index") == pytest.approx(value) for value in every)


@examples(25)
@given(TIED, st.data())
def test_tie_rules_are_mean_worst_and_best_over_all_orders(
    columns: tuple[list[int], list[int]], data: st.DataObject
) -> None:
    truth, scores = columns
    k, best = (data.draw(st.integers(1, len(truth))) for _ in range(2))
    hits = [
        len(set(true_order[:best]) & set(score_order[:k]))
        for true_order in orders(truth)
        for score_order in orders(scores)
    ]
    check_rules(precision_at, [count / k for count in hits], truth, scores, k=k, best=best)
    check_rules(recall_at, [count / best for count in hits], truth, scores, k=k, best=best)
    check_rules(best_rank_at, [plain_best_rank(truth, order, k) for order in orders(scores)], truth, scores, k=k)
    if any(truth):
        check_rules(ndcg_at, [plain_ndcg(truth, order, k) for order in orders(scores)], truth, scores, k=k)


@given(LONG, st.integers(0, 49))
def test_ndcg_is_sklearns_with_ties_averaged(columns: tuple[list[int], list[int]], at: int) -> None:
    truth, scores = columns
    k = 1 + at % len(truth)
    if any(truth):
        assert ndcg_at(truth, scores, k=k) == pytest.approx(ndcg_score([truth], [scores], k=k))
    else:
        assert np.isnan(ndcg_at(truth, scores, k=k))


@examples(20)
@given(LONG, st.integers(0, 49))
def test_measures_at_k_keep_their_bounds(columns: tuple[list[int], list[int]], at: int) -> None:
    truth, scores = columns
    count = len(truth)
    k = 1 + at % count
    assert precision_at(truth, scores, k=k, best=k) == pytest.approx(recall_at(truth, scores, k=k, best=k))
    assert recall_at(truth, scores, k=count, best=k) == pytest.approx(1)
    assert precision_at(truth, scores, k=k, best=count) == pytest.approx(1)
    assert best_rank_at(truth, scores, k=count) == pytest.approx(1)
    assert best_rank_at(truth, truth, k=k) == pytest.approx(1)
    for rule in ("average", "pessimistic", "optimistic", "index"):
        ranks = [best_rank_at(truth, scores, k=depth, ties=rule) for depth in range(1, count + 1)]
        assert (np.diff(ranks) <= 1e-9).all() and min(ranks) >= 1 - 1e-9 and max(ranks) <= count


@given(LONG, st.randoms(use_true_random=False))
def test_measures_at_k_do_not_depend_on_the_order_of_the_input(
    columns: tuple[list[int], list[int]], random: object
) -> None:
    order = list(range(len(columns[0])))
    random.shuffle(order)  # type: ignore[attr-defined]
    moved = [[column[i] for i in order] for column in columns]
    k = 1 + len(order) // 3
    for rule in ("average", "pessimistic", "optimistic"):
        for measure in (precision_at, recall_at):
            value, repeated = (measure(*pair, k=k, best=2, ties=rule) for pair in (columns, moved))
            assert value == pytest.approx(repeated)
        for measure_at_k in (best_rank_at, ndcg_at):
            value, repeated = (measure_at_k(*pair, k=k, ties=rule) for pair in (columns, moved))
            assert value == pytest.approx(repeated, nan_ok=True)


@pytest.mark.parametrize("items, k", [(10, 1), (10, 4), (1000, 7), (100_000, 50)])
def test_best_rank_of_constant_scores_is_that_of_random_search(items: int, k: int) -> None:
    """The least of k numbers drawn from 1 to n without replacement has the mean (n + 1) / (k + 1)."""
    truth = np.random.default_rng(k).permutation(items)
    assert best_rank_at(truth, np.zeros(items), k=k) == pytest.approx((items + 1) / (k + 1))
    assert precision_at(truth, np.zeros(items), k=k, best=5) == pytest.approx(5 / items)


def test_perfect_scores_are_perfect_and_reversed_ones_find_the_worst() -> None:
    truth = np.arange(1, 101)
    assert precision_at(truth, truth, k=10, best=10) == recall_at(truth, truth, k=10, best=10) == 1
    assert ndcg_at(truth, truth, k=10) == pytest.approx(1)
    assert precision_at(truth, -truth, k=10, best=10) == 0
    assert best_rank_at(truth, -truth, k=10) == 91
