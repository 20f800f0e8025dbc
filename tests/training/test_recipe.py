"""Recipes: their published facts, their arithmetic, their files."""

from __future__ import annotations

import copy
import json
import math
import pickle
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nasbed.benchmarks import load
from nasbed.core.errors import BadFile, InvalidOption, UnknownName
from nasbed.training import RECIPES, Recipe, load_recipe, recipe_toml
from nasbed.training.recipe_files import recipe_from_toml
from support.examples import examples

TINY = Recipe(name="tiny", epochs=(1, 2), batch=32, learning_rate=0.1)


def test_nb101_is_the_published_configuration() -> None:
    """config.py and model_builder.py of google-research/nasbench: 0.1 for each of two shards."""
    nb101 = load_recipe("nb101")
    assert nb101.epochs == (4, 12, 36, 108) and nb101.batch == 256 and nb101.split == (40_000, 10_000)
    assert (nb101.optimizer, nb101.learning_rate, nb101.final_learning_rate) == ("rmsprop", 2 * 0.1, 0)
    assert (nb101.momentum, nb101.rmsprop_decay, nb101.rmsprop_epsilon) == (0.9, 0.9, 1.0)
    assert (nb101.weight_decay, nb101.crop_padding, nb101.flip) == (1e-4, 4, True)
    assert nb101.norm_momentum == pytest.approx(1 - 0.997) and nb101.weight_init == "tensorflow"
    with pytest.raises(InvalidOption, match="sets optimizer, norm_momentum, weight_init: train its networks alone"):
        nb101.check_population()


def test_recipe_of_the_embedded_table_is_still_the_one_that_trained_it() -> None:
    """Journals, checkpoints and tables that were written before a field was added keep their identity."""
    notes = load("nb101-mini-cifar10-16-v1.0").stored_rows()[0].about.notes
    stored, _ = json.JSONDecoder().raw_decode(notes[notes.index("{") :])
    assert stored["recipe"] == load_recipe("collect-nb101").settings()


def test_snb_darts_is_as_appendix_c6_says() -> None:
    darts = load_recipe("snb-darts")
    assert (darts.optimizer, darts.momentum, darts.learning_rate, darts.final_learning_rate) == (
        "sgd",
        0.9,
        0.025,
        1e-8,
    )
    assert (darts.cutout, darts.mixup, darts.auxiliary_weight, darts.drop_path) == (16, 0.2, 0.4, 0.2)
    assert (darts.epochs, darts.batch, darts.split) == ((100,), 96, (40_000, 10_000))
    assert darts.skeleton == {"channels": 32, "cells": 8}
    assert "C.6" in darts.source and "Not stated" in darts.source


def test_snb_fbnet_is_as_appendix_d2_says() -> None:
    fbnet = load_recipe("snb-fbnet")
    assert (fbnet.optimizer, fbnet.momentum, fbnet.batch, fbnet.learning_rate) == ("sgd", 0.9, 256, 0.025)
    assert (fbnet.weight_decay, fbnet.label_smoothing, fbnet.final_learning_rate) == (5e-4, 0.1, 0)
    assert fbnet.sharpness_radius == 0.05 and "D.2" in fbnet.source and "100 epochs" in fbnet.source


def test_collecting_recipes_are_for_populations_and_differ_where_their_data_does() -> None:
    darts, nb101, nb201, fbnet = (load_recipe(f"collect-{name}") for name in ("darts", "nb101", "nb201", "fbnet"))
    for recipe in (darts, nb101, nb201, fbnet):
        recipe.check_population()
        assert recipe.precision == "bfloat16" and recipe.nesterov
        assert (recipe.learning_rate, recipe.warm_up, recipe.weight_decay) == (0.1, 0.05, 5e-4)
    for recipe, epochs in ((nb101, 8), (nb201, 8), (fbnet, 16)):
        assert recipe.epochs[-1] * recipe.steps_per_epoch(40_000) == epochs * 100
    assert not nb201.flip and nb201.split is None, "digits and letters have no mirror images, and splits of their own"
    assert nb201.skeleton == {"channels": 16, "cells_per_stage": 1}
    assert (
        fbnet.flip and fbnet.split == nb101.split and fbnet.label_smoothing == load_recipe("snb-fbnet").label_smoothing
    )


