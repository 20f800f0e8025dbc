"""LightGBM, XGBoost, NGBoost and random forests as surrogates."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import lightgbm
import numpy as np
import pytest
import xgboost
from ConfigSpace import CategoricalHyperparameter

import nasbed
from nasbed.core.errors import BadFile, InvalidOption, MissingDependency, NotFitted
from nasbed.surrogates import SURROGATES, Examples
from nasbed.surrogates.models.ngb import NGBoost
from nasbed.surrogates.models.tree_model import TreeModel, with_stopping

SMALL: dict[str, dict[str, Any]] = {
    "lgb": {"rounds": 40, "learning_rate": 0.1, "lambda_l2": 1.0, "feature_fraction": 0.7},
    "xgb": {"rounds": 40, "learning_rate": 0.1, "min_child_weight": 1, "lambda_l2": 1.0, "colsample_bytree": 0.7},
    "ngb": {"rounds": 20},
    "rf": {"trees": 10},
}
SPACE = nasbed.space("nb201")

# Table 6 of the Surrogate NAS Benchmarks, NGBoost from the configuration space in automl/nasbench301: the range, whether
# it is sampled on a log scale, and the default.
RANGES: dict[str, dict[str, tuple[float, float, bool, float]]] = {
    "xgb": {
        "max_depth": (1, 15, False, 13),
        "min_child_weight": (1, 100, True, 39),
        "colsample_bylevel": (0.0, 1.0, False, 0.6909),
        "colsample_bytree": (0.0, 1.0, False, 0.2545),
        "lambda_l2": (0.001, 1000, True, 31.3933),
        "lambda_l1": (0.001, 1000, True, 0.2417),
        "learning_rate": (0.001, 0.1, True, 0.00824),
    },
    "lgb": {
        "max_depth": (1, 25, False, 18),
        "num_leaves": (10, 100, False, 40),
        "max_bin": (100, 400, False, 336),
        "feature_fraction": (0.1, 1.0, False, 0.3),
        "min_child_weight": (0.001, 10, True, 0.5822),
        "lambda_l1": (0.001, 1000, True, 0.0115),
        "lambda_l2": (0.001, 1000, True, 1.0),
        "learning_rate": (0.001, 0.1, True, 0.03),
    },
    "rf": {
        "trees": (16, 128, True, 116),
        "min_samples_split": (2, 20, False, 2),
        "min_samples_leaf": (1, 20, False, 2),
        "max_features": (0.1, 1.0, False, 0.1706),
    },
    "ngb": {
        "min_samples_split": (2, 20, False, 20),
        "min_samples_leaf": (1, 20, False, 15),
        "max_features": (0.1, 1.0, False, 0.792),
        "max_depth": (1, 25, False, 6),
        "rounds": (128, 512, True, 505),
        "minibatch": (0.1, 1.0, False, 0.5082),
        "learning_rate": (0.001, 0.1, True, 0.0813),
    },
}


def examples(count: int, seed: int) -> Examples:
    """Cells whose metric is the number of 3×3 convolutions, nearly."""
    rng = np.random.default_rng(seed)
    codes = SPACE.codes([SPACE.sample(rng) for _ in range(count)])
    graphs = SPACE.encode(codes, "onehot").reshape(count, 6, -1)
    return Examples.plain(codes, 90 + graphs[:, :, 3].sum(axis=1) + 0.1 * rng.normal(size=count))


TRAIN, VALID, ASKED = examples(300, 0), examples(80, 1), examples(50, 2)


@pytest.fixture(scope="module", params=list(SMALL))
def fitted(request: pytest.FixtureRequest) -> Iterator[TreeModel[Any]]:
    yield fit(request.param)


def fit(name: str, **options: Any) -> TreeModel[Any]:
    if name == "ngb":
        pytest.importorskip("ngboost")
    model = SURROGATES.get(name)(SPACE, seed=options.pop("seed", 3), settings={**SMALL[name], **options})
    assert isinstance(model, TreeModel)
    model.fit(TRAIN, VALID)
    return model


def test_fit_learns_the_metric(fitted: TreeModel[Any]) -> None:
    error = fitted.predict(ASKED.codes) - ASKED.y
    assert (error**2).mean() < 0.5 * ASKED.y.var()


def test_fit_is_the_same_for_the_same_seed(fitted: TreeModel[Any]) -> None:
    assert fit(fitted.name).dump() == fitted.dump()
    assert (fit(fitted.name, seed=4).predict(ASKED.codes) != fitted.predict(ASKED.codes)).any()


def test_restore_gives_the_same_predictions_and_files(fitted: TreeModel[Any]) -> None:
    files = fitted.dump()
    reloaded = type(fitted).restore(files, SPACE, json.loads(json.dumps(asdict(fitted.settings))), fitted.seed)
    np.testing.assert_array_equal(reloaded.predict(ASKED.codes), fitted.predict(ASKED.codes))
    assert reloaded.dump() == files
    if isinstance(reloaded, NGBoost) and isinstance(fitted, NGBoost):
        np.testing.assert_array_equal(reloaded.scale(ASKED.codes), fitted.scale(ASKED.codes))
        assert (reloaded.scale(ASKED.codes) > 0).all()


def test_restored_model_predicts_without_its_library(fitted: TreeModel[Any], tmp_path: Path) -> None:
    for name, data in fitted.dump().items():
        (tmp_path / name).write_bytes(data)
    np.save(tmp_path / "codes.npy", ASKED.codes)
    code = f"""
