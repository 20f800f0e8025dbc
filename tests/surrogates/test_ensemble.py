"""Ensembles by cross-validation, on evaluations whose mean and noise are known."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats

from nasbed import space
from nasbed.core.errors import InvalidOption
from nasbed.surrogates import Surrogate
from nasbed.surrogates.ensemble import Ensemble, fit_ensemble, joint
from nasbed.surrogates.models.lgb import LightGBM
from nasbed.surrogates.quality import fit_figures
from nasbed.surrogates.scores import coverage
from support.surrogates import ACCURACY, QUICK, Ridge, evaluations, true_mean, true_std

NB201 = space("nb201")


@pytest.fixture(scope="module")
def fitted() -> Ensemble:
    return fit_ensemble(Ridge, NB201, evaluations(4000, 2, seed=0), members=5)


def test_ensemble_members_leave_out_a_fold_each(fitted: Ensemble) -> None:
    members: list[Any] = list(fitted.members)
    folds = [set(member.valid.architecture.tolist()) for member in members]
    everything = set.union(*folds)
    assert sum(map(len, folds)) == len(everything)
    for member, fold in zip(members, folds, strict=True):
        trained_on = set(member.train.architecture.tolist())
        assert not trained_on & fold
        assert trained_on | fold == everything
    unseen = len(np.unique(evaluations(4000, 2, seed=0).architecture)) - len(everything)
    assert 100 <= unseen <= 500


def test_ensemble_members_have_seeds_of_their_own(fitted: Ensemble) -> None:
    assert len({member.seed for member in fitted.members}) == 5


def test_ensemble_intervals_cover_ninety_percent_of_new_evaluations(fitted: Ensemble) -> None:
    new = evaluations(6000, 1, seed=1)
    prediction = fitted.predict(new.codes)
    assert 0.87 <= coverage(new.y, prediction.mean, prediction.std) <= 0.93
    better = true_mean(new.codes) > np.median(true_mean(new.codes))
    assert 0.86 <= coverage(new.y[better], prediction.mean[better], prediction.std[better]) <= 0.94


def test_ensemble_noise_is_that_of_repeats(fitted: Ensemble) -> None:
    codes = evaluations(500, 1, seed=2).codes
    prediction = fitted.predict(codes)
    middle = np.abs(true_mean(codes) - 82) < 6
    assert prediction.noise[middle] == pytest.approx(true_std(true_mean(codes))[middle], rel=0.25)
    assert (prediction.noise <= prediction.std).all()


def test_ensemble_calibration_brings_the_divergence_down(fitted: Ensemble) -> None:
    """Against repeats, the spread between members is far too sure of itself, as in Table 3."""
    figures = fit_figures(fitted, evaluations(400, 5, seed=3), ACCURACY)
    assert figures["kl"] < 1 < figures["raw_kl"]
    assert figures["raw_coverage"] < 0.3


def test_ensemble_residuals_are_normal_after_scaling(fitted: Ensemble) -> None:
    new = evaluations(1000, 1, seed=4)
    prediction = fitted.predict(new.codes)
    assert stats.kstest((new.y - prediction.mean) / prediction.std, "norm").statistic < 0.06


def test_ensemble_is_the_same_again_and_in_processes() -> None:
    examples = evaluations(200, 1, seed=5)
    codes = examples.codes[:20]
    serial, repeated, parallel = (
        fit_ensemble(Ridge, NB201, examples, members=2, seed=9, processes=processes).predict(codes)
        for processes in (1, 1, 2)
    )
    assert serial.mean.tolist() == repeated.mean.tolist() == parallel.mean.tolist()
    assert serial.std.tolist() == repeated.std.tolist() == parallel.std.tolist()
    other_seed = fit_ensemble(Ridge, NB201, examples, members=2, seed=10).predict(codes)
    assert other_seed.mean.tolist() != serial.mean.tolist()


def test_ensemble_of_one_knows_its_noise() -> None:
    """From the fold that it did not train on; its spread is zero."""
    single = fit_ensemble(Ridge, NB201, evaluations(1500, 1, seed=6), members=1)
    new = evaluations(4000, 1, seed=7)
    prediction = single.predict(new.codes)
    assert (prediction.spread == 0).all()
    assert 0.85 <= coverage(new.y, prediction.mean, prediction.std) <= 0.95
    (member,) = single.members
    assert isinstance(member, Ridge)
    assert member.valid is not None
    assert len(member.valid) == pytest.approx(150, abs=15)


def test_ensemble_of_trees_answers_as_its_members_do() -> None:
    examples = evaluations(300, 1, seed=8)
    trees = fit_ensemble("lgb", NB201, examples, members=3, settings=QUICK)
    in_turn = np.stack([member.predict(examples.codes) for member in trees.members], axis=1)
    assert trees.predict_members(examples.codes).tolist() == in_turn.tolist()
    assert all(isinstance(member, LightGBM) for member in trees.members)
    prediction = trees.predict(examples.codes)
    assert prediction.mean == pytest.approx(in_turn.mean(axis=1))
    assert prediction.spread == pytest.approx(in_turn.std(axis=1))


def test_ensemble_tells_its_progress() -> None:
    shares: list[float] = []
    fit_ensemble(Ridge, NB201, evaluations(100, 1, seed=9), members=4, progress=shares.append)
    assert shares == sorted(shares)
    assert shares[-1] == 1.0


@pytest.mark.parametrize(("count", "members"), [(3, 10), (30, 0), (10, 1)])
def test_ensemble_refuses_too_little(count: int, members: int) -> None:
    with pytest.raises(InvalidOption, match="at least"):
        fit_ensemble(Ridge, NB201, evaluations(count, 1, seed=0), members=members)
    with pytest.raises(InvalidOption, match="at least 1 member"):
        Ensemble([], None)  # type: ignore[arg-type]


def test_joint_models_answer_as_each_alone() -> None:
    """Trees over the same features, over others, and a model without trees."""
    examples = evaluations(200, 1, seed=11)
    models: list[Surrogate[Any]] = [
        LightGBM(NB201, seed=0, settings=QUICK),
        Ridge(NB201),
        LightGBM(NB201, seed=1, settings={**QUICK, "features": "onehot+costs"}),
        LightGBM(NB201, seed=2, settings=QUICK),
    ]
    for model in models:
        model.fit(examples, examples)
    single = np.stack([model.predict(examples.codes) for model in models], axis=1)
    assert joint(models)(examples.codes).tolist() == single.tolist()


def test_a_setting_that_a_library_refuses_is_named() -> None:
    with pytest.raises(InvalidOption, match=r"svr could not be fitted: .*'C'.*; check its settings"):
        fit_ensemble("svr", NB201, evaluations(200, 1, seed=1), members=2, settings={"c": -1.0})


@pytest.mark.parametrize(
    ("setting", "rule"),
    [
        ({"learning_rate": -1.0}, "learning_rate of lgb is a number above 0, got -1.0"),
        ({"learning_rate": float("nan")}, "learning_rate of lgb is a number above 0, got nan"),
        ({"num_leaves": 1}, "num_leaves of lgb is a whole number from 2 to 131072, got 1"),
        ({"num_leaves": "many"}, "num_leaves of lgb is a whole number from 2 to 131072, got 'many'"),
        ({"max_bin": 1}, "max_bin of lgb is a whole number from 2 on, got 1"),
        ({"feature_fraction": 0}, "feature_fraction of lgb is a number above 0 and at most 1, got 0"),
        ({"lambda_l2": -1}, "lambda_l2 of lgb is a number from 0 on, got -1"),
        ({"rounds": True}, "rounds of lgb is a whole number from 1 on, got True"),
    ],
)
def test_what_lightgbm_would_complain_of_is_refused_before(setting: dict[str, Any], rule: str) -> None:
    """It would write to standard error itself."""
    with pytest.raises(InvalidOption) as error:
        LightGBM(NB201, settings={**QUICK, **setting})
    assert str(error.value) == f"{rule}; change the setting"
