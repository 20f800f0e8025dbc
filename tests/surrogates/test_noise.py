"""The noise model against noise that is known."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nasbed.core.errors import BadFile, InvalidOption
from nasbed.surrogates.noise import Curve, NoiseModel, learn_noise
from nasbed.surrogates.scores import coverage
from support.surrogates import true_std


def residuals(count: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Truth and prediction; the noise is known_std."""
    rng = np.random.default_rng(seed)
    predicted = rng.uniform(70, 94, count)
    return predicted + rng.normal(size=count) * true_std(predicted), predicted


def learned(count: int = 8000, **options: object) -> NoiseModel:
    y, predicted = residuals(count, 0)
    return learn_noise(y, predicted, np.zeros(count), np.arange(count), **options)  # type: ignore[arg-type]


def test_noise_follows_the_predicted_value() -> None:
    at = np.linspace(72, 92, 21)
    assert learned().total(at, np.zeros(21)) == pytest.approx(true_std(at), rel=0.15)


def test_noise_covers_ninety_percent_everywhere() -> None:
    y, predicted = residuals(20_000, 1)
    std = learned().total(predicted, np.zeros(len(y)))
    assert coverage(y, predicted, std) == pytest.approx(0.9, abs=0.01)
    for part in (predicted < 78, predicted > 86):
        assert coverage(y[part], predicted[part], std[part]) == pytest.approx(0.9, abs=0.03)


def test_noise_is_not_widened_by_outliers() -> None:
    y, predicted = residuals(8000, 2)
    wild = np.where(np.arange(8000) % 100 == 0, y - 40, y)  # one in a hundred diverged
    models = [learn_noise(values, predicted, np.zeros(8000), np.arange(8000)) for values in (y, wild)]
    plain, widened = (model.total(predicted, np.zeros(8000)).mean() for model in models)
    assert widened == pytest.approx(plain, rel=0.1)


def test_noise_scale_is_that_of_unseen_architectures() -> None:
    """Out-of-fold residuals twice as large as those of the ensemble's mean are scaled down."""
    predicted = residuals(2000, 3)[1]
    half = predicted + np.random.default_rng(4).normal(size=2000) * true_std(predicted) / 2
    model = learned(calibration=(half, predicted, np.zeros(2000)))
    y, mean = residuals(10_000, 5)
    std = model.total(mean, np.zeros(10_000))
    assert coverage((y + mean) / 2, mean, std) == pytest.approx(0.9, abs=0.02)


def test_noise_widens_where_members_disagree() -> None:
    model = learned()
    mean = np.full(3, 80.0)
    std = model.total(mean, np.array([0.0, 5.0, 50.0]))
    assert std[0] < std[1] < std[2]
    assert std[2] > 40


def test_noise_of_repeats_is_separate_from_the_error_of_the_model() -> None:
    rng = np.random.default_rng(6)
    owner = np.repeat(np.arange(3000), 3)
    predicted = np.repeat(rng.uniform(70, 94, 3000), 3)
    wrong_by = np.repeat(rng.normal(size=3000) * 2, 3)  # the same for all repeats of an architecture
    y = predicted + wrong_by + rng.normal(size=9000) * 0.5
    model = learn_noise(y, predicted, np.zeros(9000), owner)
    total = model.total(predicted, np.zeros(9000))
    assert total.mean() == pytest.approx(np.hypot(2, 0.5), rel=0.05)
    assert model.noise(predicted, total).mean() == pytest.approx(0.5, rel=0.1)


def test_noise_without_repeats_is_the_total() -> None:
    model = learned()
    total = model.total(np.array([80.0]), np.zeros(1))
    assert model.repeats is None
    assert model.noise(np.array([80.0]), total) is total


def test_noise_of_perfect_predictions_is_not_zero() -> None:
    y = np.linspace(0, 1, 50)
    assert (learn_noise(y, y, np.zeros(50), np.arange(50)).total(y, np.zeros(50)) > 0).all()


@given(st.floats(-10, 200), st.floats(0, 50))
def test_noise_of_one_is_that_of_a_batch(mean: float, spread: float) -> None:
    curve = Curve((70.0, 71.3, 71.3, 80.0, 94.0), (3.0, 2.2, 2.1, 0.7, 0.3))
    for repeats in (None, Curve((80.0,), (0.5,)), Curve((60.0, 90.0), (1.0, 0.1))):
        model = NoiseModel(curve, repeats, 0.8)
        means, spreads = np.array([mean, 75.0]), np.array([spread, 0.0])
        assert model.noise_of_one(mean, spread) == model.noise(means, model.total(means, spreads))[0]
    assert curve.of_one(mean) == curve(np.array([mean]))[0]
    assert curve.of_one(mean) == pytest.approx(np.interp(mean, curve.at, curve.std))


def test_noise_survives_json_bit_by_bit() -> None:
    model = NoiseModel(Curve((1.0, 2.0), (0.1, 0.3)), Curve((1.5,), (1 / 3,)), 0.7)
    assert NoiseModel.from_json(json.loads(json.dumps(model.to_json()))) == model
    assert NoiseModel.from_json(json.loads(json.dumps(learned(500).to_json()))) == learned(500)


@pytest.mark.parametrize(
    "change",
    [
        {"scale": 0},
        {"scale": float("nan")},
        {"error": None},
        {"error": {"at": [1.0], "std": []}},
        {"error": {"at": [2.0, 1.0], "std": [1.0, 1.0]}},
        {"error": {"at": [1.0], "std": [-1.0]}},
        {"error": {"at": ["x"], "std": [1.0]}},
        {"repeats": {"at": [float("inf")], "std": [1.0]}},
    ],
)
def test_noise_refuses_what_no_calibration_gives(change: dict[str, object]) -> None:
    data = NoiseModel(Curve((1.0,), (0.1,))).to_json()
    with pytest.raises(BadFile):
        NoiseModel.from_json({**data, **change})


def test_noise_refuses_to_learn_from_nothing() -> None:
    with pytest.raises(InvalidOption, match="at least 1"):
        learn_noise(np.empty(0), np.empty(0), np.empty(0), np.empty(0, dtype=np.int64))
