"""Trainings side by side end as each does alone: its losses and accuracies, its order, its checkpoints."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs torch")

from torch import Tensor, nn  # noqa: E402

from nasbed.core.errors import InvalidOption  # noqa: E402
from nasbed.datasets.dataset import Dataset, LabelledImages  # noqa: E402
from nasbed.training import EpochEnd, Recipe, TrainingOutcome, side_by_side, train_network  # noqa: E402
from nasbed.training.baselines import train_baseline, train_baselines  # noqa: E402
from nasbed.training.cuda_graphs import Recording, buffers_kept  # noqa: E402
from nasbed.training.images import TrainingImages, recipe_split  # noqa: E402
from nasbed.training.random_streams import initial_weights  # noqa: E402
from nasbed.training.side_by_side import check_side_by_side, train_side_by_side  # noqa: E402
from nasbed.training.stepwise import StepwiseTraining  # noqa: E402
from support.recordings import CpuGradientRecording  # noqa: E402

RECIPE = Recipe(
    name="short",
    epochs=(1, 2),
    batch=16,
    learning_rate=0.05,
    weight_decay=3e-4,
    gradient_clip=1.0,
    label_smoothing=0.1,
    crop_padding=1,
    flip=True,
)
TESTED = 40


def noise(images: int, *, classes: int, channels: int, side: int = 8) -> Dataset:
    """Noise that is brighter for higher labels; a quarter as many images to validate with as to train on."""
    chance = np.random.default_rng(classes)

    def part(count: int) -> LabelledImages:
        labels = np.arange(count, dtype=np.int64) % classes
        pixels = chance.normal(labels[:, None, None, None] / classes, 0.3, (count, channels, side, side))
        return LabelledImages(pixels.astype(np.float32), labels)

    names, half = tuple(map(str, range(classes))), (0.5,) * channels
    total = images + images // 4
    return Dataset(
        f"noise-{classes}", part(total), part(TESTED), names, half, half, f"{classes:016}", (images, images // 4)
    )


LONG, SHORT = noise(160, classes=3, channels=1), noise(96, classes=5, channels=2)
"""Ten and six steps an epoch."""


def network_for(dataset: Dataset) -> nn.Module:
    channels = dataset.shape[0]
    network = nn.Sequential(
        nn.Conv2d(channels, 8, 3, padding=1),
        nn.BatchNorm2d(8),
        nn.ReLU(),
        nn.Conv2d(8, 16, 3, 2, 1, bias=False),
        nn.BatchNorm2d(16),
        nn.ReLU(),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(16, len(dataset.classes)),
    )
    initial_weights(network, seed=1)
    return network


def trainings(
    datasets: Sequence[Dataset] = (LONG, SHORT),
    *,
    recipe: Recipe = RECIPE,
    device: str = "cpu",
    folder: Path | None = None,
    progress: Callable[[Dataset, EpochEnd], None] = lambda dataset, end: None,
) -> list[StepwiseTraining]:
    """Trainings from fresh weights, or from the checkpoints in a folder."""
    return [
        StepwiseTraining(
            network_for(dataset),
            dataset,
            recipe,
            TrainingImages(dataset, recipe, device),
            seed=3,
            checkpoint=None if folder is None else folder / dataset.name,
            progress=partial(progress, dataset),
        )
        for dataset in datasets
    ]


def outcomes(members: Sequence[StepwiseTraining]) -> dict[int, TrainingOutcome]:
    """By place, in the order in which they end, without their times."""
    return {place: replace(outcome, train_time_s=0.0) for place, outcome in train_side_by_side(members)}


def assert_same(own: TrainingOutcome, alone: TrainingOutcome, dataset: Dataset, *, rel: float = 1e-4) -> None:
    """Up to rounding: in the loss, and in one image of each part."""
    assert dataset.published is not None
    assert own.status == alone.status == "ok"
    assert own.train_loss == pytest.approx(alone.train_loss, rel=rel)
    for part, images in zip(("train", "validation", "test"), (*dataset.published, TESTED), strict=True):
        accuracies = [getattr(outcome, f"{part}_accuracy") for outcome in (own, alone)]
        assert accuracies[0] == pytest.approx(accuracies[1], abs=100.1 / images), part


def test_side_by_side_is_as_alone_and_the_shorter_training_ends_first() -> None:
    """Outcomes, and the weights and averages of the networks, also of that which ended before the other."""
    members = trainings()
    before = torch.get_rng_state()
    ends = dict(train_side_by_side(members))
    assert torch.equal(torch.get_rng_state(), before)
    assert list(ends) == [1, 0]
    for place, dataset in enumerate((LONG, SHORT)):
        network, own = network_for(dataset), ends[place]
        alone = train_network(network, dataset, RECIPE, seed=3)
        assert_same(own, alone, dataset)
        assert own.train_time_s > 0 and (own.train_accuracy or 0) > 1.5 * 100 / len(dataset.classes)
        values, expected = members[place].network.state_dict(), network.state_dict()
        for name in (name for name, value in expected.items() if value.is_floating_point()):
            torch.testing.assert_close(values[name], expected[name], rtol=1e-4, atol=1e-5)


class Killed(Exception):
    """Ends a training in the midst of it."""


@pytest.mark.parametrize(("name", "epoch"), [(SHORT.name, 1), (LONG.name, 1), (SHORT.name, 2)])
def test_side_by_side_resumes_from_checkpoints_to_the_bit(name: str, epoch: int, tmp_path: Path) -> None:
    """Killed at the end of an epoch: each member resumes at its own, or has ended."""

    def kill(dataset: Dataset, end: EpochEnd) -> None:
        if (dataset.name, end.done) == (name, epoch):
            raise Killed

    with pytest.raises(Killed):
        outcomes(trainings(folder=tmp_path, progress=kill))
    resumed: list[tuple[str, int]] = []
    members = trainings(folder=tmp_path, progress=lambda dataset, end: resumed.append((dataset.name, end.done)))
    assert outcomes(members) == outcomes(trainings())
    expected = {(dataset.name, done) for dataset in (LONG, SHORT) for done in (1, 2)}
    before = {(SHORT.name, 1), (LONG.name, 1)} if (name, epoch) != (SHORT.name, 1) else {(SHORT.name, 1)}
    assert sorted(resumed) == sorted(expected - before - {(name, epoch)})


def test_checkpoint_of_side_by_side_is_continued_alone(tmp_path: Path) -> None:
    def kill(dataset: Dataset, end: EpochEnd) -> None:
        if dataset is LONG:
            raise Killed

    with pytest.raises(Killed):
        outcomes(trainings(folder=tmp_path, progress=kill))
    ends: list[EpochEnd] = []
    checkpoint = tmp_path / LONG.name
    continued = train_network(network_for(LONG), LONG, RECIPE, seed=3, checkpoint=checkpoint, progress=ends.append)
    assert [end.done for end in ends] == [2]
    assert_same(continued, train_network(network_for(LONG), LONG, RECIPE, seed=3), LONG)


@pytest.mark.parametrize("first_batch", [True, False])
def test_diverged_member_ends_and_leaves_the_others_as_they_are(first_batch: bool) -> None:
    pixels = LONG.train.images.copy()
    pixels[recipe_split(LONG, RECIPE).train[0] if first_batch else 100] = np.nan
    spoilt = replace(LONG, train=LabelledImages(pixels, LONG.train.labels))
    ends = outcomes(trainings([spoilt, SHORT]))
    assert list(ends) == [0, 1]
    assert ends[0].status == "diverged" and ends[0].reason == "the loss of epoch 1 is not a finite number"
    assert ends[1] == outcomes(trainings())[1]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"mixup": 0.2}, "the recipe short sets mixup: train its networks alone"),
        ({"sharpness_radius": 0.05}, "the recipe short sets sharpness_radius: train"),
        ({"optimizer": "rmsprop"}, "the recipe short sets optimizer: train"),
        ({"drop_path": 0.2, "norm_momentum": 0.1}, "the recipe short sets drop_path, norm_momentum: train"),
        ({"precision": "bfloat16"}, "in float32, the recipe short computes in bfloat16; train them alone"),
    ],
)
def test_side_by_side_refuses_recipes_that_need_networks_alone(change: dict[str, Any], message: str) -> None:
    recipe = replace(RECIPE, **change)
    with pytest.raises(InvalidOption, match=message) as error:
        check_side_by_side(recipe)
    assert "\n" not in str(error.value)
    with pytest.raises(InvalidOption, match=message):
        list(train_baselines("resnet18", [LONG, SHORT], recipe))


def test_side_by_side_refuses_several_recipes() -> None:
    members = trainings()
    members[1].recipe = replace(RECIPE, weight_decay=0.1)
    with pytest.raises(InvalidOption, match="by one recipe, these have several; train them alone"):
        outcomes(members)


@pytest.mark.thorough
def test_train_baselines_trains_each_as_train_baseline_does(tmp_path: Path) -> None:
    recipe = replace(RECIPE, epochs=(1,), learning_rate=0.005)
    reports: list[tuple[int, int, float | None]] = []
    runs = dict(
        train_baselines(
            "resnet18",
            [LONG, SHORT],
            recipe,
            checkpoints=[tmp_path / "long", None],
            progress=lambda place, end: reports.append((place, end.done, end.validation_accuracy)),
            seed=3,
        )
    )
    assert list(runs) == [1, 0] and (tmp_path / "long").is_file()
    assert reports == [(place, 1, runs[place].validated[1]) for place in (1, 0)]
    assert runs[0].parameters == 11_689_512 - (1000 - 3) * 513 - (3 - 1) * 64 * 49  # torchvision's, see test_baselines
    for place, dataset in enumerate((LONG, SHORT)):
        alone = train_baseline("resnet18", dataset, recipe, seed=3)
        assert runs[place].parameters == alone.parameters
        assert_same(runs[place].outcome, alone.outcome, dataset, rel=1e-3)


def test_training_by_a_recording_of_all_equals_steps_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    expected = outcomes(trainings())
    monkeypatch.setattr(side_by_side, "is_captured", lambda *_: True)
    monkeypatch.setattr(side_by_side, "Recording", CpuGradientRecording)
    CpuGradientRecording.created = CpuGradientRecording.closed = 0
    members = trainings()
    assert outcomes(members) == expected
    assert CpuGradientRecording.created == CpuGradientRecording.closed == 1
    assert all(weight.grad is None for member in members for weight in member.network.parameters())


def test_networks_that_cannot_be_recorded_are_trained_step_by_step(monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(network: nn.Module, loss: Callable[..., Tensor], inputs: Sequence[Tensor]) -> None:
        with buffers_kept(network):
            CpuGradientRecording(network, loss, inputs)(*inputs)
            raise RuntimeError("operation not permitted when stream is capturing")

    expected = outcomes(trainings())
    monkeypatch.setattr(side_by_side, "is_captured", lambda *_: True)
    monkeypatch.setattr(side_by_side, "Recording", failing)
    assert outcomes(trainings()) == expected


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
def test_recording_of_all_trains_like_eager_steps_on_a_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    recordings: list[Recording] = []

    class CountedRecording(Recording):
        def __init__(self, *arguments: Any) -> None:
            super().__init__(*arguments)
            recordings.append(self)

    monkeypatch.setattr(side_by_side, "Recording", CountedRecording)
    recorded = outcomes(trainings(device="cuda"))
    assert len(recordings) == 1
    monkeypatch.setattr(side_by_side, "is_captured", lambda *_: False)
    eager = outcomes(trainings(device="cuda"))
    for place, dataset in enumerate((LONG, SHORT)):
        assert_same(recorded[place], eager[place], dataset, rel=1e-3)
        alone = train_network(network_for(dataset), dataset, RECIPE, seed=3, device="cuda")
        assert recorded[place].train_loss == pytest.approx(alone.train_loss, rel=0.02)  # convolutions alone are TF32
