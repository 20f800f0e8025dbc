"""A surrogate of few points with scores of proxies as columns, on generated data with a known answer."""

from __future__ import annotations

import numpy as np
import pytest

from nasbed import NasbedError, space
from nasbed.studies.zero_cost.few_points import ALONE, BOTH, SCORES, SHUFFLED, ScoreFeatures, few_points
from support.ranked_tasks import ranked_task
from support.tables import additive


def nb201_codes(count: int, seed: int = 0) -> np.ndarray:
    """Cells that are all different networks."""
    nb201 = space("nb201")
    every = nb201.canonical_codes(nb201.codes(list(nb201.enumerate())))
    different = np.unique(every, axis=0)
    return different[np.random.default_rng(seed).permutation(len(different))[:count]]


def test_score_features_are_looked_up_by_code() -> None:
    codes = nb201_codes(30)
    scores = np.random.default_rng(0).normal(size=30)
    features = ScoreFeatures(codes[:20], {"a": scores[:20, None]})
    nb201 = space("nb201")
    mixed = np.random.default_rng(1).permutation(20)
    rows = features(nb201, codes[mixed])
    assert rows.shape == (20, 1)
    np.testing.assert_array_equal(np.argsort(rows[:, 0]), np.argsort(scores[mixed]))
    with pytest.raises(NasbedError, match="score it first"):
        features(nb201, codes[20:21])


def test_scores_that_know_the_truth_help_and_noise_does_not() -> None:
    """With the truth as a column Kendall is near 1. Columns of noise raise it by no more than the shuffled control."""
    rng = np.random.default_rng(0)
    codes = nb201_codes(500)
    truth = additive(codes) + 6 * rng.normal(size=500)
    informed = few_points(ranked_task(truth, {"truth": truth}, codes), rng, sizes=(200,), repeats=3, held_out=200)
    assert informed.sizes == (200,) and informed.held_out == 200 and informed.models == ("lgb", "svr")
    for model in informed.models:
        assert informed.taus[model, SCORES][-1].mean() > 0.97
        assert informed.gains[model, BOTH][-1].mean.low > informed.gains[model, SHUFFLED][-1].mean.high + 0.05
    noise = {str(number): rng.normal(size=500) for number in range(5)}
    useless = few_points(ranked_task(truth, noise, codes), rng, sizes=(200,), repeats=3, held_out=200)
    for model in useless.models:
        assert abs(useless.taus[model, SCORES][-1].mean()) < 0.2  # 4 standard errors of 200 held out
        with_scores, control = (useless.gains[model, variant][-1].mean for variant in (BOTH, SHUFFLED))
        assert with_scores.estimate < 0.03 and with_scores.estimate == pytest.approx(control.estimate, abs=0.03)
    assert (useless.best(ALONE) > 0.3).all()


def test_few_points_can_learn_from_few_and_does_not_tell_copies_apart() -> None:
    """Both models rank better than chance after 25 examples. A table that has each network twice has half as many."""
    rng = np.random.default_rng(3)
    codes = nb201_codes(120)
    truth = additive(codes)
    task = ranked_task(np.tile(truth, 2), {"a": np.tile(truth, 2)}, np.tile(codes, (2, 1)))
    result = few_points(task, rng, sizes=(25, 60, 100), repeats=2)
    assert result.sizes == (25, 60) and result.held_out == 60
    assert all(result.taus[model, ALONE][0].mean() > 0.2 for model in result.models)
    with pytest.raises(NasbedError, match="give more"):
        few_points(task, rng, sizes=(100,), repeats=2)


def test_few_points_is_decided_by_its_generator() -> None:
    codes = nb201_codes(120)
    task = ranked_task(additive(codes), {"a": codes[:, 0].astype(float)}, codes)
    first, same = (few_points(task, np.random.default_rng(5), sizes=(25,), repeats=2) for _ in range(2))
    for key, taus in first.taus.items():
        np.testing.assert_array_equal(taus, same.taus[key])
