"""Losses of supernets recorded as CUDA graphs: that a search uses them as it does its own, and on a GPU the same
architecture parameters."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs torch")

from torch import Tensor, nn  # noqa: E402

from nasbed import datasets  # noqa: E402
from nasbed.oneshot import SEARCHED_SPACES, SearchResult, SearchSettings, cuda_graph_loss, search  # noqa: E402
from nasbed.oneshot.cells import Layout  # noqa: E402
from nasbed.oneshot.cuda_graph_loss import CapturedLoss  # noqa: E402
from nasbed.oneshot.loss import supernet_loss  # noqa: E402
from nasbed.oneshot.mixing import Mixing  # noqa: E402
from nasbed.oneshot.random_streams import Chance  # noqa: E402
from nasbed.oneshot.spaces.base import SupernetSize  # noqa: E402
from nasbed.training.cuda_graphs import Recording, buffers_kept  # noqa: E402
from nasbed.training.devices import threads_used  # noqa: E402
from support.supernet_methods import supernet_method  # noqa: E402

CPU = torch.device("cpu")
SETTINGS = SearchSettings(epochs=2, batch=16, channels=4, cells=1, epoch_images=16, split=(64, 32))
OPTIONS: dict[str, dict[str, Any]] = {
    "pc-darts": {"warm_up": 0.0},
    "drnas": {"partial": (4, 2), "warm_up": 0.0},
    "random-ws": {"samples": 2, "epoch_samples": 2},
}


class CpuLossRecording(Recording):
    """Computes what a graph would replay, into tensors that stay the same and that the next call of any overwrites."""

    recordings: ClassVar[list[CpuLossRecording]] = []
    closed = 0

    def __init__(
        self,
        network: nn.Module,
        loss: Callable[..., Tensor],
        inputs: Sequence[Tensor],
        *,
        weights: bool = True,
        pool: Any = None,
    ) -> None:
        self.device, self._loss, self._value = CPU, loss, torch.tensor(torch.nan)
        self._inputs = [tensor.detach().clone().requires_grad_(tensor.requires_grad) for tensor in inputs]
        self._weights = list(network.parameters()) if weights else []
        self.by_weights = [(weight, torch.full_like(weight, torch.nan)) for weight in self._weights]
        self.by_inputs = [
            torch.full_like(tensor, torch.nan) if tensor.requires_grad else None for tensor in self._inputs
        ]
        self.recordings.append(self)

    def __call__(self, *inputs: Tensor) -> Tensor:
        for recording in self.recordings:
            for spoilt in (*(gradient for _, gradient in recording.by_weights), *recording.by_inputs):
                if spoilt is not None:
                    spoilt.fill_(torch.nan)
        with torch.no_grad():
            for own, value in zip(self._inputs, inputs, strict=True):
                own.copy_(value)
        self._forget()
        self._value.copy_(self._work())
        for leaf, gradient in (*self.by_weights, *zip(self._inputs, self.by_inputs, strict=True)):
            if gradient is not None:
                assert leaf.grad is not None
                gradient.copy_(leaf.grad)
        self._forget()
        for weight, gradient in self.by_weights:
            weight.grad = gradient
        return self._value

    def close(self) -> None:
        type(self).closed += 1


def searched(method: str, space: str = "nb201") -> SearchResult:
    settings = (
        SETTINGS
        if space == "nb201"
        else SearchSettings(epochs=1, batch=8, channels=4, cells=2, epoch_images=16, split=(32, 16))
    )
    with threads_used(1):
        return search(method, datasets.load("digits"), settings, space=space, options=OPTIONS.get(method), seed=1)


def assert_same(first: SearchResult, second: SearchResult) -> None:
    assert (first.status, first.architecture) == (second.status, second.architecture)
    for a, b in zip(first.epochs, second.epochs, strict=True):
        assert (a.train_loss, a.validation_accuracy) == (b.train_loss, b.validation_accuracy)
        assert all(np.array_equal(a.parameters[name], b.parameters[name]) for name in a.parameters)


@pytest.fixture
def stubbed(monkeypatch: pytest.MonkeyPatch) -> type[CpuLossRecording]:
    monkeypatch.setattr(cuda_graph_loss, "is_captured", lambda _: True)
    monkeypatch.setattr(cuda_graph_loss, "Recording", CpuLossRecording)
    monkeypatch.setattr(torch.cuda, "graph_pool_handle", lambda: None)
    monkeypatch.setattr(CpuLossRecording, "recordings", [])
    monkeypatch.setattr(CpuLossRecording, "closed", 0)
    return CpuLossRecording


@pytest.mark.parametrize(
    ("method", "space", "recordings"),
    [
        ("darts", "nb201", 2),
        ("darts2", "nb201", 3),  # by weights, by the mixing, by both
        ("pc-darts", "darts", 2),
        ("drnas", "nb201", 4),  # for each of two stages
        ("gdas", "nb201", 0),
        ("random-ws", "nb201", 0),
    ],
)
def test_search_by_recorded_losses_equals_one_step_by_step(
    method: str, space: str, recordings: int, stubbed: type[CpuLossRecording]
) -> None:
    result = searched(method, space)
    assert len(stubbed.recordings) == stubbed.closed == recordings
    with pytest.MonkeyPatch.context() as undone:
        undone.setattr(cuda_graph_loss, "is_captured", lambda _: False)
        assert_same(result, searched(method, space))


@pytest.mark.parametrize("successes", [0, pytest.param(1, marks=pytest.mark.thorough)])
def test_search_continues_step_by_step_when_a_recording_fails(
    successes: int, stubbed: type[CpuLossRecording], monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(network: nn.Module, loss: Callable[..., Tensor], inputs: Sequence[Tensor], **options: Any) -> Recording:
        recording = stubbed(network, loss, inputs, **options)
        if len(stubbed.recordings) <= successes:
            return recording
        with buffers_kept(network):
            recording(*inputs)
            raise torch.OutOfMemoryError("CUDA out of memory")

    monkeypatch.setattr(cuda_graph_loss, "Recording", failing)
    result = searched("darts2")
    assert len(stubbed.recordings) == successes + 1 and stubbed.closed == successes
    monkeypatch.setattr(cuda_graph_loss, "is_captured", lambda _: False)
    assert_same(result, searched("darts2"))


def test_nothing_is_recorded_on_a_cpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cuda_graph_loss, "Recording", None)
    assert searched("darts").status == "ok"


@pytest.mark.usefixtures("stubbed")
def test_captured_loss_has_gradients_by_the_mixing_and_by_given_weights_and_keeps_the_supernets() -> None:
    torch.manual_seed(0)
    space = SEARCHED_SPACES.get("nb201")
    cells = space.cells(with_none=True)
    supernet = space.supernet(SupernetSize(4, 1, (1, 8, 8), classes=3), cells, Layout(2))
    recipe = SearchSettings(batch=6).recipe()
    batch = torch.randn(6, 1, 8, 8), torch.arange(6) % 3
    mixing = Mixing(torch.rand(cells.shape).requires_grad_(), torch.rand(cells.shape[:2]).requires_grad_())
    assert mixing.edges is not None
    weights = {name: (weight.detach() + 0.1).requires_grad_() for name, weight in supernet.named_parameters()}
    before = {name: value.clone() for name, value in supernet.state_dict().items()}
    loss = CapturedLoss(supernet, recipe)
    by = [mixing.operations, mixing.edges, *weights.values()]
    actual, expected = loss.loss(batch, mixing, weights), supernet_loss(supernet, batch, mixing, recipe, weights)
    assert actual is not None and torch.equal(actual, expected)
    later = loss.loss(batch, mixing)
    assert later is not None and not torch.equal(later, actual)
    for actual_gradient, expected_gradient in zip(
        torch.autograd.grad(2 * actual, by), torch.autograd.grad(2 * expected, by), strict=True
    ):
        torch.testing.assert_close(actual_gradient, expected_gradient)
    assert all(torch.equal(value, before[name]) for name, value in supernet.state_dict().items())
    smaller = batch[0][:4], batch[1][:4]
    assert torch.equal(loss.loss(smaller, mixing), supernet_loss(supernet, smaller, mixing, recipe))
    loss.close()
    assert all(weight.grad is None for weight in supernet.parameters())


def test_gdas_chooses_by_its_parameters_as_they_are_now() -> None:
    """The host keeps a copy of them; it must not be that from before a step of their optimizer."""
    method: Any = supernet_method("gdas", "nb201", learning_rate=100.0)
    first = method.mixing(Chance(5, CPU)).selected
    method.alphas.data = method.alphas.data.clone()
    method._host_copy = (
        method._host_copy[0],
        method._host_copy[1].clone(),
    )  # as it is on a GPU, where it shares no memory
    mover = torch.optim.Adam(method.parameters(), lr=100.0, foreach=True)
    assert isinstance(method.optimizer(), torch.optim.Adam) and not method.optimizer().defaults["fused"]
    wanted = (torch.arange(method.alphas.numel()) % 3 == 0).reshape(method.alphas.shape)
    method.alphas.grad = torch.where(wanted, -1.0, 1.0)
    mover.step()
    second = method.mixing(Chance(5, CPU)).selected
    assert first != second
    assert all(wanted[0, edge, op] for edge, op in enumerate(second[0]) if wanted[0, edge].any())


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
def test_recorded_losses_search_like_eager_ones_on_a_gpu(capsys: pytest.CaptureFixture[str]) -> None:
    script_path = Path(__file__).with_name("search_captured_against_eager.py")
    spec = importlib.util.spec_from_file_location("searches_compared", script_path)
    assert spec is not None and spec.loader is not None
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    script.main("cuda")
    assert " ms" in capsys.readouterr().out