def test_the_reference_is_the_papers_recipe_less_what_populations_do_not_have() -> None:
    reference, paper = load_recipe("reference-darts"), load_recipe("snb-darts")
    reference.check_population()
    changed = {item.name for item in fields(Recipe) if getattr(reference, item.name) != getattr(paper, item.name)}
    assert changed == {
        *("name", "source", "epochs", "skeleton", "precision"),
        *("mixup", "auxiliary_weight", "drop_path"),
    }
    assert reference.epochs == (30,) and reference.skeleton == {"channels": 16, "cells": 8}


@pytest.mark.parametrize("name", list(RECIPES))
def test_every_recipe_survives_a_file_a_copy_and_another_process(name: str) -> None:
    recipe = load_recipe(name)
    assert recipe.name == name and recipe.source
    assert recipe_from_toml(recipe_toml(recipe)) == recipe
    assert pickle.loads(pickle.dumps(recipe)) == copy.deepcopy(recipe) == replace(recipe) == recipe
    assert hash(replace(recipe)) == hash(recipe)


@given(
    first=st.floats(1e-6, 10),
    share=st.floats(0, 1),
    steps=st.integers(1, 400),
)
@examples(15)
def test_rate_falls_along_half_a_cosine_as_torch_has_it(first: float, share: float, steps: int) -> None:
    torch = pytest.importorskip("torch", reason="compares with torch")
    recipe = replace(TINY, learning_rate=first, final_learning_rate=first * share)
    weight = torch.zeros(1, requires_grad=True)
    optimizer = torch.optim.SGD([weight], lr=first)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps, eta_min=first * share)
    for step in range(steps):
        expected = first * share + first * (1 - share) * math.cos(math.pi * step / steps / 2) ** 2
        assert recipe.rate(step, steps) == pytest.approx(expected, rel=1e-9, abs=1e-12)
        assert recipe.rate(step, steps) == pytest.approx(schedule.get_last_lr()[0], rel=1e-6, abs=1e-9)
        optimizer.step()
        schedule.step()
    assert recipe.rate(steps, steps) == pytest.approx(first * share)


def test_budgets_and_steps_are_those_of_the_recipe() -> None:
    nb101 = load_recipe("nb101")
    assert nb101.budget(None) == 108 and nb101.budget(12) == 12
    assert nb101.steps_per_epoch(40_000) == 156  # 156.25 batches of 256
    assert replace(TINY, epoch_images=100).steps_per_epoch(1_000) == 3
    with pytest.raises(InvalidOption, match="budgets 4, 12, 36, 108 epochs, got 5"):
        nb101.budget(5)
    with pytest.raises(InvalidOption, match="batches of 256, got 100 images"):
        nb101.steps_per_epoch(100)


def test_dropped_paths_rise_as_in_darts() -> None:
    """Its training script: the probability times epoch over epochs, counted from 0."""
    darts = load_recipe("snb-darts")
    assert [darts.drop_path_in(epoch, 100) for epoch in (0, 50, 99)] == pytest.approx([0, 0.1, 0.198])


numbers = st.floats(0, 1, exclude_max=True)
plain = st.one_of(st.integers(), st.booleans(), st.floats(allow_nan=False, allow_infinity=False), st.text())


