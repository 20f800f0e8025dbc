"""Campaigns and tables with the times of a calibration: what was measured is kept, and journals agree."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from nasbed.core.errors import InvalidOption
from nasbed.core.execution import SerialEngine
from nasbed.core.home import table_folder
from nasbed.experiments.campaign import Campaign, Journal, PopulationTrainer, collect, export_journals
from nasbed.experiments.release import ReleasePlan, TablePlan, release
from nasbed.results import Results
from nasbed.results.rows import Rows, concatenate
from nasbed.training.recipe import Recipe

pytest.importorskip("torch", reason="needs the extra torch")

RECIPE = Recipe(
    "tiny",
    epochs=(1,),
    batch=128,
    learning_rate=0.1,
    epoch_images=128,
    skeleton={"channels": 2, "cells_per_stage": 1},
)
PLAN = Campaign("timed", seed=0, trials=4, shares={"rs": 1.0}, round=2)


def trainer(calibration: Path | None = None, population: int = 2) -> PopulationTrainer:
    return PopulationTrainer("nb201", "digits", RECIPE, population=population, device="cpu", calibration=calibration)


def rows_of(results: Results) -> Rows:
    return concatenate(list(results.batches()))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A journal without a calibration, a calibration, and a journal with it."""
    import torch

    from nasbed import datasets
    from nasbed.training.population import calibrate, calibrating

    torch.set_num_threads(1)
    folder = tmp_path_factory.mktemp("timed")
    collect(PLAN, trainer(), folder / "shares.sqlite", engine=SerialEngine())
    with Journal.reading(folder / "shares.sqlite") as journal:
        cells = [finished.trial.architecture for finished in journal.finished()]
    digits = datasets.load("digits")
    device = torch.device("cpu")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(calibrating, "PASSES", 1)
        calibration = calibrate(
            cells, RECIPE, classes=10, shape=digits.shape, device=device, population=2, dataset="digits"
        )
    calibration.save(folder / "cpu.json")
    collect(PLAN, trainer(folder / "cpu.json"), folder / "calibrated.sqlite", engine=SerialEngine())
    return folder


def test_tables_of_two_campaigns_agree_once_they_have_a_calibration(folder: Path, tmp_path: Path) -> None:
    before = rows_of(export_journals([folder / "shares.sqlite"], tmp_path / "before"))
    retimed = export_journals([folder / "shares.sqlite"], tmp_path / "again", calibration=folder / "cpu.json")
    collected = export_journals([folder / "calibrated.sqlite"], tmp_path / "collected")
    again, other = rows_of(retimed), rows_of(collected)
    np.testing.assert_allclose(again.train_time_s, other.train_time_s, rtol=1e-12)
    np.testing.assert_array_equal(again.values["measured_time_s"], before.train_time_s)
    assert (other.values["measured_time_s"] > 0).all() and "measured_time_s" not in before.values
    assert "train_time_s is what a network costs on cpu in populations of 2" in retimed.about.notes
    np.testing.assert_array_equal(again.values["validation_accuracy"], before.values["validation_accuracy"])


def test_journals_with_and_without_a_calibration_are_one_table_only_with_a_new_one(
    folder: Path, tmp_path: Path
) -> None:
    journals = [folder / "shares.sqlite", folder / "calibrated.sqlite"]
    with pytest.raises(InvalidOption, match="have one trainer"):
        export_journals(journals, tmp_path / "both")
    both = export_journals(journals, tmp_path / "both", calibration=folder / "cpu.json")
    assert both.manifest.rows == 4  # the same four trials, from the first


def test_resuming_needs_the_same_calibration(folder: Path) -> None:
    with pytest.raises(InvalidOption, match="calibration"):
        collect(PLAN, trainer(), folder / "calibrated.sqlite", engine=SerialEngine())


def test_calibration_of_other_networks_is_refused(folder: Path, tmp_path: Path) -> None:
    from dataclasses import replace

    from nasbed.training.population import CostCalibration

    calibration = CostCalibration.load(folder / "cpu.json")
    known = dict(calibration.seconds)
    del known[next(kind for kind in known if kind.startswith("Conv"))]
    replace(calibration, seconds=known).save(tmp_path / "partial.json")
    with pytest.raises(InvalidOption, match=r"lacks 1 kinds of launches .* such as Conv"):
        export_journals([folder / "shares.sqlite"], tmp_path / "partial", calibration=tmp_path / "partial.json")
    replace(calibration, dataset="cifar10").save(tmp_path / "cifar10.json")
    with pytest.raises(InvalidOption, match="is for cifar10, the journal has digits"):
        export_journals([folder / "shares.sqlite"], tmp_path / "cifar10", calibration=tmp_path / "cifar10.json")
    replace(calibration, setting=replace(calibration.setting, space="nb101")).save(tmp_path / "nb101.json")
    with pytest.raises(InvalidOption, match="one space, got 'nb101' for 'nb201'"):
        export_journals([folder / "shares.sqlite"], tmp_path / "nb101", calibration=tmp_path / "nb101.json")
    assert not any((tmp_path / name).exists() for name in ("partial", "cifar10", "nb101"))
    assert json.loads((folder / "cpu.json").read_text())["population"] == 2


def test_released_table_has_the_times_of_its_calibration(folder: Path, tmp_path: Path) -> None:
    table = TablePlan("timed", ("shares.sqlite",), calibration="cpu.json")
    release(ReleasePlan("1.0", (table,)), folder, tmp_path / "home")
    released = rows_of(Results.open(table_folder("timed", tmp_path / "home")))
    exported = export_journals([folder / "shares.sqlite"], tmp_path / "table", calibration=folder / "cpu.json")
    np.testing.assert_array_equal(released.train_time_s, rows_of(exported).train_time_s)
