"""A new trainable space is one file for the space, one for its network and two registry lines: with these alone it is
conformant, built, trained alone and in a population, collected, fitted and validated."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nasbed import load
from nasbed.core.registry import Registry
from nasbed.spaces import SPACES, SearchSpace, space
from nasbed.testing import SpaceConformance
from support.commands import run_command
from support.plugins import install_plugin
from support.toy_plugin.space import Toy

pytest.importorskip("torch", reason="needs the extra torch")

from nasbed import datasets
from nasbed.networks import NETWORKS, build
from nasbed.networks.summary import summary
from nasbed.training import Job, Recipe, recipe_toml, train, train_population

RECIPE = Recipe(
    name="toy", epochs=(1,), batch=64, learning_rate=0.1, epoch_images=128, skeleton={"channels": 4, "cells": 1}
)
REGISTERED: dict[Registry[Any], str] = {
    SPACES: "toy = support.toy_plugin.space:Toy",
    NETWORKS: "toy = support.toy_plugin.network:network",
}
CAMPAIGN = """
[campaign]
name = "toy/digits"
space = "toy"
trials = 40
round = 20
[trainer]
kind = "population"
dataset = "digits"
recipe = "toy.toml"
device = "cpu"
population = 20
[shares]
rs = 0.6
re = 0.2
poor = 0.2
"""


@pytest.fixture
def plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The plug-in installed."""
    install_plugin(tmp_path, monkeypatch, REGISTERED)


class TestToySpace(SpaceConformance):
    def make_space(self) -> SearchSpace:
        return Toy()


def test_network_of_a_new_space_has_the_parameters_that_the_space_counts(plugin: None) -> None:
    toy = space("toy")
    skeleton = toy.make_skeleton({"channels": 6})
    archs = list(toy.enumerate())[::9]
    built = [summary(build(arch, skeleton=skeleton)).parameters for arch in archs]
    assert built == toy.costs(archs, skeleton)[:, 0].tolist()


def test_population_of_a_new_space_becomes_what_its_networks_become_alone(plugin: None) -> None:
    digits, rng = datasets.load("digits"), np.random.default_rng(0)
    jobs = [Job(space("toy").sample(rng), 1, seed) for seed in range(4)]
    together = train_population(jobs, digits, RECIPE)
    for job, member in zip(jobs, together, strict=True):
        single = train(job.architecture, digits, RECIPE, seed=job.seed, epochs=job.epochs)
        assert member.status == single.status == "ok"
        assert member.train_loss == pytest.approx(single.train_loss, rel=1e-4)


def test_new_space_is_collected_fitted_and_validated(plugin: None, tmp_path: Path) -> None:
    (tmp_path / "toy.toml").write_text(recipe_toml(RECIPE))
    (tmp_path / "campaign.toml").write_text(CAMPAIGN)

    def nasbed(*words: str) -> str:
        completed = run_command(*words, cwd=tmp_path)
        assert completed.returncode == 0, completed.stderr
        return completed.stdout

    nasbed("collect", "campaign.toml", "--engine", "serial")
    nasbed("collect", "export", "campaign.sqlite", "--out", "table")
    nasbed("fit", "table", "--model", "rf", "--ensemble", "2", "--processes", "1", "--out", "toy.snb")
    assert "toy" in nasbed("query", "toy.snb", "conv_3x3/skip_connect/none")
    assert load(f"{tmp_path / 'table'}:full").space.size == 3**3
    parts = "fits,free,depth"
    nasbed("validate", "table", "--models", "rf", "--parts", parts, "--processes", "1", "--format", "svg", "--out", "v")
    numbers = json.loads((tmp_path / "v" / "numbers.json").read_text())
    assert numbers["space"] == "toy" and not numbers["left_out"]
    assert numbers["fits"] and numbers["free"] and numbers["depth"]
