"""The presets of surrogate models: the numbers of Surrogate NAS Benchmarks, on their way into models and artefacts."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from nasbed import NasbedError, space
from nasbed.cli import app
from nasbed.surrogates import SURROGATES, Examples
from nasbed.surrogates.artefact import Artefact
from nasbed.surrogates.presets import MODEL_PRESETS
from support.surrogates import write_evaluations

CONFIG = {"features": "config"}  # appendix E.1: ConfigSpace's vector for all models but graph networks
TABLE_6: dict[str, dict[str, Any]] = {  # "Default Value"; GIN and MLP (BANANAS) with E.3's epochs
    "gin": {
        "hidden": 24, "layers": 8, "dropout": 0.035, "learning_rate": 0.0777, "batch_size": 51, "undirected": False,
        "ranking_loss": True, "self_loops": False, "log_transform": True, "epochs": 128, "margin": 0.1,
        "weight_decay": 0.0, "features": "",
    },
    "mlp": {
        "layers": 17, "width": 31, "dropout": 0.0, "learning_rate": 0.0021, "batch_size": 122, "log_transform": True,
        "ranking_loss": False, "epochs": 128, "weight_decay": 0.0, "features": "path",
    },
    "xgb": {
        "early_stopping_rounds": 100, "max_depth": 13, "min_child_weight": 39, "colsample_bylevel": 0.6909,
        "colsample_bytree": 0.2545, "lambda_l2": 31.3933, "lambda_l1": 0.2417, "learning_rate": 0.00824, **CONFIG,
    },
    "lgb": {
        "early_stopping_rounds": 100, "max_depth": 18, "num_leaves": 40, "max_bin": 336, "feature_fraction": 0.1532,
        "min_child_weight": 0.5822, "lambda_l1": 0.0115, "lambda_l2": 134.5075, "learning_rate": 0.0218, **CONFIG,
    },
    "rf": {
        "trees": 116, "min_samples_split": 2, "min_samples_leaf": 2, "max_features": 0.1706, "bootstrap": False,
        **CONFIG,
    },
    "svr": {
        "c": 3.066, "coef0": 0.1627, "degree": 1, "epsilon": 0.0251, "gamma": "auto", "kernel": "sigmoid",
        "shrinking": False, "tolerance": 0.0021, **CONFIG,
    },
    "nusvr": {
        "c": 5.3131, "coef0": -0.3316, "degree": 128, "gamma": "scale", "kernel": "rbf", "nu": 0.1839,
        "shrinking": True, "tolerance": 0.003, **CONFIG,
    },
}  # fmt: skip
APPENDIX_B = {  # "hidden dimension of 64 with 4 hidden layers … 30 epochs with a batch size of 128 … MSE … logarithmic"
    "hidden": 64, "layers": 4, "epochs": 30, "batch_size": 128, "ranking_loss": False, "log_transform": True,
    "features": "",
}  # fmt: skip
QUICK: dict[str, dict[str, int]] = {  # 80 rows are too few for leaves of 39
    "lgb": {"rounds": 5},
    "xgb": {"rounds": 5, "min_child_weight": 1},
    "rf": {"trees": 5},
}


@pytest.mark.parametrize(
    ("preset", "model", "settings"),
    [*(("table-6", model, settings) for model, settings in TABLE_6.items()), ("appendix-b", "gin", APPENDIX_B)],
)
def test_preset_has_the_published_numbers_and_they_arrive_in_the_model(
    preset: str, model: str, settings: dict[str, Any]
) -> None:
    assert MODEL_PRESETS.get(preset).settings(model) == settings
    fitted = SURROGATES.get(model)(space("darts"), settings=MODEL_PRESETS.get(preset).settings(model))
    assert {name: value for name, value in asdict(fitted.settings).items() if name in settings} == settings


def test_presets_cover_the_models_of_the_paper() -> None:
    assert {name: sorted(MODEL_PRESETS.get(name).owners) for name in MODEL_PRESETS} == {
        "table-6": sorted(TABLE_6),
        "appendix-b": ["gin"],
    }
    with pytest.raises(NasbedError, match=r"^the preset appendix-b has settings for gin, got lgb; omit the preset"):
        MODEL_PRESETS.get("appendix-b").settings("lgb")


@pytest.mark.parametrize("model", ["lgb", "xgb", "rf", "svr", "nusvr"])
def test_table_6_fits_where_most_entries_of_the_vector_are_missing(model: str) -> None:
    """In ConfigSpace's vector of a DARTS architecture, the parameters of edges that are not chosen have no value."""
    darts = space("darts")
    rng = np.random.default_rng(0)
    codes = darts.codes([darts.sample(rng) for _ in range(80)])
    assert np.isnan(darts.encode(codes, "config")).mean() > 0.3
    settings = MODEL_PRESETS.get("table-6").settings(model) | QUICK.get(model, {})
    fitted = SURROGATES.get(model)(darts, settings=settings)
    fitted.fit(Examples.plain(codes, 90 + rng.random(80)))
    predicted = fitted.predict(codes)
    assert np.isfinite(predicted).all() and predicted.std() > 0
    restored = SURROGATES.get(model).restore(fitted.dump(), darts, settings, 0)
    assert np.array_equal(restored.predict(codes), predicted)


def test_fit_takes_the_preset_and_a_set_option_wins(tmp_path: Path) -> None:
    table = str(write_evaluations(tmp_path / "table", count=150).folder)
    words = ["fit", table, "--model", "rf", "--preset", "table-6", "--set", "trees=5", "--ensemble", "2"]
    out = tmp_path / "it.snb"
    result = CliRunner().invoke(app, [*words, "--no-runtime", "--processes", "1", "--out", str(out)])
    assert result.exit_code == 0, result.output
    assert Artefact.load(out).manifest.members.settings == TABLE_6["rf"] | {"trees": 5}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ["--model", "gin", "--preset", "appendix-c"],
            "no preset of models is called 'appendix-c'; did you mean appendix-b?",
        ),
        (["--model", "lgb", "--preset", "appendix-b"], "the preset appendix-b has settings for gin, got lgb"),
        (["--model", "lgb", "--preset", "table-6", "--tune", "3"], "got --preset and --tune; omit one"),
    ],
)
def test_fit_refuses_a_preset_that_does_not_apply(words: list[str], message: str, tmp_path: Path) -> None:
    table = str(write_evaluations(tmp_path / "table", count=40).folder)
    result = CliRunner().invoke(app, ["fit", table, *words, "--out", str(tmp_path / "it.snb")])
    assert isinstance(result.exception, NasbedError) and message in str(result.exception)
    assert not (tmp_path / "it.snb").exists()