@given(
    recipe=st.builds(
        Recipe,
        name=st.text(min_size=1),
        epochs=st.lists(st.integers(1, 10**6), min_size=1, unique=True).map(sorted),
        batch=st.integers(1, 100),
        learning_rate=st.floats(0.1, 1e6),
        final_learning_rate=st.floats(0, 0.1),
        momentum=numbers | st.just(0),
        weight_decay=numbers,
        gradient_clip=st.none() | st.floats(1e-3, 10),
        mixup=numbers,
        flip=st.booleans(),
        optimizer=st.sampled_from(["sgd", "rmsprop"]),
        precision=st.sampled_from(["float32", "bfloat16"]),
        split=st.none() | st.tuples(st.integers(1, 100), st.integers(0, 100)),
        epoch_images=st.none() | st.integers(100, 1000),
        skeleton=st.dictionaries(st.text(), plain | st.lists(plain, max_size=3), max_size=3),
        source=st.text(),
    )
)
@examples(25)
def test_toml_reads_back_equal(recipe: Recipe) -> None:
    assert recipe_from_toml(recipe_toml(recipe)) == recipe


def test_load_recipe_reads_a_file(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text('name = "mine"\nepochs = [3]\nbatch = 8\nlearning_rate = 1\n[skeleton]\nstage_layers = [1, 21]\n')
    recipe = load_recipe(str(path))
    assert recipe == load_recipe(path) and recipe.epochs == (3,) and recipe.skeleton["stage_layers"] == (1, 21)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("name = ", "is not TOML"),
        ('name = "a"\nepochs = [1]\nbatch = 1\nlearning_rate = 1\nmomentom = 0.9', "did you mean momentum"),
        ('name = "a"\nepochs = [1]\nbatch = 1', "needs the field learning_rate"),
        ('name = "a"\nepochs = [1]\nbatch = "1"\nlearning_rate = 1', "batch of a recipe is a whole number, got '1'"),
        (
            'name = "a"\nepochs = 3\nbatch = 1\nlearning_rate = 1',
            "epochs of a recipe is a list of whole numbers, got 3",
        ),
        (
            'name = "a"\nepochs = [3]\nbatch = 1\nlearning_rate = true',
            "learning_rate of a recipe is a number, got True",
        ),
        ('name = "a"\nepochs = [3]\nbatch = 1\nlearning_rate = nan', "learning_rate of a recipe is above 0, got nan"),
    ],
)
def test_load_recipe_says_what_is_wrong_with_a_file(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(text)
    with pytest.raises((BadFile, InvalidOption), match=message) as error:
        load_recipe(path)
    assert str(path) in str(error.value) and "\n" not in str(error.value)


def test_load_recipe_knows_near_names_and_missing_files(tmp_path: Path) -> None:
    with pytest.raises(UnknownName, match=r"did you mean nb101.*FILE.toml"):
        load_recipe("nb10")
    with pytest.raises(BadFile, match="cannot be read"):
        load_recipe(tmp_path / "none.toml")
    (tmp_path / "bad.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(BadFile, match="UTF-8"):
        load_recipe(tmp_path / "bad.toml")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"epochs": ()}, "rising"),
        ({"epochs": (3, 3)}, "rising"),
        ({"batch": 0}, "1 or more, got 0"),
        ({"final_learning_rate": 1.0}, "0 to learning_rate"),
        ({"optimizer": "adam"}, "sgd or rmsprop, got 'adam'"),
        ({"momentum": 1}, "0 to below 1"),
        ({"mixup": -1}, "0 or more"),
        ({"nesterov": True, "momentum": 0.0}, "nesterov"),
        ({"split": (1, 2, 3)}, "how many images"),
        ({"skeleton": 3}, "a table of settings"),
        ({"name": ""}, "a word"),
        ({"epoch_images": 3}, "a batch of [0-9]+ or more, got 3"),
    ],
)
def test_recipe_refuses_what_makes_no_sense(change: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidOption, match=message):
        replace(TINY, **change)


def test_rate_rises_evenly_over_the_warm_up_and_then_is_the_cosine() -> None:
    recipe, plain = replace(TINY, warm_up=0.2), TINY
    rates = [recipe.rate(step, 100) / plain.rate(step, 100) for step in range(100)]
    assert rates[:20] == pytest.approx([(step + 1) / 20 for step in range(20)])
    assert rates[20:] == [1.0] * 80
