"""Several proxies as one, against closed forms and on generated data with a known answer."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from nasbed import NasbedError, space
from nasbed.evaluation.proxies import RankedTask
from nasbed.evaluation.proxies.rank_average import combine_proxies, greedy, rank_average, ranks_of_scores
from nasbed.evaluation.ranking import spearman
from support.ranked_tasks import ranked_task


def test_rank_average_of_one_proxy_is_its_ranking() -> None:
    scores = np.exp(np.random.default_rng(0).normal(size=50))
    average = rank_average({"a": scores[:, None]})
    np.testing.assert_array_equal(np.argsort(average), np.argsort(scores))


def test_rank_average_does_not_change_with_the_scale_of_a_proxy() -> None:
    rng = np.random.default_rng(0)
    first, second = rng.normal(size=(2, 40, 1))
    np.testing.assert_array_equal(
        rank_average({"a": first, "b": second}), rank_average({"a": np.exp(3 * first) + 7, "b": second})
    )


def test_rank_average_puts_what_has_no_score_last() -> None:
    scores = {"a": np.array([[np.nan, np.nan], [1.0, 3.0], [np.nan, 9.0]])}
    assert np.argsort(rank_average(scores)).tolist() == [0, 1, 2]
    with pytest.raises(NasbedError, match="no scores by 'b'"):
        rank_average(scores, ["b"])


@pytest.mark.parametrize("count", [2, 4])
def test_proxies_with_independent_errors_average_to_what_the_closed_form_says(count: int) -> None:
    """Normal truth, each score the truth plus an error of the same variance: a score correlates by 1/√2, the mean of k
    by √(k/(k + 1)). Ranks lose little, so Spearman is near 6/π arcsin(r/2)."""
    rng = np.random.default_rng(0)
    truth = rng.normal(size=20_000)
    scores = {str(number): (truth + rng.normal(size=len(truth)))[:, None] for number in range(count)}
    expected = 6 / np.pi * np.arcsin(np.sqrt(count / (count + 1)) / 2)
    assert spearman(truth, rank_average(scores)) == pytest.approx(expected, abs=0.015)
    assert spearman(truth, scores["0"][:, 0]) == pytest.approx(6 / np.pi * np.arcsin(np.sqrt(0.5) / 2), abs=0.015)


def test_greedy_starts_with_the_best_and_leaves_noise_out() -> None:
    rng = np.random.default_rng(0)
    truth = rng.normal(size=2000)
    better, good = truth + rng.normal(size=(2, 2000)) * np.array([[0.8], [1.0]])
    ranks = ranks_of_scores(np.stack([rng.normal(size=2000), good, better, -truth], axis=1))
    assert greedy(truth, ranks, spearman) == [2, 1]


def test_combining_finds_the_gain_of_independent_errors_and_no_other() -> None:
    rng = np.random.default_rng(1)
    truth = rng.normal(size=1200)
    independent = {name: truth + rng.normal(size=1200) for name in "abc"}
    results = combine_proxies(ranked_task(truth, independent), rng, halves=6, top_percent=10)
    assert set(results) == {"spearman", "top", "rbo"}
    assert results["spearman"].gain.low > 0.1 and results["spearman"].wins == 1 and results["rbo"].gain.estimate > 0
    copies = combine_proxies(ranked_task(truth, dict.fromkeys("abc", independent["a"])), rng, halves=6, top_percent=10)
    assert copies["spearman"].gain.estimate == 0 and copies["spearman"].wins == 0.5
    useless = {"a": independent["a"]} | {name: rng.normal(size=1200) for name in "bcdef"}
    drowned = combine_proxies(ranked_task(truth, useless), rng, halves=6, top_percent=10)["spearman"]
    assert drowned.gain_of_all.high < 0 and set(drowned.single_names) == {"a"}


def test_combining_random_scores_is_not_rewarded() -> None:
    """What was chosen among noise on one half has no correlation on the other."""
    rng = np.random.default_rng(2)
    noise = {str(number): rng.normal(size=400) for number in range(10)}
    result = combine_proxies(ranked_task(rng.normal(size=400), noise), rng, halves=20, top_percent=10)["spearman"]
    assert abs(result.interval(result.chosen).estimate) < 0.06


def test_combining_leaves_out_a_top_without_an_order_and_refuses_too_few() -> None:
    rng = np.random.default_rng(0)
    truth = rng.normal(size=100)
    assert set(combine_proxies(ranked_task(truth, {"a": truth}), rng, halves=1, top_percent=1)) == {"spearman"}
    with pytest.raises(NasbedError, match="4 architectures or more"):
        combine_proxies(ranked_task(truth[:3], {"a": truth[:3]}), rng)


def test_published_scores_average_to_a_better_ranking(published_data: Callable[[str], Path]) -> None:
    """On nb201 (CIFAR-10) proxies chosen on one half beat the best single one, nwot (0.81), on the other."""
    task = published_task(published_data, "cifar10_test")
    result = combine_proxies(task, np.random.default_rng(0), halves=3)["spearman"]
    assert set(result.single_names) == {"nwot"} and result.interval(result.single).estimate == pytest.approx(
        0.81, abs=0.01
    )
    assert result.gain.low > 0.05


def published_task(published_data: Callable[[str], Path], truth: str) -> RankedTask:
    from pyarrow import parquet

    scored = parquet.read_table(published_data("nb201_zero_cost_cifar10.parquet")).to_pydict()
    tested = parquet.read_table(published_data("nb201_test_200ep.parquet")).to_pydict()
    values = dict(zip(tested["arch_str"], tested[truth], strict=True))
    texts = scored.pop("arch_str")
    codes = space("nb201").codes([space("nb201").parse(text) for text in texts])
    return ranked_task(
        np.array([values[text] for text in texts]), {name: np.array(column) for name, column in scored.items()}, codes
    )
