"""NAS methods on unseen datasets by presets: what is run, and what results say of it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="needs torch")

from nasbed.core.errors import InvalidOption
from nasbed.datasets.dataset import Dataset
from nasbed.datasets.opening import open_dataset
from nasbed.experiments.unseen.budget import NasBudget
from nasbed.experiments.unseen.preset_text import preset_text
from nasbed.experiments.unseen.presets import PresetChoice
from nasbed.experiments.unseen.results import append_result, read_results, shipped_results
from nasbed.experiments.unseen.runs import NasPlan
from nasbed.oneshot import BonsaiSettings
from nasbed.training import load_recipe
from support.unseen_dataset import unseen_folder

METHODS = ("pc-darts", "drnas", "gdas", "bonsai-net", "rs-darts", "rs-bonsai")


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    return open_dataset(str(unseen_folder(tmp_path_factory.mktemp("made") / "Gutenberg")))


def plan(choice: PresetChoice, epochs: int | None = None, *, together: bool = False) -> NasPlan:
    return NasPlan(METHODS, load_recipe("unseen"), NasBudget(), epochs, preset=choice, together=together)


def test_each_method_has_its_own_search_and_training(dataset: Dataset) -> None:
    runs = {run.method: run for run in plan(PresetChoice("paper")).runs(dataset)}
    planned = {method: run.planned(0) for method, run in runs.items()}
    batches = {method: result.recipe["batch"] for method, result in planned.items()}
    assert batches == {"pc-darts": 128, "drnas": 64, "gdas": 96, "bonsai-net": 64, "rs-darts": 128, "rs-bonsai": 64}
    searched = {method: result.search["epochs"] for method, result in planned.items() if result.search_epochs}
    assert searched == {"pc-darts": 50, "drnas": 50, "gdas": 250, "bonsai-net": 600}
    assert planned["rs-darts"].training == planned["pc-darts"].training  # so that they are compared
    assert planned["rs-bonsai"].training == planned["bonsai-net"].training
    assert planned["bonsai-net"].recipe["skeleton"] == {
        "channels": 36,
        "cells": "nnrnnrnn",
        "nodes": 4,
        "classifier": "pixels",
    }


def test_options_win_over_a_preset_and_results_say_so(dataset: Dataset, tmp_path: Path) -> None:
    choice = PresetChoice("paper", {"bonsai": {"target": 0.2}}, search_epochs=10, channels=8, cells=5)
    runs = {run.method: run for run in plan(choice, 20).runs(dataset)}
    result = runs["pc-darts"].planned(0)
    assert (result.search["epochs"], result.search["batch"], result.epochs) == (10, 256, 20)
    assert result.recipe["skeleton"] == {"channels": 8, "cells": 5}
    text = preset_text(result.preset, search_epochs=10, epochs=20)
    assert text.startswith("preset paper, 10 of 50 epochs of search, 20 of 600 epochs of training, changed from its ")
    assert "train.channels 36, train.cells 20" in text and text.endswith("without what it has for CIFAR only")
    assert not [name for name in runs["rs-darts"].planned(0).preset["changed"] if name.startswith("supernet.")]
    bonsai = runs["bonsai-net"].planned(0)
    assert (bonsai.search["cells"], bonsai.search["nodes"], bonsai.search["target"]) == ("nrnrn", 4, 0.2)
    file = tmp_path / "r.jsonl"
    append_result(file, replace(result, status="diverged"))
    (stored,) = read_results([file])
    assert stored.preset == result.preset and stored.setting == result.setting


def test_another_recipe_may_train_what_a_preset_finds_and_all_at_once(dataset: Dataset) -> None:
    recipe = replace(load_recipe("unseen"), batch=16)
    alike = plan(PresetChoice("paper", recipe=recipe, channels=4, cells=2), 1, together=True)
    alike.check(dataset)
    assert {run.recipe.batch for run in alike.runs(dataset)} == {16}
    with pytest.raises(InvalidOption, match="sets drop_path"):
        plan(PresetChoice("paper"), together=True).check(dataset)


def test_settings_that_were_added_later_leave_earlier_results_the_same() -> None:
    stored = next(result.search for result in shipped_results() if result.model == "bonsai-net")
    settings = BonsaiSettings.from_plain({name: value for name, value in stored.items() if name != "space"})
    assert {"space": stored["space"], **settings.identity()} == json.loads(json.dumps(stored))
    assert settings.plain()["classifier"] == "pooled"
