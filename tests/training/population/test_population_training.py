"""Training a population is training its networks alone."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from nasbed import datasets
from nasbed.core.architecture import Architecture
from nasbed.core.errors import InvalidOption
from nasbed.spaces import space
from nasbed.training import stepwise
from nasbed.training.images import TrainingImages
from nasbed.training.loop import train
from nasbed.training.outcome import Job
from nasbed.training.population import train_population
from nasbed.training.population.training import Population
from nasbed.training.recipe import Recipe

RECIPE = Recipe(
    name="quick",
    epochs=(1, 3),
    batch=128,
    learning_rate=0.05,
    warm_up=0.2,
    nesterov=True,
    weight_decay=1e-3,
    gradient_clip=2.0,
    label_smoothing=0.1,
    crop_padding=1,
    flip=True,
    cutout=2,
    epoch_images=256,
    skeleton={"channels": 6, "cells_per_stack": 1},
)


def cells(count: int) -> list[Architecture]:
    rng = np.random.default_rng(1)
    return [space("nb101").sample(rng) for _ in range(count)]


@pytest.fixture(autouse=True)
def one_thread() -> None:
    torch.set_num_threads(1)


def test_population_becomes_what_its_networks_become_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """The networks alone have their channels first, as populations do: another order of sums moves the loss by 2e-3 in
    these six steps."""
    monkeypatch.setattr(stepwise, "place_network", lambda network, device: network.to(device))
    digits = datasets.load("digits")
    jobs = [Job(cell, epochs, seed) for seed, (cell, epochs) in enumerate(zip(cells(3), (3, 1, 3), strict=True))]
    together = train_population(jobs, digits, RECIPE)
    for job, outcome in zip(jobs, together, strict=True):
        single = train(job.architecture, digits, RECIPE, seed=job.seed, epochs=job.epochs)
        assert outcome.status == single.status == "ok"
        assert outcome.train_loss == pytest.approx(single.train_loss, rel=1e-4)
        assert outcome.train_accuracy == pytest.approx(single.train_accuracy, abs=0.5)
        assert outcome.validation_accuracy == pytest.approx(single.validation_accuracy, abs=1.0)
        assert outcome.test_accuracy == pytest.approx(single.test_accuracy, abs=1.0)


def test_network_that_diverges_says_so_and_harms_no_other() -> None:
    digits = datasets.load("digits")
    recipe = replace(RECIPE, epochs=(1,))
    jobs = [Job(cell, 1, seed) for seed, cell in enumerate(cells(2))]
    population = Population(jobs, digits, recipe, TrainingImages(digits, recipe), torch.device("cpu"))
    population.executor.parameters[0] = 1e30  # type: ignore[attr-defined]
    diverged, ok = population.train(1, None)
    assert diverged.status == "diverged" and not diverged.values()
    assert "not a finite number" in diverged.reason
    (single,) = train_population(jobs[1:], digits, recipe)
    assert ok.train_loss == pytest.approx(single.train_loss, rel=1e-5)


def test_times_of_a_population_add_up_and_larger_networks_take_more_of_them() -> None:
    digits = datasets.load("digits")
    nb101 = space("nb101")
    small, large = nb101.parse("maxpool3x3:0/output:1"), nb101.parse("conv3x3:0/conv3x3:1/conv3x3:2/output:3")
    first, second = train_population([Job(small, 1, 0), Job(large, 1, 0)], digits, replace(RECIPE, epochs=(1,)))
    assert 0 < first.train_time_s < second.train_time_s


@pytest.mark.parametrize(
    "change",
    [{"optimizer": "rmsprop", "nesterov": False}, {"mixup": 0.2}, {"sharpness_radius": 0.1}, {"drop_path": 0.1}],
)
def test_recipe_that_no_population_can_follow_is_refused(change: dict[str, object]) -> None:
    with pytest.raises(InvalidOption, match="train its networks alone"):
        train_population([], datasets.load("digits"), replace(RECIPE, **change))  # type: ignore[arg-type]
