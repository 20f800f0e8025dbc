"""Whole trainings: what they reach, that they repeat and resume exactly, and what they refuse."""

from __future__ import annotations

import hashlib
import io
import json
import os
import pickle
import signal
from dataclasses import replace
from pathlib import Path
from subprocess import PIPE

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs torch")

from torch import Tensor, nn  # noqa: E402

import nasbed  # noqa: E402
from nasbed import datasets  # noqa: E402
from nasbed.core.architecture import Architecture  # noqa: E402
from nasbed.core.errors import BadFile, InvalidOption  # noqa: E402
from nasbed.core.status import Status  # noqa: E402
from nasbed.training import EpochEnd, Recipe, TrainingOutcome, load_recipe, train, train_network  # noqa: E402
from nasbed.training.checkpoint import TRAINING  # noqa: E402
from nasbed.training.devices import chosen_device, threads_used  # noqa: E402
from support.forks import fork_script  # noqa: E402

CONVOLUTIONS = Architecture("nb201", (3, 3, 3, 3, 3, 3))
EVERYTHING = Recipe(
    name="everything",
    epochs=(3,),
    batch=32,
    learning_rate=0.05,
    sharpness_radius=0.05,
    gradient_clip=5.0,
    crop_padding=1,
    flip=True,
    cutout=2,
    mixup=0.2,
    drop_path=0.3,
    label_smoothing=0.1,
    epoch_images=64,
    skeleton={"channels": 4, "cells": 3},
)
"""Everything random, in little time."""
QUICK = replace(load_recipe("small-nb201"), epoch_images=256, skeleton={"channels": 4, "cells_per_stage": 1})
BRIEF = replace(QUICK, epoch_images=96)


@pytest.mark.parametrize(
    ("space", "text", "recipe"),
    [
        ("nb101", "conv3x3:0/conv3x3:1/output:0,2", "small-nb101"),
        pytest.param("nb201", CONVOLUTIONS, "small-nb201", marks=pytest.mark.thorough),
    ],
)
def test_digits_are_learnt_in_seconds(space: str, text: str | Architecture, recipe: str) -> None:
    arch = nasbed.space(space).parse(text) if isinstance(text, str) else text
    with threads_used(1):
        outcome = train(arch, datasets.load("digits"), load_recipe(recipe), epochs=3)
    assert outcome.status == "ok" and outcome.train_time_s > 0 and outcome.reason == ""
    assert outcome.test_accuracy is not None and outcome.test_accuracy > 80  # a guess has 10
    assert outcome.validation_accuracy is not None and outcome.validation_accuracy > 85
    assert outcome.train_loss is not None and outcome.train_loss < 0.7  # a guess has 2.3; seeds are 0.2 apart
    assert outcome.train_accuracy is not None and 75 < outcome.train_accuracy < 100
    keys = {"validation_accuracy", "test_accuracy", "train_loss", "train_accuracy"}
    assert {metric.key for metric in outcome.values()} == keys


def test_training_is_repeated_by_its_seed_and_leaves_chance_alone() -> None:
    before = torch.get_rng_state()
    ends: list[EpochEnd] = []
    runs = [
        train(CONVOLUTIONS, datasets.load("digits"), BRIEF, seed=seed, epochs=3, progress=ends.append)
        for seed in (5, 5, 6)
    ]
    assert torch.equal(torch.get_rng_state(), before)
    figures = [(run.validation_accuracy, run.test_accuracy, run.train_loss) for run in runs]
    assert figures[0] == figures[1] != figures[2]
    assert [(end.done, end.epochs) for end in ends] == [(1, 3), (2, 3), (3, 3)] * 3
    assert runs[0].train_loss == ends[2].loss < ends[0].loss and ends[2].learning_rate < ends[0].learning_rate


def test_diverged_training_says_so_at_once() -> None:
    ends: list[EpochEnd] = []
    recipe = replace(QUICK, learning_rate=1e6, gradient_clip=None)
    outcome = train(CONVOLUTIONS, datasets.load("digits"), recipe, progress=ends.append)
    assert outcome.status == "diverged" and "not a finite number" in outcome.reason and len(ends) < 9
    assert outcome.values() == {} and outcome.train_time_s > 0


