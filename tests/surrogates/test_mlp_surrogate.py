"""BANANAS' network as a surrogate."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from ConfigSpace import CategoricalHyperparameter, UniformFloatHyperparameter, UniformIntegerHyperparameter

from nasbed import space
from nasbed.core.errors import NotFitted
from nasbed.optimizers.hyperband import budgets_of
from nasbed.surrogates import Examples
from nasbed.surrogates.models.mlp import MLP
from nasbed.surrogates.scaling import TargetScale
from nasbed.surrogates.scores import kendall

pytest.importorskip("torch")

QUICK = {"epochs": 80, "layers": 5, "width": 24}


def toy(name: str, count: int, seed: int = 0) -> Examples:
    """An accuracy below 95 from which each choice subtracts its share."""
    rng, where = np.random.default_rng(seed), space(name)
    codes = where.codes([where.sample(rng) for _ in range(count)])
    bits = where.encode(codes, "onehot")
    worth = bits @ np.random.default_rng(1).normal(size=bits.shape[1])
    return Examples.plain(codes, 95 - 3 * np.exp(worth / worth.std()))


@pytest.fixture(scope="module")
def fitted() -> MLP:
    model = MLP(space("nb201"), settings=QUICK | {"features": "onehot+path"}, seed=2)
    model.fit(toy("nb201", 800))
    return model


def test_mlp_learns_a_function_of_the_cell(fitted: MLP) -> None:
    unseen = toy("nb201", 300, seed=9)
    assert kendall(unseen.y, fitted.predict(unseen.codes)) > 0.8


def test_mlp_restored_needs_no_torch(fitted: MLP, tmp_path: Path) -> None:
    codes = toy("nb201", 50, seed=9).codes
    for name, data in fitted.dump().items():
        (tmp_path / name).write_bytes(data)
    np.save(tmp_path / "codes.npy", codes)
    program = """
import pathlib, sys
sys.modules["torch"] = None
import numpy as np
from nasbed import space
from nasbed.surrogates.models.mlp import MLP
here = pathlib.Path(sys.argv[1])
files = {name: (here / name).read_bytes() for name in ("arrays.npz", "model.json")}
settings = {"epochs": 80, "layers": 5, "width": 24, "features": "onehot+path"}
np.save(here / "answers.npy", MLP.restore(files, space("nb201"), settings, 2).predict(np.load(here / "codes.npy")))
"""
    subprocess.run([sys.executable, "-c", program, str(tmp_path)], check=True)
    np.testing.assert_array_equal(np.load(tmp_path / "answers.npy"), fitted.predict(codes))


def test_mlp_numpy_and_torch_compute_the_same(fitted: MLP) -> None:
    import io

    import torch

    files = fitted.dump()
    arrays = np.load(io.BytesIO(files["arrays.npz"]))
    codes = toy("nb201", 50, seed=9).codes
    rows = np.concatenate([fitted.space.encode(codes, "onehot"), fitted.space.encode(codes, "path")], axis=1)
    x = torch.from_numpy((rows - arrays["columns.mean"]) * arrays["columns.scale"])
    x = x @ torch.from_numpy(arrays["layer0.weight"]) + torch.from_numpy(arrays["layer0.bias"])
    for i in range(1, 5):
        layer = torch.nn.functional.linear(
            x.relu(), torch.from_numpy(arrays[f"layer{i}.weight"].T), torch.from_numpy(arrays[f"layer{i}.bias"])
        )
        x = layer
    z = (x.relu() @ torch.from_numpy(arrays["layer5.weight"]) + torch.from_numpy(arrays["layer5.bias"]))[:, 0]
    expected = fitted._target.undo(z.numpy().astype(np.float64))
    np.testing.assert_allclose(fitted.predict(codes), expected, rtol=1e-5)


@pytest.mark.parametrize("name", ["nb101", "fbnet", "transnas-macro"])
def test_mlp_is_repeatable_with_paths_or_without(name: str) -> None:
    train = toy(name, 60)
    answers = []
    for _ in range(2):
        model = MLP(space(name), settings={"epochs": 2, "layers": 3, "dropout": 0.1, "ranking_loss": True}, seed=1)
        model.fit(train)
        answers.append(model.predict(train.codes))
    np.testing.assert_array_equal(answers[0], answers[1])
    assert np.isfinite(answers[0]).all()


def test_mlp_asked_before_fit_says_so() -> None:
    with pytest.raises(NotFitted, match="call fit first"):
        MLP(space("nb201")).predict(np.zeros((1, 6), dtype=np.int64))


def test_mlp_tuning_ranges_and_budgets_are_those_of_the_paper() -> None:
    ranges = MLP.tuning_space()
    numbers = {
        parameter.name: (parameter.lower, parameter.upper, parameter.log)
        for parameter in ranges.values()
        if isinstance(parameter, UniformFloatHyperparameter | UniformIntegerHyperparameter)
    }
    assert numbers == {
        "layers": (1, 10, True),
        "width": (16, 256, True),
        "learning_rate": (1e-3, 1e-1, True),
        "batch_size": (16, 128, False),
    }
    switches = {parameter.name for parameter in ranges.values() if isinstance(parameter, CategoricalHyperparameter)}
    assert switches == {"log_transform", "ranking_loss"}
    name, steps = MLP.budgets()
    assert name == "epochs" and budgets_of(steps, 3) == steps == tuple(int(128 / 3**power) for power in (3, 2, 1, 0))
    assert (steps[0], steps[-1]) == (4, 128)  # appendix E.3


@pytest.mark.parametrize("logarithm", [False, True])
@pytest.mark.parametrize("mirror", [1, -1])
def test_target_scale_keeps_order_and_comes_back(logarithm: bool, mirror: int) -> None:
    y = mirror * (1 - np.random.default_rng(0).lognormal(-2, 0.7, 500))
    scale = TargetScale.of(y, logarithm=logarithm)
    z = scale.apply(y)
    assert (np.argsort(z) == np.argsort(y)).all()
    assert abs(z.mean()) < 1e-9 and z.std() == pytest.approx(1)
    np.testing.assert_allclose(TargetScale.from_json(scale.to_json()).undo(z), y)
    if logarithm:
        assert scale.sign == mirror
        assert abs(((z - z.mean()) ** 3).mean()) < abs((((y - y.mean()) / y.std()) ** 3).mean())


def test_target_scale_survives_constant_targets_and_wild_scores() -> None:
    constant = TargetScale.of(np.full(5, 0.9), logarithm=True)
    np.testing.assert_allclose(constant.undo(np.array([-3.0, 0.0, 3.0])), 0.9)
    y = 1 - np.random.default_rng(0).lognormal(-2, 0.7, 500)
    wild = TargetScale.of(y, logarithm=True).undo(np.array([-1e9, 1e9]))
    assert y.min() - 1.5 * np.ptp(y) < wild[0] < wild[1] < y.max() + np.ptp(y)
