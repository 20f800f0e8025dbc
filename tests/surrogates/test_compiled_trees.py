"""The compiled and the plain walk, held to the libraries' own predictions, to the last bit."""

from __future__ import annotations

import io
import subprocess
import sys
import warnings
from typing import Any

import lightgbm
import numpy as np
import pytest
import xgboost
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from sklearn.ensemble import RandomForestRegressor

from nasbed.core.errors import BadFile, InvalidOption
from nasbed.surrogates.models.ngb import forests_from_ngboost
from nasbed.surrogates.trees import Forest
from nasbed.surrogates.trees.keys import highest_at_most, keys
from nasbed.surrogates.trees.lightgbm_text import forest_from_lightgbm
from nasbed.surrogates.trees.plain import predict_plainly
from nasbed.surrogates.trees.sklearn_trees import forest_from_sklearn
from nasbed.surrogates.trees.xgboost_json import forest_from_xgboost
from support.examples import examples

Rows = NDArray[np.float32]

NUMBERS, CATEGORIES = 4, 2
ODD = np.array([0.0, -0.0, 1e-36, -1e-36, 1e-35, 2e-35, 1e-45, 1.0, 3e38, -3e38, np.nan], dtype=np.float32)
ODD_CATEGORIES = np.array(
    [-1, -0.5, -0.0, 0.5, 1.5, 31, 32, 99, 1000, 2**24 - 1, 2**24, 2**31, np.nan], dtype=np.float32
)
SEEDS = st.integers(0, 2**32 - 1)


def rows_of(rng: np.random.Generator, count: int, *, odd: float, missing: float) -> Rows:
    """Numbers, some of them odd or missing, then categories."""
    numbers = rng.normal(size=(count, NUMBERS)).round(int(rng.integers(0, 4))).astype(np.float32)
    numbers = np.where(rng.random(numbers.shape) < odd, rng.choice(ODD, numbers.shape), numbers)
    numbers[rng.random(numbers.shape) < missing] = np.nan
    categories = rng.integers(0, 40, size=(count, CATEGORIES)).astype(np.float32)
    return np.concatenate([numbers, categories], axis=1)


def questions_of(rng: np.random.Generator, count: int = 150) -> Rows:
    """Rows unlike those of training: more oddities, unknown categories."""
    rows = rows_of(rng, count, odd=0.3, missing=0.1)
    strange = rng.random((count, CATEGORIES)) < 0.5
    rows[:, NUMBERS:] = np.where(strange, rng.choice(ODD_CATEGORIES, strange.shape), rows[:, NUMBERS:])
    return rows


def tamed(rows: Rows) -> Rows:
    """Without numbers whose sum overflows, at which scikit-learn warns."""
    return np.clip(rows, np.float32(-1e30), np.float32(1e30))


def target_of(rng: np.random.Generator, rows: Rows) -> NDArray[np.float64]:
    bounded = np.clip(np.nan_to_num(rows).astype(np.float64), -5, 40)
    return bounded @ rng.normal(size=rows.shape[1]) + 3 * (bounded[:, -1] % 3) + rng.normal(size=len(rows)) + 50


def agree(forest: Forest, rows: Rows, expected: NDArray[Any]) -> None:
    """Both walks, in batches and row by row, give exactly these."""
    for member in (forest, Forest.restore(forest.dump())):
        np.testing.assert_array_equal(member.predict_compiled(rows)[:, 0], expected)
        np.testing.assert_array_equal(predict_plainly(member, rows)[:, 0], expected)
    for at in range(3):
        np.testing.assert_array_equal(forest.predict_compiled(rows[at : at + 1])[:, 0], expected[at : at + 1])
        np.testing.assert_array_equal(predict_plainly(forest, rows[at : at + 1])[:, 0], expected[at : at + 1])


@examples(15)
@given(SEEDS, st.booleans(), st.booleans(), st.sampled_from([2, 7, 60]), st.integers(1, 30))
def test_lightgbm_forest_predicts_as_lightgbm(
    seed: int, zero_as_missing: bool, use_missing: bool, leaves: int, rounds: int
) -> None:
    rng = np.random.default_rng(seed)
    rows = rows_of(rng, 200, odd=0.1, missing=0.1 if rng.random() < 0.7 else 0.0)
    data = lightgbm.Dataset(
        rows, target_of(rng, rows), categorical_feature=[NUMBERS, NUMBERS + 1], params={"verbosity": -1}
    )
    parameters = {
        "objective": "regression",
        "num_leaves": leaves,
        "min_data_in_leaf": 1,
        "min_data_per_group": 1,
        "cat_smooth": 0.1,
        "zero_as_missing": zero_as_missing,
        "use_missing": use_missing,
        "num_threads": 1,
        "verbosity": -1,
        "seed": seed % 1000,
    }
    booster = lightgbm.train(parameters, data, rounds)
    queries = questions_of(rng)
    queries[:4, :NUMBERS] = [[np.inf], [-np.inf], [np.nan], [0.0]]
    queries[4, NUMBERS:] = np.inf, -np.inf
    expected = booster.predict(queries.astype(np.float64), num_threads=1)
    agree(forest_from_lightgbm(booster.model_to_string()), queries, np.asarray(expected))


