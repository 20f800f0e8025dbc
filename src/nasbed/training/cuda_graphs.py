"""Work of a network recorded once as a CUDA graph, then replayed: the kernels of a small network take less time than
launching them one by one."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from functools import cache
from typing import Any, TypeVar

import torch
from torch import Tensor, nn

_LOG = logging.getLogger(__name__)
Recorded = TypeVar("Recorded")

_FAILED: list[torch.cuda.CUDAGraph] = []
"""Recordings that failed: torch's allocators keep asking them whether they record, so they must not be freed."""


class Recording:
    """The loss of a network and its gradient, in one launch: by the weights of the network if ``weights``, and by those
    inputs that require one.

    ``loss`` computes it from the inputs, which are on one CUDA device. Recording takes them for their shapes alone, and
    leaves the buffers of the network as they were and its weights without gradients. What ``loss`` does in Python it
    does now and never again; what layers draw on the device they draw again each time. Recordings may share a ``pool``
    of memory if what one gives is used up before another is called.

    Args:
        network: The network whose weights and buffers ``loss`` uses.
        loss: Computes the loss from the inputs.
        inputs: Examples of the inputs, for their shapes.
        weights: Whether to compute the gradient by the weights.
        pool: The memory pool of another recording; None for a new one.
    """

    def __init__(
        self,
        network: nn.Module,
        loss: Callable[..., Tensor],
        inputs: Sequence[Tensor],
        *,
        weights: bool = True,
        pool: Any = None,
    ) -> None:
        self.device = inputs[0].device
        self._loss = loss
        self._inputs = [tensor.detach().clone().requires_grad_(tensor.requires_grad) for tensor in inputs]
        self._weights = [tensor for tensor in network.parameters() if tensor.requires_grad] if weights else []
        self._pool = torch.cuda.graph_pool_handle() if pool is None else pool
        self._graph = torch.cuda.CUDAGraph()
        with torch.cuda.device(self.device), buffers_kept(network):
            stream = _side_stream(self.device)
            self._rehearse(stream)
            self._value = self._record(stream)
            self.by_weights = [(weight, weight.grad) for weight in self._weights]
            self.by_inputs = [tensor.grad for tensor in self._inputs]
            self._forget()

    def __call__(self, *inputs: Tensor) -> Tensor:
        """The loss; it and the gradients, ``by_weights`` and ``by_inputs``, are overwritten by the next call."""
        with torch.no_grad():
            for buffer, value in zip(self._inputs, inputs, strict=True):
                buffer.copy_(value)
        self._graph.replay()
        return self._value

    def close(self) -> None:
        """Free the memory of the graph. Its gradients become invalid."""
        self._graph.reset()
        self.by_weights.clear()
        self.by_inputs.clear()

    def _rehearse(self, stream: torch.cuda.Stream) -> None:
        """Compute the loss three times, as torch advises, so that libraries choose and allocate before the recording.
        The last time an operation that waits for the device raises, since a failed recording is harder to clear
        away."""
        caller = torch.cuda.current_stream()
        stream.wait_stream(caller)
        try:
            with torch.cuda.stream(stream):
                for context in (nullcontext(), nullcontext(), _waiting_refused()):
                    self._forget()
                    with context:
                        self._work()
        finally:
            caller.wait_stream(stream)

    def _record(self, stream: torch.cuda.Stream) -> Tensor:
        generator = torch.cuda.default_generators[self.device.index]
        caller, chance = torch.cuda.current_stream(), generator.clone_state()
        self._forget()  # a gradient made while recording is written, not added to
        try:
            with torch.cuda.graph(self._graph, pool=self._pool, stream=stream, capture_error_mode="thread_local"):
                return self._work()
        except RuntimeError:  # torch leaves its stream, generator and allocator as in the midst of recording
            torch.cuda.set_stream(caller)
            generator.graphsafe_set_state(chance)
            _FAILED.append(self._graph)
            with suppress(RuntimeError):
                torch._C._cuda_endAllocateToPool(self.device.index, self._pool)
                torch._C._cuda_releasePool(self.device.index, self._pool)
            raise

    def _work(self) -> Tensor:
        with torch.enable_grad():
            loss = self._loss(*self._inputs)
            leaves = self._weights + [tensor for tensor in self._inputs if tensor.requires_grad]
            loss.backward(inputs=leaves)  # type: ignore[no-untyped-call]
        return loss.detach()

    def _forget(self) -> None:
        for leaf in (*self._weights, *self._inputs):
            leaf.grad = None


def recorded_if_possible(record: Callable[[], Recorded], work: str) -> Recorded | None:
    """What ``record`` makes, None where the work cannot be recorded. Then a warning says so, since each step takes
    longer."""
    try:
        return record()
    except RuntimeError as error:
        reason = str(error).partition("\n")[0][:200]
        _LOG.warning("%s cannot be recorded as a CUDA graph, so each step takes longer: %s", work, reason)
        return None


@contextmanager
def buffers_kept(network: nn.Module) -> Iterator[None]:
    """Restore the buffers of a network afterwards; after an error, clear its gradients."""
    previous_values = [(buffer, buffer.clone()) for buffer in network.buffers()]
    try:
        yield
    except BaseException:
        network.zero_grad(set_to_none=True)
        raise
    finally:
        with torch.no_grad():
            for buffer, value in previous_values:
                buffer.copy_(value)


@cache
def _side_stream(device: torch.device) -> torch.cuda.Stream:
    """One for all recordings: cuBLAS keeps a workspace for every stream that it has seen."""
    return torch.cuda.Stream(device)  # type: ignore[no-untyped-call]


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
