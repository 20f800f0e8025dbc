"""The recipe of the paper on unseen datasets, and the training of baselines by it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch", reason="needs torch")

import torch

from nasbed.datasets import load
from nasbed.datasets.dataset import Dataset, LabelledImages
from nasbed.networks.baselines import BASELINES
from nasbed.training import load_recipe
from nasbed.training.baselines import seeded_baseline, train_baseline
from nasbed.training.outcome import EpochEnd


def tiny(*, classes: int, channels_in: int) -> Any:
    return torch.nn.Sequential(
        torch.nn.Conv2d(channels_in, 8, 3, padding=1),
        torch.nn.BatchNorm2d(8),
        torch.nn.ReLU(),
        torch.nn.Dropout(0.1),
        torch.nn.AdaptiveAvgPool2d(2),
        torch.nn.Flatten(),
        torch.nn.Linear(32, classes),
    )


@pytest.fixture(autouse=True)
def _tiny_baseline(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(BASELINES._entries, "tiny", tiny)


def test_unseen_recipe_is_as_section_5_1_says() -> None:
    recipe = load_recipe("unseen")
    assert (recipe.optimizer, recipe.learning_rate, recipe.momentum, recipe.weight_decay) == ("sgd", 0.01, 0.9, 3e-4)
    assert recipe.budget(None) == 64 and {1, 4, 16} <= set(recipe.epochs)
    assert recipe.rate(64 * 700, 64 * 700) == 0 and recipe.rate(0, 64 * 700) == 0.01
    assert not (recipe.nesterov or recipe.flip or recipe.crop_padding or recipe.cutout or recipe.mixup)
    assert "Not stated" in recipe.source and "Not followed" in recipe.source


def test_rate_is_within_an_epoch_of_the_papers_schedule() -> None:
    """The published rate is constant in an epoch; ours falls to the published one of the next."""
    recipe = load_recipe("unseen")
    optimizer = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=0.01)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=64)
    for epoch in range(64):
        assert recipe.rate(epoch * 700, 64 * 700) == pytest.approx(schedule.get_last_lr()[0], abs=1e-9)
        optimizer.step()
        schedule.step()
        assert recipe.rate(epoch * 700 + 699, 64 * 700) >= schedule.get_last_lr()[0] - 1e-9


def test_train_baseline_validates_every_epoch_and_repeats_itself() -> None:
    torch.default_generator.manual_seed(0)
    before = torch.default_generator.get_state()
    runs = [train_baseline("tiny", load("digits"), load_recipe("unseen"), seed=2, epochs=2) for _ in range(2)]
    assert torch.equal(before, torch.default_generator.get_state())
    first, repeated = runs
    assert list(first.validated) == [1, 2] and first.validated[2] == first.outcome.validation_accuracy
    assert first.validated == repeated.validated and first.outcome.test_accuracy == repeated.outcome.test_accuracy
    assert first.parameters == 8 * 9 + 8 + 16 + 32 * 10 + 10


def test_train_baseline_resumes_to_the_same_result(tmp_path: Path) -> None:
    digits, recipe, path = load("digits"), load_recipe("unseen"), tmp_path / "c.pt"
    uninterrupted = train_baseline("tiny", digits, recipe, epochs=2)

    def stop(end: EpochEnd) -> None:
        assert end.validation_accuracy == uninterrupted.validated[end.done]
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train_baseline("tiny", digits, recipe, epochs=2, checkpoint=path, progress=stop)
    resumed = train_baseline("tiny", digits, recipe, epochs=2, checkpoint=path)
    assert list(resumed.validated) == [1, 2] and resumed.validated == uninterrupted.validated
    assert resumed.outcome.test_accuracy == uninterrupted.outcome.test_accuracy


def test_seeded_baseline_differs_with_the_seed_alone() -> None:
    digits = load("digits")
    weights = [next(seeded_baseline("tiny", digits, seed).parameters()) for seed in (0, 0, 1)]
    assert torch.equal(weights[0], weights[1]) and not torch.equal(weights[0], weights[2])


def test_resnet18_learns_what_a_pixel_tells_from_a_board_of_twelve_channels() -> None:
    """A rule that is to be read off: which of two channels is set."""
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 2, 160)
    images = np.zeros((160, 12, 8, 8), np.uint8)
    images[np.arange(160), labels] = 255
    board = Dataset(
        "board",
        LabelledImages(images[:128], labels[:128]),
        LabelledImages(images[128:], labels[128:]),
        ("0", "1"),
        (0.04,) * 12,
        (0.2,) * 12,
        "x",
        (96, 32),
    )
    recipe = replace(load_recipe("unseen"), batch=16)
    run = train_baseline("resnet18", board, recipe, epochs=1)
    assert run.outcome.status == "ok" and run.outcome.train_loss is not None and run.outcome.train_loss < 0.7
