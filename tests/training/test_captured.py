"""Gradients recorded as CUDA graphs: which they are, that the loop uses them as it does its own, and on a GPU the same
weights."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="needs torch")

import numpy as np  # noqa: E402
from torch import Tensor, nn  # noqa: E402

import nasbed  # noqa: E402
from nasbed import datasets  # noqa: E402
from nasbed.training import Recipe, cuda_graph_gradient, load_recipe, train_network  # noqa: E402
from nasbed.training.cuda_graph_gradient import captured_gradient, is_captured  # noqa: E402
from nasbed.training.cuda_graphs import buffers_kept  # noqa: E402
from nasbed.training.network_factory import recipe_network  # noqa: E402
from support.recordings import CpuGradientRecording  # noqa: E402

RECIPE = replace(load_recipe("small-nb201"), epoch_images=256, gradient_clip=1.0)
CPU, CUDA = torch.device("cpu"), torch.device("cuda:0")


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({}, True),
        ({"precision": "bfloat16", "gradient_clip": 5.0, "cutout": 2, "optimizer": "rmsprop"}, True),
        ({"auxiliary_weight": 0.4, "label_smoothing": 0.1, "warm_up": 0.1}, True),
        ({"mixup": 0.2}, False),
        ({"sharpness_radius": 0.05}, False),
        ({"drop_path": 0.2}, True),
    ],
)
def test_recipe_is_captured_on_a_gpu_if_its_steps_are_alike(change: dict[str, object], expected: bool) -> None:
    recipe = replace(Recipe(name="plain", epochs=(1,), batch=64, learning_rate=0.1), **change)  # type: ignore[arg-type]
    assert is_captured(recipe, CUDA) == expected
    assert not is_captured(recipe, CPU)


def network() -> nn.Module:
    torch.manual_seed(0)
    return nn.Sequential(nn.Flatten(), nn.Linear(64, 32), nn.BatchNorm1d(32), nn.Dropout(0.5), nn.Linear(32, 10))


Figures = tuple[float | None, float | None]


def trained() -> tuple[Figures, dict[str, Tensor]]:
    fresh = network()
    outcome = train_network(fresh, datasets.load("digits"), RECIPE, seed=1, epochs=3)
    assert outcome.train_accuracy is not None and outcome.train_accuracy > 20
    return (outcome.train_loss, outcome.train_accuracy), fresh.state_dict()


def same(first: tuple[Figures, dict[str, Tensor]], second: tuple[Figures, dict[str, Tensor]]) -> bool:
    return first[0] == second[0] and all(torch.equal(value, second[1][name]) for name, value in first[1].items())


def test_training_by_a_recorded_gradient_equals_steps_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    expected = trained()
    monkeypatch.setattr(cuda_graph_gradient, "is_captured", lambda *_: True)
    monkeypatch.setattr(cuda_graph_gradient, "Recording", CpuGradientRecording)
    CpuGradientRecording.created = CpuGradientRecording.closed = 0
    assert same(trained(), expected) and CpuGradientRecording.created == CpuGradientRecording.closed == 1


@pytest.mark.parametrize(("follows", "recordings"), [(True, 2), (False, 4)])
def test_dropped_paths_are_recorded_anew_where_they_begin_or_a_network_does_not_follow(
    monkeypatch: pytest.MonkeyPatch, follows: bool, recordings: int
) -> None:
    """Their probability is 0 in the first epoch and rises. A network that does not say otherwise may have it from
    Python, and a recording would repeat that of its own epoch."""
    recipe = replace(load_recipe("small-darts"), epochs=(4,), batch=16, epoch_images=32, drop_path=0.9, split=(64, 16))
    arch = nasbed.space("darts").sample(np.random.default_rng(0))

    def trained_weights() -> tuple[Figures, dict[str, Tensor]]:
        with torch.random.fork_rng():
            torch.manual_seed(0)
            fresh = recipe_network(arch, datasets.load("digits"), recipe)
        if not follows:
            set_drop_path: Any = fresh.set_drop_path
            monkeypatch.setattr(fresh, "set_drop_path", lambda probability: set_drop_path(probability) and None)
        outcome = train_network(fresh, datasets.load("digits"), recipe, seed=1)
        return (outcome.train_loss, outcome.train_accuracy), fresh.state_dict()

    expected = trained_weights()
    monkeypatch.setattr(cuda_graph_gradient, "is_captured", lambda *_: True)
    monkeypatch.setattr(cuda_graph_gradient, "Recording", CpuGradientRecording)
    CpuGradientRecording.created = CpuGradientRecording.closed = 0
    assert same(trained_weights(), expected) and CpuGradientRecording.created == recordings
    assert CpuGradientRecording.closed == recordings


def test_network_that_cannot_be_recorded_is_trained_step_by_step_and_says_so(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def failing(network: nn.Module, loss: Callable[..., Tensor], inputs: Sequence[Tensor]) -> None:
        with buffers_kept(network):
            CpuGradientRecording(network, loss, inputs)(*inputs)
            raise RuntimeError("operation not permitted when stream is capturing")

    expected = trained()
    monkeypatch.setattr(cuda_graph_gradient, "is_captured", lambda *_: True)
    monkeypatch.setattr(cuda_graph_gradient, "Recording", failing)
    assert same(trained(), expected)
    (message,) = caplog.messages  # of all its steps
    assert message.startswith("this training cannot be recorded") and message.endswith("when stream is capturing")
    fresh = network()
    before = {name: value.clone() for name, value in fresh.state_dict().items()}
    assert captured_gradient(fresh, RECIPE, (torch.rand(4, 1, 8, 8), torch.arange(4))) is None
    assert all(torch.equal(value, before[name]) for name, value in fresh.state_dict().items())
    assert all(weight.grad is None for weight in fresh.parameters())


def test_nothing_is_captured_on_a_cpu(monkeypatch: pytest.MonkeyPatch) -> None:
    expected = trained()
    monkeypatch.setattr(cuda_graph_gradient, "Recording", None)
    assert same(trained(), expected)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
def test_recorded_gradients_train_like_eager_ones_on_a_gpu(capsys: pytest.CaptureFixture[str]) -> None:
    spec = importlib.util.spec_from_file_location("compared", Path(__file__).with_name("captured_against_eager.py"))
    assert spec is not None and spec.loader is not None
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    script.main("cuda")
    assert " ms" in capsys.readouterr().out
