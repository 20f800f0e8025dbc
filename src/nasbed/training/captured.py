"""A network's gradient recorded once as a CUDA graph, then replayed: the kernels of a small network take less time than
launching them one by one."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from functools import cache

import torch
from torch import Tensor, nn

from nasbed.training.devices import set_chance
from nasbed.training.precision import computing
from nasbed.training.recipe import Recipe
from nasbed.training.steps import recipe_loss

_FAILED: list[torch.cuda.CUDAGraph] = []
"""Recordings that broke off: torch's allocators go on asking them whether they record, so they must not be freed."""


def is_captured(recipe: Recipe, device: torch.device) -> bool:
    """Whether the steps of a recipe are one and the same work: no share, radius or chance that Python changes."""
    return device.type == "cuda" and not (recipe.mixup or recipe.sharpness_radius or recipe.drop_path)


def captured_gradient(network: nn.Module, recipe: Recipe, batch: tuple[Tensor, Tensor]) -> CapturedGradient | None:
    """The gradient of a network, recorded, or None where steps differ or where the network does what cannot be
    recorded, such as asking the device for a number; network, chance and device are then as before."""
    if not is_captured(recipe, batch[0].device):
        return None
    try:
        return CapturedGradient(network, recipe, batch)
    except RuntimeError:
        return None


class CapturedGradient:
    """The loss of a network on a batch and its gradient, in one launch.

    Recording takes a batch for its shapes alone, and leaves the buffers of the network as they were. What the network
    does in Python it does now and never again; what layers draw on the device they draw anew each time.
    """

    def __init__(self, network: nn.Module, recipe: Recipe, batch: tuple[Tensor, Tensor]) -> None:
        self._network, self._recipe, self._device = network, recipe, batch[0].device
        self._images, self._labels = (each.clone() for each in batch)
        self._graph = torch.cuda.CUDAGraph()
        with torch.cuda.device(self._device), _kept(network):
            stream = _side_stream(self._device)
            self._rehearse(stream)
            self._loss = self._record(stream)
            self._gradients = [(weight, weight.grad) for weight in network.parameters()]

    def __call__(self, batch: tuple[Tensor, Tensor], *, seed: int) -> Tensor:
        """Leave the gradient of a batch in the network, and give the loss: both are overwritten by the next call. The
        seed is of what the network drops."""
        self._images.copy_(batch[0])
        self._labels.copy_(batch[1])
        for weight, gradient in self._gradients:
            weight.grad = gradient
        set_chance(self._device, seed)
        self._graph.replay()
        return self._loss

    def close(self) -> None:
        """Let go the memory of the graph, the gradients in the network with it."""
        self._graph.reset()
        self._gradients.clear()
        self._network.zero_grad(set_to_none=True)

    def _rehearse(self, stream: torch.cuda.Stream) -> None:
        """Three times, as torch advises, so that libraries choose and allocate before the recording. The last time no
        operation may wait for the device, since a recording that fails for it is harder to clear away."""
        here = torch.cuda.current_stream()
        stream.wait_stream(here)
        try:
            with torch.cuda.stream(stream):
                for manner in (nullcontext(), nullcontext(), _waiting_refused()):
                    self._network.zero_grad(set_to_none=True)
                    with manner:
                        self._work()
        finally:
            here.wait_stream(stream)

    def _record(self, stream: torch.cuda.Stream) -> Tensor:
        generator = torch.cuda.default_generators[self._device.index]
        here, chance, pool = torch.cuda.current_stream(), generator.clone_state(), torch.cuda.graph_pool_handle()
        self._network.zero_grad(set_to_none=True)  # a gradient made while recording is written, not added to
        try:
            with torch.cuda.graph(self._graph, pool=pool, stream=stream, capture_error_mode="thread_local"):
                return self._work()
        except RuntimeError:  # torch leaves its stream, generator and allocator as in the midst of recording
            torch.cuda.set_stream(here)
            generator.graphsafe_set_state(chance)
            _FAILED.append(self._graph)
            with suppress(RuntimeError):
                torch._C._cuda_endAllocateToPool(self._device.index, pool)
                torch._C._cuda_releasePool(self._device.index, pool)
            raise

    def _work(self) -> Tensor:
        with computing(self._recipe, self._device):
            outputs = self._network(self._images)
        loss = recipe_loss(outputs, [(1.0, self._labels)], self._recipe)
        loss.backward()  # type: ignore[no-untyped-call]
        return loss.detach()


@cache
def _side_stream(device: torch.device) -> torch.cuda.Stream:
    """One for all recordings: cuBLAS keeps a workspace for every stream that it has seen."""
    return torch.cuda.Stream(device)  # type: ignore[no-untyped-call]


@contextmanager
def _kept(network: nn.Module) -> Iterator[None]:
    """Whatever happens inside, the buffers of a network are left as they were; if it fails, without gradients."""
    before = [(buffer, buffer.clone()) for buffer in network.buffers()]
    try:
        yield
    except BaseException:
        network.zero_grad(set_to_none=True)
        raise
    finally:
        with torch.no_grad():
            for buffer, value in before:
                buffer.copy_(value)


@contextmanager
def _waiting_refused() -> Iterator[None]:
    """Inside, an operation that makes the host wait for the device raises RuntimeError, as far as torch notices."""
    mode = torch.cuda.get_sync_debug_mode()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it says that it is a prototype
        torch.cuda.set_sync_debug_mode("error")
    try:
        yield
    finally:
        torch.cuda.set_sync_debug_mode(mode)
