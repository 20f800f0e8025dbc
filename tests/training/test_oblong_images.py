"""Training on images with odd sides, and on such that are no squares: the shapes of the unseen datasets."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("torch", reason="needs torch")

import nasbed
from nasbed.datasets.dataset import Dataset, LabelledImages
from nasbed.training import Recipe, train
from nasbed.training.devices import threads_used
from nasbed.training.outcome import Job
from nasbed.training.population.training import train_population

SHAPES = [(1, 27, 18), (12, 8, 8), (1, 24, 24), (3, 28, 28), (1, 16, 32)]


def noise(shape: tuple[int, int, int]) -> Dataset:
    rng = np.random.default_rng(0)
    labels = np.arange(40, dtype=np.int64) % 2
    images = (rng.integers(0, 128, (40, *shape)) + 60 * labels[:, None, None, None]).astype(np.uint8)
    half = (0.5,) * shape[0]
    return Dataset(
        "noise",
        LabelledImages(images, labels),
        LabelledImages(images[:8], labels[:8]),
        ("a", "b"),
        half,
        half,
        "0" * 16,
    )


DARTS, NB201 = ("darts", {"channels": 4, "cells": 3}), ("nb201", {"channels": 4, "cells_per_stage": 1})


@pytest.mark.parametrize(
    ("space", "skeleton", "shape"),
    [
        *((*DARTS, shape) for shape in SHAPES[:2]),
        *(pytest.param(*DARTS, shape, marks=pytest.mark.thorough) for shape in SHAPES[2:]),
        *((*NB201, shape) for shape in SHAPES),
    ],
)
def test_architecture_is_trained_alone_and_in_a_population_alike(
    space: str, skeleton: dict[str, int], shape: tuple[int, int, int]
) -> None:
    recipe = Recipe(
        name="oblong", epochs=(1,), batch=8, learning_rate=0.05, crop_padding=1, flip=True, skeleton=skeleton
    )
    arch, dataset = nasbed.space(space).sample(np.random.default_rng(1)), noise(shape)
    with threads_used(1):
        single = train(arch, dataset, recipe, seed=2)
        (together,) = train_population([Job(arch, seed=2, epochs=1)], dataset, recipe)
    assert single.status == together.status == "ok"
    assert together.train_loss == pytest.approx(single.train_loss, rel=1e-3)
