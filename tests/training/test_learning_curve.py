"""Learning curves: what they hold, that measuring them changes no training, and that they resume."""

from __future__ import annotations

import copy
from dataclasses import replace
from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="needs torch")

from torch import Tensor, nn  # noqa: E402

from nasbed import datasets  # noqa: E402
from nasbed.core.architecture import Architecture  # noqa: E402
from nasbed.core.errors import InvalidOption  # noqa: E402
from nasbed.datasets import Dataset, LabelledImages  # noqa: E402
from nasbed.training import EpochEnd, Job, load_recipe, stepwise, train, train_network, train_population  # noqa: E402
from nasbed.training.images import TrainingImages, recipe_split  # noqa: E402
from nasbed.training.population import training as population_training  # noqa: E402
from nasbed.training.population.autograd import AutogradExecutor  # noqa: E402

RECIPE = replace(
    load_recipe("small-nb201"),
    epochs=(3,),
    epoch_images=64,
    split=(1_000, 300),
    skeleton={"channels": 4, "cells_per_stage": 1},
)
CELLS = [Architecture("nb201", code) for code in ((3, 3, 1, 3, 2, 3), (2, 1, 4, 0, 2, 1))]


def few_digits() -> Dataset:
    """With a hundred images to test."""
    digits = datasets.load("digits")
    return replace(digits, test=LabelledImages(digits.test.images[:100], digits.test.labels[:100]))


@pytest.fixture(autouse=True)
def one_thread() -> None:
    torch.set_num_threads(1)


class Dropping(nn.Module):
    """Draws while it trains. After its first ``broken`` steps it still evaluates to nothing."""

    def __init__(self, broken: int = 0) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.broken, self.steps = broken, 0
        self.layers = nn.Sequential(nn.Flatten(), nn.Linear(64, 32), nn.BatchNorm1d(32), nn.ReLU(), nn.Dropout(0.5))
        self.head = nn.Linear(32, 10)

    def forward(self, x: Tensor) -> Tensor:
        logits: Tensor = self.head(self.layers(x))
        self.steps += self.training
        return logits if self.training or self.steps > self.broken else logits * float("nan")


def test_curve_is_the_accuracy_of_the_network_after_each_epoch() -> None:
    digits, network, after = few_digits(), Dropping(), list[nn.Module]()
    outcome = train_network(
        network,
        digits,
        RECIPE,
        learning_curve=True,
        progress=lambda _: after.append(copy.deepcopy(network).eval()),
    )
    chosen = recipe_split(digits, RECIPE).valid
    images = torch.from_numpy(digits.train.images[chosen]).double() / digits.scale
    labels = torch.from_numpy(digits.train.labels[chosen])
    images = ((images - digits.mean[0]) / digits.std[0]).float()
    expected = [100 * int((model(images).argmax(1) == labels).sum()) / 300 for model in after]
    assert outcome.validation_curve == tuple(expected) and len(expected) == 3
    assert outcome.validation_accuracy == outcome.validation_curve[-1]
    assert expected[0] < expected[-1]


def test_training_with_a_curve_is_the_training_without() -> None:
    digits = few_digits()
    recipe = replace(RECIPE, mixup=0.2, sharpness_radius=0.05)
    plain, curved = Dropping(), Dropping()
    without = train_network(plain, digits, recipe, seed=4)
    outcome = train_network(curved, digits, recipe, seed=4, learning_curve=True)
    assert without.validation_curve is None and outcome.validation_curve is not None
    assert replace(outcome, train_time_s=0, validation_curve=None) == replace(without, train_time_s=0)
    assert all(map(torch.equal, plain.state_dict().values(), curved.state_dict().values()))


def test_population_with_a_curve_is_the_population_without() -> None:
    digits = few_digits()
    jobs = [Job(cell, 3, seed) for seed, cell in enumerate(CELLS)]
    without = train_population(jobs, digits, RECIPE)
    together = train_population(jobs, digits, RECIPE, learning_curve=True)
    for job, plain, outcome in zip(jobs, without, together, strict=True):
        assert replace(outcome, train_time_s=0, validation_curve=None) == replace(plain, train_time_s=0)
        single = train(job.architecture, digits, RECIPE, seed=job.seed, learning_curve=True)
        assert single.validation_curve is not None and outcome.validation_curve is not None
        assert outcome.validation_curve == pytest.approx(single.validation_curve, abs=0.7)
        assert outcome.validation_curve[-1] == outcome.validation_accuracy