def test_network_with_outputs_that_are_no_numbers_has_diverged() -> None:
    class Broken(nn.Module):
        """Trains well, and evaluates to nothing."""

        def __init__(self) -> None:
            super().__init__()
            self.layers = nn.Sequential(nn.Flatten(), nn.Linear(64, 10))

        def forward(self, x: Tensor) -> Tensor:
            logits: Tensor = self.layers(x)
            return logits if self.training else logits * float("nan")

    outcome = train_network(Broken(), datasets.load("digits"), QUICK, epochs=1)
    assert outcome == TrainingOutcome(
        Status.DIVERGED, outcome.train_time_s, reason="an output of the trained network is not a finite number"
    )


@pytest.mark.parametrize("change", [{"precision": "bfloat16"}, {"optimizer": "rmsprop"}, {"split": (256, 0)}])
def test_any_network_is_trained_in_place(change: dict[str, object]) -> None:
    network = nn.Sequential(nn.Flatten(), nn.Dropout(0.1), nn.Linear(64, 10))
    start = network[2].weight.detach().clone()  # type: ignore[operator]
    outcome = train_network(network, datasets.load("digits"), replace(QUICK, **change), epochs=3)  # type: ignore[arg-type]
    assert outcome.status == "ok" and (outcome.test_accuracy or 0) > 50
    assert (outcome.validation_accuracy is None) == ("split" in change)
    assert not network.training and not torch.equal(network[2].weight, start)


def test_norm_momentum_is_the_weight_of_the_newest_batch() -> None:
    """Images with a variance of 9 move the average from 1 by 8 (1 - 0.997^n) in n batches; with a weight of 1 the last
    batch alone counts, and torch's own weight is 0.1."""
    recipe = Recipe(name="tiny", epochs=(1,), batch=64, learning_rate=1e-9, epoch_images=256)
    for momentum, weight in ((1.0, 1.0), (0.003, 0.003), (None, 0.1)):
        scale, norm = nn.Conv2d(1, 1, 1, bias=False), nn.BatchNorm2d(1, affine=False)
        nn.init.constant_(scale.weight, 3.0)
        network = nn.Sequential(scale, norm, nn.Flatten(), nn.Linear(64, 10))
        train_network(network, datasets.load("digits"), replace(recipe, norm_momentum=momentum))
        assert norm.running_var is not None and norm.momentum == weight
        assert float(norm.running_var) - 1 == pytest.approx(8 * (1 - (1 - weight) ** 4), rel=0.05)


def test_drop_path_needs_a_network_that_has_it() -> None:
    with pytest.raises(InvalidOption, match="NB201Network has no method set_drop_path"):
        train(CONVOLUTIONS, datasets.load("digits"), replace(QUICK, drop_path=0.2))
    with pytest.raises(InvalidOption, match="budgets 1, 3, 9 epochs, got 2"):
        train(CONVOLUTIONS, datasets.load("digits"), QUICK, epochs=2)


def test_devices_are_chosen_by_name() -> None:
    assert chosen_device("cpu").type == "cpu" and chosen_device("auto").type in ("cpu", "cuda")
    for name, message in (("gpu", "auto, cpu, cuda"), ("cuda:99", "CUDA devices"), ("meta", "trained on cpu or cuda")):
        with pytest.raises(InvalidOption, match=message):
            chosen_device(name)
    with pytest.raises(InvalidOption, match="at least one thread"), threads_used(0):
        pass


@pytest.mark.kill
def test_killed_training_resumes_to_the_very_same_bits(tmp_path: Path) -> None:
    """kill -9 of another process, which waits after its second epoch; the recipe has everything random."""
    code = (
        "import sys, pickle, torch\n"
        "from pathlib import Path\n"
        "from nasbed import datasets\n"
        "from nasbed.training import train\n"
        "arch, recipe = pickle.loads(bytes.fromhex(sys.argv[1]))\n"
        "torch.set_num_threads(1)\n"
        "def wait(end):\n"
        "    if end.done == 2:\n"
        "        print('waiting', flush=True)\n"
        "        sys.stdin.read()\n"
        "train(arch, datasets.load('digits'), recipe, seed=3, checkpoint=Path(sys.argv[2]), progress=wait)\n"
    )
    arch = nasbed.space("darts").sample(np.random.default_rng(0))
    sent = pickle.dumps((arch, EVERYTHING)).hex()
    killed, complete = tmp_path / "killed.pt", tmp_path / "whole.pt"
    with fork_script(code, sent, str(killed), stdin=PIPE, stdout=PIPE) as process:
        assert process.stdout is not None and process.stdout.readline() == "waiting\n"
        process.kill()
    assert process.returncode == -signal.SIGKILL and TRAINING.content(killed)["epochs"] == 2
    with threads_used(1):
        first = train(arch, datasets.load("digits"), EVERYTHING, seed=3, checkpoint=complete)
        second = train(arch, datasets.load("digits"), EVERYTHING, seed=3, checkpoint=killed)
    assert replace(first, train_time_s=0) == replace(second, train_time_s=0)
    first_weights, second_weights = (TRAINING.content(path)["network"] for path in (complete, killed))
    assert all(torch.equal(first_weights[name], second_weights[name]) for name in first_weights)
    with threads_used(1):
        repeated = train(arch, datasets.load("digits"), EVERYTHING, seed=3, checkpoint=complete)
    assert repeated == first, "a finished training is only measured again, its time is the sum of its parts"


