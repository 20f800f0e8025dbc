"""Costs of networks: sums over launches that no company changes, in closed form where the calibration is made up."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from populations import SKELETONS, networks, programs

from nasbed import datasets
from nasbed.core.architecture import Architecture
from nasbed.core.errors import BadFile, InvalidOption
from nasbed.datasets.dataset import Dataset, LabelledImages
from nasbed.spaces import space
from nasbed.training.outcome import Job
from nasbed.training.population import CostCalibration, calibrate, calibrating, train_population
from nasbed.training.population.calibration import CostSetting
from nasbed.training.population.launches import PopulationLayout
from nasbed.training.population.preparing import PreparationTarget, target_program
from nasbed.training.population.program import Conv, NetworkProgram
from nasbed.training.population.work import DRAW, UPDATE, layout_work, works
from nasbed.training.recipe import Recipe

RECIPE = Recipe(
    name="quick",
    epochs=(1, 3),
    batch=16,
    learning_rate=0.05,
    epoch_images=32,
    skeleton={"channels": 4, "cells_per_stage": 1},
)
CELLS = [Architecture("nb201", code) for code in ((3, 3, 3, 3, 3, 3), (2, 1, 0, 4, 2, 1), (0, 1, 1, 0, 4, 1))]
CPU = torch.device("cpu")


@pytest.fixture(autouse=True)
def one_thread() -> None:
    torch.set_num_threads(1)


@pytest.fixture(scope="module")
def digits() -> Dataset:
    """Few of them."""
    whole = datasets.load("digits")
    train, test = (LabelledImages(part.images[:40], part.labels[:40]) for part in (whole.train, whole.test))
    return replace(whole, train=train, test=test)


def program(cell: Architecture, digits: Dataset) -> NetworkProgram:
    return target_program(cell, PreparationTarget.of(digits, RECIPE, CPU))


def made_calibration(digits: Dataset, cells: Sequence[Architecture], **seconds: float) -> CostCalibration:
    """One that knows every kind of launch of these cells: each takes no time, but for those that are named."""
    kinds = [kind for work in works([program(cell, digits) for cell in cells], lanes=None, batch=16, value_bytes=4)
             for kind in work]  # fmt: skip
    prices = {kind: next((s for name, s in seconds.items() if kind.startswith(name)), 0.0) for kind in kinds}
    setting = CostSetting.of("nb201", RECIPE, classes=10, shape=digits.shape)
    return CostCalibration(setting, "made up", None, 2, prices, scale=0.5)


@pytest.mark.parametrize("name", ["nb201", "nb101", "darts"])
def test_work_of_a_network_is_the_same_in_any_company(name: str) -> None:
    side = SKELETONS[name][1]
    traced = programs(networks(name, 4), side)
    together = PopulationLayout(traced, 8)
    in_company = layout_work(together)
    alone = works(traced, batch=8, value_bytes=2, lanes=together.lanes)
    assert in_company == alone
    units = sum(sum(work.values()) for work in in_company)
    shifted = PopulationLayout([*traced[2:], *traced[:2]], 8)
    assert sum(sum(work.values()) for work in layout_work(shifted)) == units


def test_cost_is_the_closed_form_of_a_made_calibration(digits: Dataset) -> None:
    calibration = made_calibration(digits, CELLS, Conv=1e-3, update=2e-9, draw=1e-2)
    for cell in CELLS:
        traced = program(cell, digits)
        convolutions = sum(isinstance(operation, Conv) for operation in traced.operations)
        (work,) = calibration.works([traced])
        assert work[DRAW] == 1 and work[UPDATE] == traced.parameters
        expected = 0.5 * (1e-3 * convolutions + 2e-9 * traced.parameters + 1e-2)
        assert calibration.cost(work) == pytest.approx(expected, rel=1e-12)
    assert calibration.steps(RECIPE, 3) == 6  # 32 images in batches of 16, three times


def test_two_populations_agree_on_the_time_of_an_architecture(digits: Dataset) -> None:
    calibration = made_calibration(digits, CELLS, Conv=1e-3, update=2e-9, Combine=1e-5, Norm=1e-6)
    first = train_population([Job(cell, 1, 0) for cell in CELLS[:2]], digits, RECIPE, calibration=calibration)
    second = train_population([Job(cell, 1, 5) for cell in CELLS[::-1]], digits, RECIPE, calibration=calibration)
    assert [outcome.train_time_s for outcome in first] == [outcome.train_time_s for outcome in second[:0:-1]]
    assert first[0].train_time_s > first[1].train_time_s > 0  # six convolutions of 3x3 beside one of 1x1
    assert all(outcome.measured_time_s is not None and outcome.measured_time_s > 0 for outcome in [*first, *second])
    (tripled,) = train_population([Job(CELLS[0], 3, 0)], digits, RECIPE, calibration=calibration)
    assert tripled.train_time_s == pytest.approx(3 * first[0].train_time_s, rel=1e-12)


def test_time_of_a_network_with_an_unmeasured_launch_is_missing(digits: Dataset) -> None:
    calibration = made_calibration(digits, CELLS[2:], Conv=1e-3)
    (outcome,) = train_population([Job(CELLS[0], 1, 0)], digits, RECIPE, calibration=calibration)
    assert math.isnan(outcome.train_time_s) and outcome.status == "ok" and outcome.measured_time_s is not None


def test_costs_of_the_measured_populations_add_up_to_their_steps(
    digits: Dataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(calibrating, "PASSES", 1)
    rng = np.random.default_rng(0)
    cells = [space("nb201").sample(rng) for _ in range(4)]
    measured = calibrate(cells, RECIPE, classes=10, shape=digits.shape, device=CPU, population=2)
    work = measured.works([program(cell, digits) for cell in cells])
    total = sum(measured.cost(own) for own in work)
    assert total == pytest.approx(sum(step for step, _ in measured.step_s), rel=1e-9)
    assert all(value > 0 for value in measured.seconds.values())
    measured.save(tmp_path / "cpu.json")
    again = CostCalibration.load(tmp_path / "cpu.json")
    assert again == measured and again.sha256 == measured.sha256
    (tmp_path / "cpu.json").write_text((tmp_path / "cpu.json").read_text().replace('"scale": ', '"scale": 1'))
    with pytest.raises(BadFile, match="was changed after it was written"):
        CostCalibration.load(tmp_path / "cpu.json")


def test_calibration_is_refused_for_other_trainings(digits: Dataset) -> None:
    calibration = made_calibration(digits, CELLS, Conv=1e-3)
    with pytest.raises(InvalidOption, match="one batch, got 16 for 8"):
        train_population([Job(CELLS[0], 1, 0)], digits, replace(RECIPE, batch=8), calibration=calibration)
    whole = replace(RECIPE, epoch_images=None)
    with pytest.raises(InvalidOption, match="trains on all images, and the calibration does not say how many"):
        calibration.steps(whole, 1)
    assert replace(calibration, train_images=160).steps(whole, 2) == 20
    with pytest.raises(InvalidOption, match="at least one population, got 1 architectures for populations of 2"):
        calibrate(CELLS[:1], RECIPE, classes=10, shape=digits.shape, device=CPU, population=2)
