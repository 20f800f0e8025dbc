"""The choice of one recipe for all architectures, on settings of which one is plainly the best."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch", reason="needs torch")

from nasbed import NasbedError, space
from nasbed.core.execution import SerialEngine
from nasbed.experiments.recipe_grid import recipe_settings, sampled_architectures
from nasbed.studies.common_recipe.page import outcome, write_common_recipe_report
from nasbed.studies.common_recipe.study import CommonRecipeStudy, common_recipe_study
from nasbed.training import load_recipe
from support.pages import check_page

BASE = replace(
    load_recipe("small-nb201"), epochs=(1,), epoch_images=192, skeleton={"channels": 4, "cells_per_stage": 1}
)
RATES = [1e-9, 0.1, 1e30]
"""One that learns nothing, a usual one, and one that diverges at once."""


def study(out: Path, count: int, completed: list[int]) -> CommonRecipeStudy:
    return common_recipe_study(
        space("nb201"),
        "digits",
        replace(BASE, gradient_clip=None),
        {"learning_rate": RATES},
        architectures=count,
        out=out,
        engine=SerialEngine(),
        progress=lambda done, total: completed.append(done),
    )


def test_common_recipe_is_the_setting_that_serves_all(tmp_path: Path) -> None:
    completed: list[int] = []
    study(tmp_path, 2, completed)
    result = study(tmp_path, 3, completed)
    assert completed == [1, 2, 3, 4, 5, 6, 7, 8, 9]  # the third architecture adds three trainings to the six kept
    assert result.chosen.values == {"learning_rate": 0.1} and result.recipe.learning_rate == 0.1
    assert [setting.diverged > 0 for setting in result.settings] == [False, False, True]
    assert result.settings[1].mean.estimate == pytest.approx(result.accuracies[:, 1].mean())
    assert (result.gaps == np.nanmax(result.accuracies[:, :2], axis=1) - result.accuracies[:, 1]).all()
    write_common_recipe_report(result, tmp_path)
    check_page(tmp_path / "report.html")
    assert outcome(result) in (tmp_path / "report.html").read_text()
    assert load_recipe(str(tmp_path / "recipe.toml")) == result.recipe
    assert json.loads((tmp_path / "numbers.json").read_text())["chosen"] == {"learning_rate": 0.1}


def test_common_recipe_says_when_settings_are_equal(tmp_path: Path) -> None:
    """Learning rates that move no weight leave the same network."""
    result = common_recipe_study(
        space("nb201"),
        "digits",
        BASE,
        {"learning_rate": [1e-20, 1e-19, 1e-18]},
        architectures=2,
        out=tmp_path,
        engine=SerialEngine(),
    )
    assert result.chosen.values == {"learning_rate": 1e-20}
    assert "2 other settings had the same mean; of these the first was taken." in outcome(result)


def test_grid_refuses_what_is_no_hyperparameter() -> None:
    for varied, words in (
        ({"epochs": [1]}, "epochs cannot vary"),
        ({"rate": [1]}, "rate cannot vary; choose from batch, learning_rate"),
        ({"learning_rate": [-1.0]}, "learning_rate of a recipe is above 0"),
        ({}, "at least one field"),
    ):
        with pytest.raises(NasbedError, match=words):
            recipe_settings(BASE, varied)


def test_sample_has_different_cells() -> None:
    nb101 = space("nb101")
    sample = sampled_architectures(nb101, 40, 0)
    assert len({nb101.canonical(arch) for arch in sample}) == 40
    with pytest.raises(NasbedError, match="ask for fewer"):
        sampled_architectures(space("nb201"), 15_626, 0)
