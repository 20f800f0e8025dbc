"""The answer without a walk, held to the libraries' own predictions, to the last bit."""

from __future__ import annotations

import lightgbm
import numpy as np
import pytest
import xgboost
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from sklearn.ensemble import RandomForestRegressor

from nasbed.surrogates.trees import Forest
from nasbed.surrogates.trees.lightgbm_text import forest_from_lightgbm
from nasbed.surrogates.trees.program import Program
from nasbed.surrogates.trees.quick import QuickForest
from nasbed.surrogates.trees.sklearn_trees import forest_from_sklearn
from nasbed.surrogates.trees.xgboost_json import forest_from_xgboost
from support.examples import examples

SEEDS = st.integers(0, 2**32 - 1)
ODD = np.array([0.0, -0.0, 1e-36, -1e-36, 2e-35, 1.0, np.nan], dtype=np.float32)


def rows_of(rng: np.random.Generator, count: int) -> NDArray[np.float32]:
    """Bits, numbers, and some of these odd or missing."""
    rows = np.concatenate([rng.integers(0, 2, size=(count, 3)), rng.normal(size=(count, 3)).round(2)], axis=1)
    return np.where(rng.random(rows.shape) < 0.15, rng.choice(ODD, rows.shape), rows).astype(np.float32)


def agree(forest: Forest, rows: NDArray[np.float32], expected: NDArray[np.float64]) -> None:
    quick = QuickForest.of(forest)
    assert quick is not None
    predictions = np.concatenate([quick.predict(rows[at : at + 1])[:, 0] for at in range(len(rows))])
    np.testing.assert_array_equal(predictions, expected)


@examples(15)
@given(SEEDS, st.booleans(), st.booleans(), st.sampled_from([2, 9, 64]), st.integers(1, 30))
def test_lightgbm(seed: int, zero_as_missing: bool, use_missing: bool, leaves: int, rounds: int) -> None:
    rng = np.random.default_rng(seed)
    rows = rows_of(rng, 300)
    parameters = {
        "num_leaves": leaves,
        "min_data_in_leaf": 1,
        "zero_as_missing": zero_as_missing,
        "use_missing": use_missing,
        "num_threads": 1,
        "verbosity": -1,
    }
    data = lightgbm.Dataset(rows, rng.normal(size=300) + np.nan_to_num(rows) @ rng.normal(size=6))
    booster = lightgbm.train(parameters, data, rounds)
    queries = rows_of(rng, 60)
    queries[:2] = [[np.inf], [-np.inf]]
    expected = np.asarray(booster.predict(queries.astype(np.float64), num_threads=1))
    agree(forest_from_lightgbm(booster.model_to_string()), queries, expected)


@examples(12)
@given(SEEDS, st.integers(1, 5), st.integers(1, 30))
def test_xgboost(seed: int, depth: int, rounds: int) -> None:
    rng = np.random.default_rng(seed)
    rows, queries = rows_of(rng, 300), rows_of(rng, 60)
    data = xgboost.DMatrix(rows, label=rng.normal(size=300) + np.nan_to_num(rows) @ rng.normal(size=6), nthread=1)
    booster = xgboost.train({"max_depth": depth, "nthread": 1, "verbosity": 0}, data, rounds)
    expected = booster.predict(xgboost.DMatrix(queries, nthread=1)).astype(np.float64)
    agree(forest_from_xgboost(bytes(booster.save_raw("json"))), queries, expected)


def test_many_members_and_single_leaves() -> None:
    rng = np.random.default_rng(1)
    rows, queries = np.nan_to_num(rows_of(rng, 300)), np.nan_to_num(rows_of(rng, 50))
    forests, expected = [], []
    for depth, target in ((4, rng.normal(size=300)), (1, rng.normal(size=300)), (3, np.ones(300))):
        model = RandomForestRegressor(7, max_depth=depth, random_state=depth).fit(rows, target)
        forests.append(forest_from_sklearn(model.estimators_, divisor=7))
        expected.append(model.predict(queries))
    quick = QuickForest.of(Forest.merge(forests))
    assert quick is not None
    predictions = np.concatenate([quick.predict(queries[at : at + 1]) for at in range(len(queries))])
    np.testing.assert_array_equal(predictions, np.stack(expected, axis=1))


def test_what_is_not_of_its_kind_walks() -> None:
    rng = np.random.default_rng(2)
    rows = np.nan_to_num(rows_of(rng, 3000))
    deep = RandomForestRegressor(2, random_state=0).fit(rows, rng.normal(size=3000))
    forest = forest_from_sklearn(deep.estimators_, divisor=2)
    assert QuickForest.of(forest) is None
    program = Program(forest)
    np.testing.assert_array_equal(program.predict(rows[:1])[:, 0], deep.predict(rows[:1]))
    kinds = rng.integers(0, 9, size=(3000, 1)).astype(np.float32)
    data = lightgbm.Dataset(kinds, (kinds[:, 0] % 3) + rng.normal(size=3000), categorical_feature=[0])
    booster = lightgbm.train({"num_leaves": 8, "verbosity": -1, "min_data_per_group": 1}, data, 20)
    assert QuickForest.of(forest_from_lightgbm(booster.model_to_string())) is None


@pytest.mark.parametrize("rows", [1, 2])
def test_a_program_answers_the_same_before_and_after_compilation(rows: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(3)
    data = rows_of(rng, 300)
    booster = lightgbm.train({"verbosity": -1, "num_leaves": 20}, lightgbm.Dataset(data, rng.normal(size=300)), 40)
    program = Program(forest_from_lightgbm(booster.model_to_string()))
    monkeypatch.setattr("nasbed.surrogates.trees.plain._walked", 0)
    before = program.predict(data[:rows])
    monkeypatch.setattr("nasbed.surrogates.trees.plain._walked", 10**9)
    np.testing.assert_array_equal(program.predict(data[:rows]), before)