@examples(15)
@given(SEEDS, st.sampled_from([1, 3, 12]), st.integers(1, 30), st.sampled_from([1, 100]))
def test_xgboost_forest_predicts_as_xgboost(seed: int, depth: int, rounds: int, most_onehot: int) -> None:
    rng = np.random.default_rng(seed)
    rows = rows_of(rng, 200, odd=0.1, missing=0.1 if rng.random() < 0.7 else 0.0)
    types = ["q"] * NUMBERS + ["c"] * CATEGORIES

    def matrix(queries: Rows, y: NDArray[np.float64] | None = None) -> xgboost.DMatrix:
        return xgboost.DMatrix(queries, label=y, feature_types=types, enable_categorical=True, nthread=1)

    parameters = {
        "max_depth": depth,
        "min_child_weight": 0,
        "max_cat_to_onehot": most_onehot,
        "nthread": 1,
        "seed": seed % 1000,
        "gamma": float(rng.choice([0.0, 5.0])),
        "verbosity": 0,
    }
    booster = xgboost.train(parameters, matrix(rows, target_of(rng, rows)), rounds)
    queries = questions_of(rng)
    agree(forest_from_xgboost(bytes(booster.save_raw("json"))), queries, booster.predict(matrix(queries)))


@examples(10)
@given(SEEDS, st.integers(1, 12), st.sampled_from([None, 1, 4]), st.booleans())
def test_random_forest_predicts_as_sklearn(seed: int, trees: int, depth: int | None, missing: bool) -> None:
    rng = np.random.default_rng(seed)
    rows, queries = tamed(rows_of(rng, 200, odd=0.1, missing=0.1)), tamed(questions_of(rng))
    if not missing:
        rows, queries = np.nan_to_num(rows), np.nan_to_num(queries)
    model = RandomForestRegressor(trees, max_depth=depth, random_state=seed % 1000, max_features=0.5)
    model.fit(rows, target_of(rng, rows))
    forest = forest_from_sklearn(model.estimators_, divisor=trees)
    agree(forest, queries, model.predict(queries))


@examples(2, thorough=40)
@given(SEEDS)
def test_ngboost_forests_predict_as_ngboost(seed: int) -> None:
    ngboost = pytest.importorskip("ngboost")
    rng = np.random.default_rng(seed)
    rows, queries = tamed(rows_of(rng, 200, odd=0.1, missing=0.1)), tamed(questions_of(rng))
    model = ngboost.NGBRegressor(n_estimators=20, verbose=False, random_state=seed % 1000)
    model.fit(rows, target_of(rng, rows))
    expected = model.pred_dist(queries)
    mean, log_scale = forests_from_ngboost(model)
    agree(mean, queries, expected.loc)
    np.testing.assert_array_equal(np.exp(log_scale.predict_compiled(queries)[:, 0]), expected.scale)


def small(seed: int, *, rounds: int = 5, constant: bool = False) -> tuple[lightgbm.Booster, Rows]:
    rng = np.random.default_rng(seed)
    rows = rows_of(rng, 100, odd=0.1, missing=0.1)
    y = np.full(100, 7.5) if constant else target_of(rng, rows)
    parameters = {"objective": "regression", "min_data_in_leaf": 1, "num_threads": 1, "verbosity": -1}
    return lightgbm.train(parameters, lightgbm.Dataset(rows, y, params={"verbosity": -1}), rounds), rows


def test_forest_of_single_leaves_predicts_the_mean() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        booster, rows = small(0, constant=True)
    forest = forest_from_lightgbm(booster.model_to_string())
    assert len(forest.splits) == 0
    agree(forest, rows, np.full(100, 7.5))


def test_merge_gives_what_each_member_gives() -> None:
    rng = np.random.default_rng(3)
    boosters = [small(seed) for seed in range(3)]
    forests = [forest_from_lightgbm(booster.model_to_string()) for booster, _ in boosters]
    rows = rows_of(rng, 300, odd=0.2, missing=0.2)
    model = xgboost.train(
        {"nthread": 1, "max_cat_to_onehot": 1},
        xgboost.DMatrix(
            rows,
            label=target_of(rng, rows),
            feature_types=["q"] * NUMBERS + ["c"] * CATEGORIES,
            enable_categorical=True,
        ),
        4,
    )
    forests.append(forest_from_xgboost(bytes(model.save_raw("json"))))
    forests.append(forests[-1])
    merged = Forest.merge([Forest.merge(forests[:2]), *forests[2:]])
    assert merged.members == 5 and merged.trees == sum(forest.trees for forest in forests)
    expected = np.concatenate([forest.predict_compiled(rows) for forest in forests], axis=1)
    for predictions in (merged.predict_compiled(rows), predict_plainly(merged, rows)):
        np.testing.assert_array_equal(predictions, expected)