import sys, pathlib, numpy as np, nasbed
from nasbed.surrogates import SURROGATES
folder = pathlib.Path(sys.argv[1])
files = {{name: (folder / name).read_bytes() for name in {sorted(fitted.dump())!r}}}
model = SURROGATES.get({fitted.name!r}).restore(files, nasbed.space("nb201"), {asdict(fitted.settings)!r}, {fitted.seed})
np.save(folder / "found.npy", model.predict(np.load(folder / "codes.npy")))
loaded = [name for name in ("lightgbm", "xgboost", "ngboost", "numba") if name in sys.modules]
assert not loaded, loaded
"""
    completed = subprocess.run([sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, timeout=120)
    assert completed.returncode == 0, completed.stderr
    np.testing.assert_array_equal(np.load(tmp_path / "found.npy"), fitted.predict(ASKED.codes))


@pytest.mark.parametrize("name", ["lgb", "xgb"])
def test_native_file_predicts_the_same(name: str) -> None:
    model = fit(name)
    rows = model.features(ASKED.codes)
    if name == "lgb":
        booster = lightgbm.Booster(model_str=gzip.decompress(model.dump()["lightgbm.txt.gz"]).decode())
        expected = booster.predict(rows, num_threads=1)
    else:
        native = xgboost.Booster({"nthread": 1})
        native.load_model(bytearray(gzip.decompress(model.dump()["xgboost.json.gz"])))
        expected = native.predict(xgboost.DMatrix(rows))
    np.testing.assert_array_equal(model.predict(ASKED.codes), expected)


@pytest.mark.parametrize("name", ["lgb", "xgb", "ngb"])
def test_boosting_stops_early_on_the_examples_given(name: str) -> None:
    noise = Examples.plain(VALID.codes, np.random.default_rng(0).normal(size=len(VALID)) + TRAIN.y.mean())
    if name == "ngb":
        pytest.importorskip("ngboost")
    model = SURROGATES.get(name)(SPACE, settings={**SMALL[name], "early_stopping_rounds": 2, "rounds": 60})
    assert isinstance(model, TreeModel)
    model.fit(TRAIN, noise)
    assert model.forest.trees < 30
    full = SURROGATES.get(name)(SPACE, settings={**SMALL[name], "early_stopping_rounds": 0, "rounds": 30})
    assert isinstance(full, TreeModel)
    full.fit(TRAIN, noise)
    assert full.forest.trees == 30


def test_with_stopping_sets_whole_architectures_aside() -> None:
    twice = TRAIN.take(np.repeat(np.arange(len(TRAIN)), 2))
    train, held_out = with_stopping(twice, None, seed=0, rounds=5)
    assert held_out is not None and len(train) + len(held_out) == len(twice)
    assert len(np.unique(held_out.architecture)) == len(np.unique(twice.architecture)) // 10
    assert not np.isin(held_out.architecture, train.architecture).any()
    assert with_stopping(TRAIN, VALID, seed=0, rounds=5) == (TRAIN, VALID)
    assert with_stopping(TRAIN, VALID, seed=0, rounds=0) == (TRAIN, None)


@pytest.mark.parametrize(("name", "tolerance"), [("lgb", 1e-5), ("xgb", 2e-3)])
def test_fit_does_not_depend_on_the_unit_of_the_metric(name: str, tolerance: float) -> None:
    """Penalties are relative: percents and fractions (here by a power of two, exact) give the same trees, but for the
    gain of 1e-6, whatever the unit, that XGBoost wants of a split."""
    settings = {**SMALL[name], "lambda_l1": 5.0}
    predictions = []
    for unit in (1.0, 1 / 128):
        model = SURROGATES.get(name)(SPACE, settings=settings)
        model.fit(TRAIN.of(TRAIN.y * unit), VALID.of(VALID.y * unit))
        predictions.append(model.predict(ASKED.codes) / unit)
    np.testing.assert_allclose(predictions[0], predictions[1], rtol=tolerance)


@pytest.mark.parametrize("name", list(SMALL))
def test_progress_rises_to_one(name: str) -> None:
    if name == "ngb":
        pytest.importorskip("ngboost")
    shares: list[float] = []
    SURROGATES.get(name)(SPACE, settings=SMALL[name]).fit(TRAIN, VALID, shares.append)
    assert shares == sorted(shares) and shares[-1] == 1.0 and len(shares) > 5 and shares[0] < 0.2


@pytest.mark.parametrize("name", list(RANGES))
def test_tuning_space_is_that_of_table_6(name: str) -> None:
    space: Any = SURROGATES.get(name).tuning_space()
    defaults = asdict(SURROGATES.get(name).Settings())
    ranges = {
        parameter.name: (parameter.lower, parameter.upper, parameter.log, parameter.default_value)
        for parameter in space.values()
        if not isinstance(parameter, CategoricalHyperparameter)
    }
    assert ranges == RANGES[name]
    assert {key: defaults[key] for key in ranges} == {key: value[3] for key, value in RANGES[name].items()}
    options = {
        parameter.name: set(parameter.choices)
        for parameter in space.values()
        if isinstance(parameter, CategoricalHyperparameter)
    }
    assert options == ({"bootstrap": {True, False}} if name == "rf" else {})
    assert not asdict(SURROGATES.get("rf").Settings())["bootstrap"]
    if "early_stopping_rounds" in defaults:
        assert defaults["early_stopping_rounds"] == 100


@pytest.mark.parametrize("name", list(RANGES))
def test_tuning_space_corners_can_be_fitted(name: str) -> None:
    if name == "ngb":
        pytest.importorskip("ngboost")
    for corner in (0, 1):
        settings = {key: value[corner] for key, value in RANGES[name].items()}
        budget = {"trees": 3} if name == "rf" else {"rounds": 3}
        model = SURROGATES.get(name)(SPACE, settings={**settings, **budget})
        model.fit(TRAIN, VALID)
        assert np.isfinite(model.predict(ASKED.codes)).all()


@pytest.mark.parametrize("name", list(SMALL))
def test_unknown_setting_names_the_nearest(name: str) -> None:
    with pytest.raises(InvalidOption, match="features"):
        SURROGATES.get(name)(SPACE, settings={"feature": "onehot"})
    with pytest.raises(NotFitted):
        SURROGATES.get(name)(SPACE).predict(ASKED.codes)
    with pytest.raises(BadFile, match="npz"):
        SURROGATES.get(name).restore({}, SPACE, {}, 0)


def test_ngboost_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ngboost", None)
    with pytest.raises(MissingDependency, match=r"pip install 'nasbed\[ngboost\]'"):
        SURROGATES.get("ngb")(SPACE).fit(TRAIN, VALID)


def test_compact_model_is_smaller_and_predicts_the_same_to_single_precision(fitted: TreeModel[Any]) -> None:
    small = fitted.compact()
    np.testing.assert_allclose(small.predict(ASKED.codes), fitted.predict(ASKED.codes), rtol=1e-6)
    files = small.dump()
    assert sum(map(len, files.values())) <= sum(map(len, fitted.dump().values()))
    assert not [name for name in files if name.endswith(".gz")]
    reloaded = type(fitted).restore(files, SPACE, asdict(fitted.settings), fitted.seed)
    np.testing.assert_array_equal(reloaded.predict(ASKED.codes), small.predict(ASKED.codes))