def test_checkpoint_without_a_training_accuracy_is_resumed(tmp_path: Path) -> None:
    """Checkpoints of nasbed 0.1 have none: the last epoch measures it, and a finished training goes without."""
    path, digits = tmp_path / "c.pt", datasets.load("digits")
    contents: list[dict[str, object]] = []

    def keep(_: EpochEnd) -> None:
        contents.append(TRAINING.content(path))

    uninterrupted = train(CONVOLUTIONS, digits, BRIEF, epochs=3, checkpoint=path, progress=keep)
    for content, expected in zip(contents[1:], (uninterrupted.train_accuracy, None), strict=True):
        old = {name: value for name, value in content.items() if name not in ("identity", "train_accuracy")}
        TRAINING.write(path, json.loads(str(content["identity"])), old)
        resumed = train(CONVOLUTIONS, digits, BRIEF, epochs=3, checkpoint=path)
        assert replace(resumed, train_time_s=0) == replace(uninterrupted, train_time_s=0, train_accuracy=expected)


def test_checkpoint_of_another_training_is_refused(tmp_path: Path) -> None:
    path, digits = tmp_path / "folder" / "c.pt", datasets.load("digits")
    train(CONVOLUTIONS, digits, BRIEF, epochs=1, checkpoint=path)
    different = Architecture("nb201", (3, 3, 3, 3, 3, 2))
    for arch, recipe, epochs, seed, message in (
        (CONVOLUTIONS, BRIEF, 1, 1, "with seed 0, not 1; name another file"),
        (CONVOLUTIONS, BRIEF, 3, 0, "with epochs 1, not 3"),
        (CONVOLUTIONS, replace(BRIEF, batch=16), 1, 0, "with the recipe's batch 32, not 16"),
        (different, BRIEF, 1, 0, "with network "),
    ):
        with pytest.raises(InvalidOption, match=message) as error:
            train(arch, digits, recipe, epochs=epochs, seed=seed, checkpoint=path)
        assert "\n" not in str(error.value)
    renamed = replace(BRIEF, name="called otherwise", source="somewhere")
    assert train(CONVOLUTIONS, digits, renamed, epochs=1, checkpoint=path).status == "ok"
    assert [file.name for file in path.parent.iterdir()] == ["c.pt"]


def test_damaged_checkpoint_is_refused_with_its_remedy(tmp_path: Path) -> None:
    path, digits = tmp_path / "c.pt", datasets.load("digits")
    train(CONVOLUTIONS, digits, BRIEF, epochs=1, checkpoint=path)
    content = path.read_bytes()
    for damaged in (content[: len(content) // 2], content[:-100] + b"\0" + content[-99:], b"", b"junk\n" + content):
        path.write_bytes(damaged)
        with pytest.raises(BadFile, match=r"remove it and train from the beginning|not a checkpoint of a training"):
            train(CONVOLUTIONS, digits, BRIEF, epochs=1, checkpoint=path)


def test_checkpoint_never_runs_code(tmp_path: Path) -> None:
    """One that holds a pickled object, with a checksum that fits, is read as damaged."""

    class Code:
        def __reduce__(self) -> tuple[object, ...]:
            return (os.mkdir, (str(tmp_path / "made"),))

    file, path = io.BytesIO(), tmp_path / "c.pt"
    torch.save({"identity": Code()}, file)
    path.write_bytes(TRAINING.head + hashlib.sha256(file.getvalue()).hexdigest().encode() + b"\n" + file.getvalue())
    with pytest.raises(BadFile, match="damaged") as error:
        train(CONVOLUTIONS, datasets.load("digits"), BRIEF, epochs=1, checkpoint=path)
    assert not (tmp_path / "made").exists() and "\n" not in str(error.value)
