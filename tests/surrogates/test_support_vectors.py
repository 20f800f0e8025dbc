"""Support vector machines evaluated from their arrays against scikit-learn."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from ConfigSpace import CategoricalHyperparameter, UniformFloatHyperparameter, UniformIntegerHyperparameter
from sklearn.svm import SVR
from sklearn.svm import NuSVR as ReferenceNuSVR

from nasbed import space
from nasbed.core.errors import InvalidOption, NotFitted
from nasbed.surrogates import Examples
from nasbed.surrogates.features import Features
from nasbed.surrogates.models.support_vectors import EpsilonSVR, NuSVR, SupportVectors
from nasbed.surrogates.scaling import ColumnScale, TargetScale
from nasbed.surrogates.scores import kendall


def toy(count: int, seed: int = 0) -> Examples:
    rng, nb201 = np.random.default_rng(seed), space("nb201")
    codes = nb201.codes([nb201.sample(rng) for _ in range(count)])
    worth = nb201.encode(codes, "onehot") @ np.random.default_rng(1).normal(size=30)
    return Examples.plain(codes, 95 - 3 * np.exp(worth / worth.std()))


@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly", "sigmoid"])
@pytest.mark.parametrize("model_class", [EpsilonSVR, NuSVR])
def test_machine_equals_scikit_learn(model_class: type[SupportVectors[Any]], kernel: str) -> None:
    train, unseen, nb201 = toy(250), toy(100, seed=5), space("nb201")
    settings = {"kernel": kernel, "degree": 3, "gamma": "scale", "coef0": 0.2, "features": "onehot+costs"}
    model = model_class(nb201, settings=settings)
    model.fit(train)

    features = Features(nb201, "onehot+costs")
    columns = ColumnScale.of(features(train.codes))
    target = TargetScale.of(train.y, logarithm=True)
    chosen = model.settings
    common = {
        "C": chosen.c,
        "kernel": kernel,
        "degree": 3,
        "gamma": "scale",
        "coef0": 0.2,
        "shrinking": chosen.shrinking,
        "tol": chosen.tolerance,
    }
    reference = (
        SVR(**common, epsilon=chosen.epsilon) if model_class is EpsilonSVR else ReferenceNuSVR(**common, nu=chosen.nu)
    )
    reference.fit(columns.apply(features(train.codes)), target.apply(train.y))
    expected = target.undo(reference.predict(columns.apply(features(unseen.codes))))
    np.testing.assert_allclose(model.predict(unseen.codes), expected, rtol=1e-9)

    restored = model_class.restore(model.dump(), nb201, settings, 0)
    np.testing.assert_array_equal(restored.predict(unseen.codes), model.predict(unseen.codes))


@pytest.mark.parametrize("model_class", [EpsilonSVR, NuSVR])
@pytest.mark.parametrize("name", ["nb101", "nb201", "darts", "fbnet", "transnas-macro"])
def test_support_vectors_learn_in_every_space(model_class: type[SupportVectors[Any]], name: str) -> None:
    rng, where = np.random.default_rng(0), space(name)
    codes = where.codes([where.sample(rng) for _ in range(700)])
    bits = where.encode(codes, "onehot")
    y = (50 + bits @ np.random.default_rng(1).normal(size=bits.shape[1])).astype(np.float64)
    model = model_class(where)
    model.fit(Examples.plain(codes[:500], y[:500]))
    assert kendall(y[500:], model.predict(codes[500:])) > 0.5


def test_support_vectors_refuse_an_unknown_kernel_and_answer_only_when_fitted() -> None:
    with pytest.raises(InvalidOption, match="a kernel is one of"):
        EpsilonSVR(space("nb201"), settings={"kernel": "cubic"})
    with pytest.raises(NotFitted, match="call fit first"):
        NuSVR(space("nb201")).predict(np.zeros((1, 6), dtype=np.int64))


@pytest.mark.parametrize("model_class", [EpsilonSVR, NuSVR])
def test_support_vectors_tuning_ranges_are_those_of_table_6(model_class: type[SupportVectors[Any]]) -> None:
    ranges = model_class.tuning_space()
    numbers = {
        parameter.name: (parameter.lower, parameter.upper, parameter.log)
        for parameter in ranges.values()
        if isinstance(parameter, UniformFloatHyperparameter | UniformIntegerHyperparameter)
    }
    own = {"epsilon": (0.01, 0.99, True)} if model_class is EpsilonSVR else {"nu": (0.01, 1.0, False)}
    common = {
        "c": (1.0, 20.0, True),
        "coef0": (-0.5, 0.5, False),
        "degree": (1, 128, True),
        "tolerance": (0.0001, 0.01, False),
    }
    assert numbers == common | own
    choices = {
        parameter.name: set(parameter.choices)
        for parameter in ranges.values()
        if isinstance(parameter, CategoricalHyperparameter)
    }
    assert choices == {
        "gamma": {"scale", "auto"},
        "kernel": {"linear", "rbf", "poly", "sigmoid"},
        "shrinking": {True, False},
    }
