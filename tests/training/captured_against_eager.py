"""Trainings on a CUDA device by a recorded gradient and step by step; fails if they differ, prints the time of each."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import NamedTuple
from unittest.mock import patch

import numpy as np
import torch
from torch import Tensor, nn

import nasbed
from nasbed.datasets.dataset import Dataset, LabelledImages
from nasbed.networks.baselines import baseline
from nasbed.training import EpochEnd, Recipe, loop, train_network
from nasbed.training.cuda_graph_gradient import CapturedGradient, captured_gradient
from nasbed.training.devices import set_chance
from nasbed.training.network_factory import recipe_network

RECIPE = Recipe(
    name="captured",
    epochs=(2,),
    batch=64,
    learning_rate=0.01,
    weight_decay=3e-4,
    label_smoothing=0.1,
    crop_padding=1,
    flip=True,
)
DARTS = replace(RECIPE, gradient_clip=1.0, skeleton={"channels": 4, "cells": 3})


def pictures(images: int, channels: int, side: int) -> Dataset:
    """Noise that is brighter for higher labels."""
    chance = np.random.default_rng(0)

    def part(count: int) -> LabelledImages:
        labels = np.arange(count, dtype=np.int64) % 10
        noise = chance.integers(0, 128, (count, channels, side, side))
        return LabelledImages((noise + 12 * labels[:, None, None, None]).astype(np.uint8), labels)

    half = (0.5,) * channels
    return Dataset("noise", part(images), part(100), tuple("0123456789"), half, half, hash="noise")


class SyncingModule(nn.Module):
    """Waits for the device in its forward pass: always, or only while it is recorded."""

    def __init__(self, *, always: bool) -> None:
        super().__init__()
        self.always = always
        self.norm = nn.BatchNorm2d(1)
        self.layers = nn.Sequential(nn.Flatten(), nn.Linear(64, 32), nn.ReLU(), nn.Dropout(0.5), nn.Linear(32, 10))

    def forward(self, images: Tensor) -> Tensor:
        images = self.norm(images)
        if self.always or torch.cuda.is_current_stream_capturing():
            images = images * (1.0 if images.sum().item() > 0 else 0.5)
        logits: Tensor = self.layers(images)
        return logits


def dropping() -> nn.Sequential:
    return nn.Sequential(nn.Flatten(), nn.Linear(64, 64), nn.BatchNorm1d(64), nn.Dropout(0.5), nn.Linear(64, 10))


class Run(NamedTuple):
    losses: list[float]
    weights: dict[str, Tensor]


def trained(make: Callable[[], nn.Module], dataset: Dataset, recipe: Recipe, device: str, *, eager: bool) -> Run:
    torch.manual_seed(0)
    network = make()
    ends: list[EpochEnd] = []
    recordings: list[CapturedGradient | None] = []

    def gradient(*arguments: object) -> CapturedGradient | None:
        recordings.append(None if eager else captured_gradient(*arguments))  # type: ignore[arg-type]
        return recordings[-1]

    with patch.object(loop, "captured_gradient", gradient):
        outcome = train_network(network, dataset, recipe, seed=3, device=device, progress=ends.append)
    assert outcome.status == "ok", outcome
    assert len(recordings) == (2 if recipe.drop_path and not eager else 1), recordings
    expected = not (eager or isinstance(network, SyncingModule))
    assert (recordings[0] is not None) == expected, f"{type(network).__name__} is captured: {not expected}"
    return Run([end.loss for end in ends], network.state_dict())


def furthest(first: Run, second: Run) -> float:
    """The largest difference of losses or weights."""
    losses = max(abs(a - b) for a, b in zip(first.losses, second.losses, strict=True))
    for name, value in first.weights.items():
        if name.endswith("num_batches_tracked"):
            assert torch.equal(value, second.weights[name]), f"{name}: {value} and {second.weights[name]}"
    return max(losses, *(float((value - second.weights[name]).abs().max()) for name, value in first.weights.items()))


def compare(name: str, make: Callable[[], nn.Module], recipe: Recipe, device: str) -> None:
    """What is recorded differs from steps one by one by no more than these do among themselves."""
    dataset = pictures(1_000, 1, 8)
    eager, eager_again, captured, repeated = (
        trained(make, dataset, recipe, device, eager=eager) for eager in (True, True, False, False)
    )
    chance, distance = furthest(eager, eager_again), max(furthest(eager, captured), furthest(captured, repeated))
    print(f"{name}: eager runs differ by {chance:.1e}, captured from eager by {distance:.1e}")
    assert eager.losses[1] != eager.losses[0]
    assert distance <= 1e-4 + 10 * chance, f"{name}: {distance} against {chance}"


def check_chance_and_buffers(device: str) -> None:
    """Recording changes no buffer, a seed is a mask, and memory of gradients is let go."""
    torch.manual_seed(0)
    network = dropping().to(device)
    images, labels = torch.randn(64, 1, 8, 8, device=device), torch.arange(64, device=device) % 10
    before = [buffer.clone() for buffer in network.buffers()]
    captured = CapturedGradient(network, RECIPE, (images, labels))
    for buffer, value in zip(network.buffers(), before, strict=True):
        assert torch.equal(buffer, value)
    weight = next(network.parameters())
    results: list[tuple[Tensor, Tensor]] = []
    for seed in (1, 1, 2):
        network.zero_grad(set_to_none=True)  # as a caller might between epochs
        loss = captured((images, labels), seed=seed)[0].clone()
        assert weight.grad is not None
        results.append((loss, weight.grad.clone()))
    torch.testing.assert_close(results[0], results[1])
    assert not torch.equal(results[0][0], results[2][0])

    network.zero_grad(set_to_none=True)
    set_chance(images.device, 1)
    loss = nn.functional.cross_entropy(network(images), labels, label_smoothing=RECIPE.label_smoothing)
    loss.backward()  # type: ignore[no-untyped-call]
    torch.testing.assert_close(results[0], (loss.detach(), weight.grad), rtol=1e-4, atol=1e-5)
    captured.close()
    assert all(tensor.grad is None for tensor in network.parameters())


def step_ms(device: str, *, eager: bool) -> float:
    """Of ResNet-18 on images of 28×28×3 in batches of 64, the first epoch not counted."""
    dataset, ends = pictures(8_000, 3, 28), list[EpochEnd]()
    network = baseline("resnet18", classes=10, channels_in=3, image=28)
    recipe = replace(RECIPE, epochs=(3,))
    with patch.object(loop, "captured_gradient", (lambda *_: None) if eager else captured_gradient):
        train_network(network, dataset, recipe, device=device, progress=ends.append)
    steps = 2 * recipe.steps_per_epoch(6_400)
    return 1e3 * (ends[-1].train_time_s - ends[0].train_time_s) / steps


def main(device: str) -> None:
    arch, small = nasbed.space("darts").sample(np.random.default_rng(0)), pictures(100, 1, 8)
    with torch.backends.cudnn.flags(enabled=True, benchmark=False, deterministic=True, allow_tf32=False):
        check_chance_and_buffers(device)
        compare("resnet18", partial(baseline, "resnet18", classes=10, channels_in=1, image=8), RECIPE, device)
        for recipe in (DARTS, replace(DARTS, precision="bfloat16", optimizer="rmsprop"), replace(DARTS, drop_path=0.6)):
            compare(
                f"darts, {recipe.precision}, drop path {recipe.drop_path}",
                partial(recipe_network, arch, small, recipe),
                recipe,
                device,
            )
        compare("dropout", dropping, RECIPE, device)
        for always in (True, False):
            compare(f"asking, always {always}", partial(SyncingModule, always=always), RECIPE, device)
        compare("dropout after failures", dropping, RECIPE, device)
        check_chance_and_buffers(device)
    for eager in (True, False):
        print(f"resnet18, 28x28x3, 64 images: {'eager' if eager else 'captured'} {step_ms(device, eager=eager):.2f} ms")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "cuda")
