"""Correlations against scipy and published figures, as a whole and among the best."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from nasbed.evaluation.ranking import in_top, kendall, sparse_kendall, spearman, top_count, within_top
from nasbed.surrogates import scores as fits

Find = Callable[[str], Path]
COLUMNS = st.integers(2, 30).flatmap(
    lambda n: st.tuples(*[st.lists(st.integers(-4, 4).map(float), min_size=n, max_size=n)] * 2)
)

SPEARMAN = {
    "params": 0.799,
    "synflow": 0.778,
    "jacov": 0.799,
    "nwot": 0.811,
    "snip": 0.603,
    "fisher": 0.552,
    "zen": 0.115,
}


@cache
def proxies(accuracies: Path, scores: Path) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """The test accuracies on CIFAR-10 and the published scores of the same networks of nb201."""
    import pyarrow.parquet as pq

    table, scored = pq.read_table(accuracies).to_pydict(), pq.read_table(scores).to_pydict()
    accuracy = dict(zip(table["arch_str"], table["cifar10_test"], strict=True))
    truth = np.array([accuracy[text] for text in scored.pop("arch_str")])
    return truth, {name: np.array(column) for name, column in scored.items()}


@pytest.fixture
def published(published_data: Find) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    return proxies(published_data("nb201_test_200ep.parquet"), published_data("nb201_zero_cost_cifar10.parquet"))


@pytest.mark.parametrize("proxy", SPEARMAN)
def test_spearman_of_proxies_is_the_published(proxy: str, published: tuple[np.ndarray, dict[str, np.ndarray]]) -> None:
    truth, scores = published
    assert len(truth) == 9445
    assert round(spearman(truth, scores[proxy]), 3) == SPEARMAN[proxy]


@pytest.mark.parametrize("proxy, expected", [("params", 0.443), ("jacov", -0.008)])
def test_spearman_within_the_top_percent_is_the_published(
    proxy: str, expected: float, published: tuple[np.ndarray, dict[str, np.ndarray]]
) -> None:
    """94 networks; the last has the accuracy of the 95th, and the figures take the one that comes first."""
    truth, scores = published
    value = within_top(truth, scores[proxy], percent=1, measure=spearman, ties="index")
    assert round(value, 3) == expected
    assert in_top(truth, percent=1, ties="index").sum() == 94 and in_top(truth, percent=1).sum() == 95


@given(COLUMNS)
def test_correlations_are_scipys_with_any_ties(columns: tuple[list[float], list[float]]) -> None:
    truth, scores = columns
    if len(set(truth)) == 1 or len(set(scores)) == 1:
        assert np.isnan(spearman(truth, scores)) and np.isnan(kendall(truth, scores))
        return
    assert spearman(truth, scores) == pytest.approx(stats.spearmanr(truth, scores).statistic, abs=1e-12)
    assert kendall(truth, scores) == pytest.approx(stats.kendalltau(truth, scores, variant="b").statistic, abs=1e-12)
    assert sparse_kendall(truth, scores, precision=0.25) == pytest.approx(kendall(truth, scores), abs=1e-12)


@given(COLUMNS, st.sampled_from([spearman, kendall]))
def test_correlations_are_symmetric_and_know_nothing_but_order(
    columns: tuple[list[float], list[float]], measure: Callable[..., float]
) -> None:
    truth, scores = map(np.array, columns)
    value = measure(truth, scores)
    assert measure(scores, truth) == pytest.approx(value, nan_ok=True)
    assert measure(np.exp(truth), 3 * scores - 1) == pytest.approx(value, nan_ok=True)
    assert measure(truth, -scores) == pytest.approx(-value, nan_ok=True)


def test_kendall_counts_pairs() -> None:
    truth, scores = np.random.default_rng(0).integers(0, 6, (2, 40)).astype(float)
    first, second = (np.sign(np.subtract.outer(column, column))[np.triu_indices(40, 1)] for column in (truth, scores))
    expected = (first * second).sum() / np.sqrt((first != 0).sum() * (second != 0).sum())
    assert kendall(truth, scores) == pytest.approx(expected)


def test_sparse_kendall_rounds_the_named_column() -> None:
    rng = np.random.default_rng(1)
    truth = rng.normal(90, 1, 200)
    scores = truth + rng.normal(0, 1, 200)
    by_scores = fits.sparse_kendall(truth, scores, precision=0.1)
    assert sparse_kendall(truth, scores, precision=0.1) == by_scores
    by_truth = stats.kendalltau(np.round(truth / 0.1), scores).statistic
    assert sparse_kendall(truth, scores, precision=0.1, rounded="truth") == pytest.approx(by_truth)
    assert np.isnan(sparse_kendall(truth, scores, precision=1e6, rounded="truth"))


def test_infinite_scores_are_ranked_like_others() -> None:
    truth, scores = np.arange(5.0), np.array([-np.inf, 0.0, 1.0, 2.0, np.inf])
    assert spearman(truth, scores) == pytest.approx(1.0) and kendall(truth, scores) == pytest.approx(1.0)


@given(st.lists(st.integers(0, 5).map(float), min_size=2, max_size=30), st.floats(1, 100))
def test_in_top_keeps_no_worse_item_than_it_drops(truth: list[float], percent: float) -> None:
    column = np.array(truth)
    if int(len(truth) * percent / 100 + 1e-9) < 1:
        return
    count = top_count(len(truth), percent)
    exactly, wholly = in_top(truth, percent=percent, ties="index"), in_top(truth, percent=percent)
    assert exactly.sum() == count and (wholly >= exactly).all()
    threshold = np.sort(column)[::-1][count - 1]
    np.testing.assert_array_equal(wholly, column >= threshold)
    assert column[exactly].min() == threshold


def test_within_top_of_all_items_is_the_measure_itself() -> None:
    truth, scores = np.random.default_rng(2).normal(size=(2, 50))
    assert within_top(truth, scores, percent=100, measure=spearman) == spearman(truth, scores)
    sparse = partial(sparse_kendall, precision=0.5)
    assert within_top(truth, scores, percent=100, measure=sparse) == sparse(truth, scores)


@pytest.mark.parametrize("items, percent, count", [(9445, 1, 94), (100, 29, 29), (1000, 0.1, 1), (7, 100, 7)])
def test_top_count_rounds_down_but_not_by_a_rounding_error(items: int, percent: float, count: int) -> None:
    assert top_count(items, percent) == count