@given(st.lists(st.floats(width=32, allow_nan=False), min_size=2, max_size=20), st.floats(allow_nan=False))
def test_keys_and_thresholds_keep_the_order(values: list[float], threshold: float) -> None:
    numbers = np.array(values, dtype=np.float32)
    assert ((keys(numbers)[:, None] <= keys(numbers)) == (numbers[:, None] <= numbers)).all()
    with np.errstate(over="ignore"):
        limit = keys(highest_at_most(np.array([threshold])))
    assert ((keys(numbers) <= limit) == (numbers.astype(np.float64) <= threshold)).all()


def test_predict_refuses_rows_of_another_kind() -> None:
    forest = forest_from_lightgbm(small(0)[0].model_to_string())
    with pytest.raises(InvalidOption, match="float32"):
        forest.predict(np.zeros((1, 6)))  # type: ignore[arg-type]
    with pytest.raises(InvalidOption, match="features"):
        forest.predict(np.zeros((1, 1), dtype=np.float32))


@examples(25)
@given(st.sampled_from(["conditions", "condition", "inner", "sizes", "columns", "bounds"]), SEEDS)
def test_restore_refuses_or_survives_any_changed_number(name: str, seed: int) -> None:
    """A walk never leaves the arrays nor runs for ever, whatever a file says."""
    rng = np.random.default_rng(seed)
    booster, rows = small(1, rounds=2)
    forest = forest_from_lightgbm(booster.model_to_string())
    arrays = dict(np.load(io.BytesIO(forest.dump())))
    flat = arrays[name].reshape(-1)
    kind = np.iinfo(flat.dtype)
    flat[rng.integers(len(flat))] = rng.choice([kind.max, kind.min, int(rng.integers(0, 200)), 1 << 30], shuffle=False)
    file = io.BytesIO()
    np.savez(file, **arrays)
    try:
        changed = Forest.restore(file.getvalue())
    except BadFile:
        return
    if changed.width <= rows.shape[1]:
        np.testing.assert_array_equal(changed.predict_compiled(rows), predict_plainly(changed, rows))


def test_restore_refuses_what_is_no_forest() -> None:
    for data in (b"", b"not a file", small(0)[0].model_to_string().encode()):
        with pytest.raises(BadFile):
            Forest.restore(data)


def test_readers_refuse_other_models() -> None:
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(60, 3)).astype(np.float32)
    label = rng.integers(0, 3, size=60)
    classes = lightgbm.train(
        {"objective": "multiclass", "num_class": 3, "verbosity": -1, "num_threads": 1}, lightgbm.Dataset(rows, label), 2
    )
    with pytest.raises(BadFile, match="one output"):
        forest_from_lightgbm(classes.model_to_string())
    logistic = xgboost.train({"objective": "binary:logistic", "nthread": 1}, xgboost.DMatrix(rows, label % 2), 2)
    with pytest.raises(BadFile, match="regression"):
        forest_from_xgboost(bytes(logistic.save_raw("json")))
    with pytest.raises(BadFile, match="JSON"):
        forest_from_xgboost(b"[1, 2")
    with pytest.raises(BadFile):
        forest_from_lightgbm("no model")


def test_first_query_loads_no_compiler() -> None:
    """Numpy answers first queries; a batch is worth the compiled walk."""
    code = """
import sys, numpy as np
from nasbed.surrogates.trees import Forest
forest = Forest.restore(sys.stdin.buffer.read())
row = np.zeros((1, 6), dtype=np.float32)
first = forest.predict(row)
assert "numba" not in sys.modules
assert (forest.predict(np.repeat(row, 200_000, axis=0)) == first).all()
assert "numba" in sys.modules
"""
    forest = forest_from_lightgbm(small(0)[0].model_to_string())
    completed = subprocess.run([sys.executable, "-c", code], input=forest.dump(), capture_output=True, timeout=120)
    assert completed.returncode == 0, completed.stderr.decode()


def test_dump_is_small_and_the_same_again() -> None:
    """A split takes a number of its condition and two bits, a leaf its value."""
    rng = np.random.default_rng(2)
    rows = rng.integers(0, 3, size=(500, 20)).astype(np.float32)
    data = lightgbm.Dataset(rows, rows @ rng.normal(size=20) + rng.normal(size=500))
    booster = lightgbm.train({"num_leaves": 31, "verbosity": -1, "num_threads": 1}, data, 100)
    forest = forest_from_lightgbm(booster.model_to_string())
    stored = forest.dump()
    plain = io.BytesIO()
    np.savez_compressed(plain, splits=forest.splits, leaves=forest.leaves)
    assert len(stored) < 0.75 * len(plain.getvalue())
    assert Forest.restore(stored).dump() == stored
    single = forest.in_single_precision()
    assert len(single.dump()) < 0.7 * len(stored)
    np.testing.assert_allclose(single.predict(rows), forest.predict(rows), rtol=1e-6, atol=1e-6)
    np.testing.assert_array_equal(Forest.restore(single.dump()).predict(rows), single.predict(rows))
