"""A population resumes where its training was interrupted."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from nasbed import datasets
from nasbed.core.errors import BadFile, InvalidOption
from nasbed.spaces import space
from nasbed.training.outcome import Job, TrainingOutcome
from nasbed.training.population import train_population
from nasbed.training.population.checkpoint import POPULATION
from nasbed.training.recipe import Recipe

RECIPE = Recipe(
    name="quick",
    epochs=(1, 3),
    batch=128,
    learning_rate=0.05,
    weight_decay=1e-3,
    crop_padding=1,
    flip=True,
    epoch_images=256,
    skeleton={"channels": 4, "cells_per_stage": 1},
)
DIGITS = datasets.load("digits")


def jobs(seed: int = 0, epochs: int = 3) -> list[Job]:
    rng = np.random.default_rng(1)
    return [Job(space("nb201").sample(rng), epochs, seed + number) for number in range(2)]


def figures(outcomes: list[TrainingOutcome]) -> list[TrainingOutcome]:
    return [replace(outcome, train_time_s=0.0) for outcome in outcomes]


def interrupted(path: Path, after: int, **options: Any) -> None:
    def progress(epoch: int, *_: object) -> None:
        if epoch == after:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train_population(jobs(), DIGITS, RECIPE, checkpoint=path, progress=progress, **options)


@pytest.fixture(autouse=True)
def one_thread() -> None:
    torch.set_num_threads(1)


@pytest.mark.parametrize(("after", "learning_curve"), [(1, False), (2, True), (3, False)])
def test_interrupted_population_ends_as_an_uninterrupted_one(tmp_path: Path, after: int, learning_curve: bool) -> None:
    path, epochs = tmp_path / "population.ckpt", list[int]()
    whole = train_population(jobs(), DIGITS, RECIPE, learning_curve=learning_curve)
    interrupted(path, after, learning_curve=learning_curve)
    resumed = train_population(
        jobs(),
        DIGITS,
        RECIPE,
        checkpoint=path,
        learning_curve=learning_curve,
        progress=lambda epoch, *_: epochs.append(epoch),
    )
    assert figures(resumed) == figures(whole) and epochs == list(range(after + 1, 4))
    assert all(outcome.train_time_s > 0 for outcome in resumed)
    assert whole[0].train_loss != whole[1].train_loss


@pytest.mark.parametrize(
    ("changed", "fact"),
    [
        ({"jobs": jobs(seed=5)}, "seed"),
        ({"jobs": jobs()[:1]}, "network"),
        ({"jobs": jobs(epochs=1)}, "epochs"),
        ({"recipe": replace(RECIPE, weight_decay=0.0)}, "the recipe's weight_decay"),
        ({"learning_curve": True}, "learning curve"),
    ],
)
def test_checkpoint_of_another_population_is_refused(tmp_path: Path, changed: dict[str, Any], fact: str) -> None:
    path = tmp_path / "population.ckpt"
    interrupted(path, 1)
    arguments: dict[str, Any] = {"jobs": jobs(), "dataset": DIGITS, "recipe": RECIPE, "checkpoint": path} | changed
    with pytest.raises(InvalidOption, match=f"checkpoint of a population with {fact} "):
        train_population(**arguments)


def test_damaged_checkpoint_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "population.ckpt"
    interrupted(path, 1)
    content = bytearray(path.read_bytes())
    content[-20] ^= 1
    path.write_bytes(content)
    with pytest.raises(BadFile, match="is damaged"):
        train_population(jobs(), DIGITS, RECIPE, checkpoint=path)


def test_checkpoint_with_numbers_laid_out_otherwise_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "population.ckpt"
    interrupted(path, 1)
    content = POPULATION.content(path)
    identity = json.loads(content.pop("identity"))
    content["state"] = [tensor.flatten()[:-1] if tensor.dim() else tensor for tensor in content["state"]]
    POPULATION.write(path, identity, content)
    with pytest.raises(InvalidOption, match="on another device"):
        train_population(jobs(), DIGITS, RECIPE, checkpoint=path)


def test_checkpoint_without_its_numbers_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "population.ckpt"
    interrupted(path, 1)
    content = POPULATION.content(path)
    POPULATION.write(path, json.loads(content["identity"]), {"epochs": 1, "seconds": 1.0, "curve": []})
    with pytest.raises(BadFile, match=r"is damaged: .*state"):
        train_population(jobs(), DIGITS, RECIPE, checkpoint=path)


def test_networks_of_several_lengths_share_no_checkpoint(tmp_path: Path) -> None:
    uneven = [*jobs(), *jobs(epochs=1)]
    with pytest.raises(InvalidOption, match="as many epochs"):
        train_population(uneven, DIGITS, RECIPE, checkpoint=tmp_path / "population.ckpt")
