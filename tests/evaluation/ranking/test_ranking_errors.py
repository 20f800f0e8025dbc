"""Bad input: one line with the rule, the value and the remedy, or a result that the documentation states."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import inf, nan
from typing import Any

import numpy as np
import pytest

from nasbed.core.errors import InvalidMeasurement, InvalidOption, NasbedError
from nasbed.evaluation.ranking import (
    best_rank_at,
    compare_spearman,
    in_top,
    item_bootstrap,
    kendall,
    ndcg_at,
    overlaps,
    paired_bootstrap,
    precision_at,
    rbo_counted,
    rbo_extrapolated,
    rbo_normalised,
    rbo_truncated,
    recall_at,
    sparse_kendall,
    spearman,
    top_count,
    williams,
    within_top,
)


def bootstrapped(truth: Any, scores: Any) -> float:
    return item_bootstrap(truth, scores, np.random.default_rng(0), resamples=5).estimate


def paired(truth: Any, scores: Any) -> float:
    return paired_bootstrap(truth, scores, scores, np.random.default_rng(0), resamples=5).estimate


def compared(truth: Any, scores: Any) -> float:
    return compare_spearman(truth, scores, scores).t


MEASURES: dict[str, Callable[[Any, Any], Any]] = {
    "spearman": spearman,
    "kendall": kendall,
    "sparse_kendall": partial(sparse_kendall, precision=0.1),
    "within_top": partial(within_top, percent=100, measure=spearman),
    "overlaps": overlaps,
    "rbo_counted": partial(rbo_counted, p=0.5),
    "rbo_normalised": partial(rbo_normalised, p=0.5),
    "rbo_truncated": partial(rbo_truncated, p=0.5),
    "rbo_extrapolated": partial(rbo_extrapolated, p=0.5),
    "precision_at": partial(precision_at, k=1, best=1),
    "recall_at": partial(recall_at, k=1, best=1),
    "best_rank_at": partial(best_rank_at, k=1),
    "ndcg_at": partial(ndcg_at, k=1),
    "item_bootstrap": bootstrapped,
    "paired_bootstrap": paired,
    "compare_spearman": compared,
}


@pytest.mark.parametrize("name", MEASURES)
@pytest.mark.parametrize(
    "truth, scores, error, text",
    [
        ([1, 2, 3], [1, nan, nan], InvalidMeasurement, "NaN among the scores for 2 of 3; leave those items out"),
        ([1, nan, 3], [1, 2, 3], InvalidMeasurement, "NaN among the true values for 1 of 3"),
        ([1, 2, 3], [1, 2], InvalidOption, "every item has a true value and a score, got 3 and "),
        ([1], [1], InvalidOption, "2 items or more, got 1"),
        ([], [], InvalidOption, "2 items or more, got 0"),
        ([[1, 2], [3, 4]], [1, 2], InvalidOption, "a column of numbers, got an array of shape"),
        ([1, 2], "ab", InvalidOption, "a column of numbers"),
        ([1, 2], ["a", "b"], InvalidMeasurement, "a column of numbers"),
    ],
)
def test_measures_refuse_what_is_no_ranking(
    name: str, truth: Any, scores: Any, error: type[NasbedError], text: str
) -> None:
    with pytest.raises((InvalidMeasurement, InvalidOption), match=text) as caught:
        MEASURES[name](truth, scores)
    assert "\n" not in str(caught.value)
    assert isinstance(caught.value, error) or scores == "ab"


@pytest.mark.parametrize("name", MEASURES)
def test_measures_of_constant_scores_are_stated_and_never_an_error(name: str) -> None:
    """Correlations have none; what ranks equal items by a rule has a number."""
    value = MEASURES[name]([1.0, 2.0, 3.0, 4.0], [7.0, 7.0, 7.0, 7.0])
    correlation = name in ("spearman", "kendall", "sparse_kendall", "within_top") or name.endswith(
        ("bootstrap", "spearman")
    )
    assert np.isnan(value).all() == correlation
    all_equal = MEASURES[name]([7.0, 7.0, 7.0, 7.0], [7.0, 7.0, 7.0, 7.0])
    assert np.isnan(all_equal).all() == correlation


@pytest.mark.parametrize("measure", [rbo_counted, rbo_normalised, rbo_truncated, rbo_extrapolated])
@pytest.mark.parametrize("p", [0, 1, -0.5, 1.5, nan, inf])
def test_rbo_refuses_a_p_outside_its_range(measure: Callable[..., float], p: float) -> None:
    with pytest.raises(InvalidOption, match="above 0 and below 1, got"):
        measure([1, 2, 3], [1, 2, 3], p=p)


@pytest.mark.parametrize("k", [0, 4, -1, 1.5, None])
def test_measures_refuse_a_depth_outside_the_ranking(k: Any) -> None:
    columns = ([1, 2, 3], [1, 2, 3])
    for call in (
        partial(precision_at, k=k, best=1),
        partial(precision_at, k=1, best=k),
        partial(recall_at, k=k, best=1),
        partial(best_rank_at, k=k),
        partial(ndcg_at, k=k),
    ):
        with pytest.raises(InvalidOption, match="a whole number from 1 to the 3 items, got"):
            call(*columns)
    if k is not None:
        with pytest.raises(InvalidOption, match="a whole number from 1 to the 3 items, got"):
            rbo_truncated(*columns, p=0.5, depth=k)


@pytest.mark.parametrize("scores", [[1, 2, 3], [1, 1, 3]])
def test_measures_refuse_an_unknown_tie_rule(scores: list[int]) -> None:
    rule: Any = "random"
    for call in (
        partial(overlaps, ties=rule),
        partial(precision_at, k=1, best=1, ties=rule),
        partial(best_rank_at, k=1, ties=rule),
        partial(ndcg_at, k=1, ties=rule),
    ):
        with pytest.raises(InvalidOption, match="ties are average, pessimistic, optimistic or index, got 'random'"):
            call([1, 2, 3], scores)
    with pytest.raises(InvalidOption, match="all or index"):
        in_top([1, 2, 3], percent=50, ties=rule)


@pytest.mark.parametrize("percent", [0, -1, 101, nan])
def test_top_refuses_an_invalid_percentage(percent: float) -> None:
    with pytest.raises(InvalidOption, match="more than 0 and at most 100 percent"):
        top_count(100, percent)


def test_top_of_a_single_item_has_no_ranking() -> None:
    with pytest.raises(InvalidOption, match=r"the top 1 % of 100 items is a single one; ask for a larger"):
        within_top(np.arange(100), np.arange(100), percent=1, measure=spearman)
    with pytest.raises(InvalidOption, match="less than one item"):
        within_top(np.arange(100), np.arange(100), percent=0.1, measure=spearman)


@pytest.mark.parametrize("truth", [[-1, 2, 3], [1, 2, inf]])
def test_ndcg_refuses_gains_that_are_negative_or_endless(truth: list[float]) -> None:
    with pytest.raises(InvalidMeasurement, match="finite and at least 0, got true values from"):
        ndcg_at(truth, [1, 2, 3], k=2)


@pytest.mark.parametrize("options", [{"level": 0}, {"level": 1}, {"level": nan}, {"resamples": 0}])
def test_bootstrap_refuses_options_without_a_meaning(options: dict[str, Any]) -> None:
    with pytest.raises(InvalidOption, match=r"a level in \(0, 1\) and 1 resample or more"):
        item_bootstrap([1, 2, 3], [1, 2, 3], np.random.default_rng(0), **options)


def test_other_options_are_refused_by_their_rule() -> None:
    with pytest.raises(InvalidOption, match="above 0"):
        sparse_kendall([1, 2], [1, 2], precision=0)
    with pytest.raises(InvalidOption, match="the scores or the truth"):
        sparse_kendall([1, 2], [1, 2], precision=1, rounded="both")  # type: ignore[arg-type]
    with pytest.raises(InvalidOption, match="4 items or more"):
        williams(0.1, 0.2, between=0.3, items=3)
    with pytest.raises(InvalidOption, match="from -1 to 1"):
        williams(0.1, 1.2, between=0.3, items=30)
    with pytest.raises(InvalidOption, match="cannot go together"):
        williams(1.0, -1.0, between=1.0, items=30)