class Clock:
    """Shows one second more whenever it is read."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        self.now += 1
        return self.now


def test_training_time_excludes_the_curve(monkeypatch: pytest.MonkeyPatch) -> None:
    digits, clock = few_digits(), Clock()

    def slow(*_: object) -> float:
        clock.now += 1000
        return 50.0

    monkeypatch.setattr(stepwise, "perf_counter", clock)
    monkeypatch.setattr(stepwise, "accuracy", slow)
    outcome = train_network(Dropping(), digits, RECIPE, learning_curve=True)
    assert outcome.train_time_s == 3 and clock.now > 4000

    batches = TrainingImages.batches

    def slow_batches(self: TrainingImages, part: str, size: int) -> object:
        clock.now += 1000
        return batches(self, part, size)

    clock.now = 0
    monkeypatch.setattr(population_training, "perf_counter", clock)
    monkeypatch.setattr(TrainingImages, "batches", slow_batches)
    outcomes = train_population([Job(CELLS[0], 3, 0)], digits, RECIPE, learning_curve=True)
    assert outcomes[0].train_time_s < 10 and clock.now > 4000


def test_interrupted_curve_resumes_where_it_was(tmp_path: Path) -> None:
    path, digits = tmp_path / "c.pt", few_digits()

    def interrupt(end: EpochEnd) -> None:
        if end.done == 2:
            raise KeyboardInterrupt

    complete = train(CELLS[0], digits, RECIPE, learning_curve=True)
    for first, second in ((True, True), (True, False)):
        path.unlink(missing_ok=True)
        with pytest.raises(KeyboardInterrupt):
            train(CELLS[0], digits, RECIPE, learning_curve=first, checkpoint=path, progress=interrupt)
        resumed = train(CELLS[0], digits, RECIPE, learning_curve=second, checkpoint=path)
        curve = complete.validation_curve if second else None
        assert replace(resumed, train_time_s=0) == replace(complete, train_time_s=0, validation_curve=curve)
    with pytest.raises(InvalidOption, match="3 epochs of a training without a learning curve; resume it without one"):
        train(CELLS[0], digits, RECIPE, learning_curve=True, checkpoint=path)


def test_epoch_whose_outputs_are_no_numbers_is_missing_in_the_curve() -> None:
    outcome = train_network(Dropping(broken=2), few_digits(), RECIPE, learning_curve=True)
    assert outcome.status == "ok" and outcome.validation_curve is not None
    assert [point is None for point in outcome.validation_curve] == [True, False, False]


def test_diverged_training_keeps_the_curve_until_then() -> None:
    digits, network, reported = few_digits(), Dropping(), list[float | None]()

    def spoil(end: EpochEnd) -> None:
        reported.append(end.validation_accuracy)
        if end.done == 2:
            nn.init.constant_(network.head.weight, float("inf"))

    outcome = train_network(network, digits, RECIPE, learning_curve=True, progress=spoil)
    assert outcome.status == "diverged" and outcome.reason == "the loss of epoch 3 is not a finite number"
    assert outcome.validation_curve == tuple(reported) and len(reported) == 2 and not outcome.values()


def test_population_whose_outputs_are_no_numbers_has_diverged_as_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    logits = AutogradExecutor.logits

    def poisoned(self: AutogradExecutor, *, training: bool) -> Tensor:
        values = logits(self, training=training)
        values[0] = float("inf")
        return values

    monkeypatch.setattr(AutogradExecutor, "logits", poisoned)
    jobs, recipe = [Job(cell, 1, 0) for cell in CELLS], replace(RECIPE, epochs=(1,))
    for learning_curve in (False, True):
        first, second = train_population(jobs, few_digits(), recipe, learning_curve=learning_curve)
        assert first.status == "diverged" and first.reason == "an output of the trained network is not a finite number"
        assert not first.values() and second.status == "ok"


def test_without_validation_images_there_is_no_accuracy_and_no_curve() -> None:
    digits, recipe = few_digits(), replace(RECIPE, split=(500, 0))
    (outcome,) = train_population([Job(CELLS[0], 3, 0)], digits, recipe)
    assert outcome.status == "ok" and outcome.validation_accuracy is None and outcome.test_accuracy is not None
    for ask in (
        lambda: train(CELLS[0], digits, recipe, learning_curve=True),
        lambda: train_population([Job(CELLS[0], 3, 0)], digits, recipe, learning_curve=True),
    ):
        with pytest.raises(
            InvalidOption, match="a learning curve needs images to validate with, the recipe small-nb201"
        ):
            ask()
