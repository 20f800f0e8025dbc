"""The loss of a supernet recorded as CUDA graphs: its step is thousands of small kernels, which take far less time than
launching them one by one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from nasbed.oneshot.loss import Batch, supernet_loss
from nasbed.oneshot.mixing import Mixing
from nasbed.oneshot.spaces.base import Supernet
from nasbed.training.cuda_graphs import Recording, recorded_if_possible
from nasbed.training.recipe import Recipe

Kind = tuple[bool, bool, bool, torch.Size]
"""Whether a gradient is by weights and whether by the mixing, whether edges are weighed, and the shape of the
images."""


def is_captured(device: torch.device) -> bool:
    return device.type == "cuda"


class CapturedLoss:
    """The loss of one supernet. Each kind of gradient is recorded when it is first needed.

    The loss is None on a CPU, for a mixing that computes only selected operations, and after a recording has failed.
    A returned loss stays valid. Only the gradients in the supernet are overwritten by the next call.
    """

    def __init__(self, supernet: Supernet, recipe: Recipe) -> None:
        self._supernet, self._recipe = supernet, recipe
        self._recordings: dict[Kind, Recording] = {}
        self._failed = False
        self._pool: Any = None  # shared by all recordings, since only one runs at a time

    def weight_gradient(self, batch: Batch, mixing: Mixing) -> Tensor | None:
        """Store the gradient by the weights in the supernet, and return the loss."""
        recording = self._recording(batch, mixing, by_weights=True, by_mixing=False)
        if recording is None:
            return None
        for weight, gradient in recording.by_weights:
            weight.grad = gradient
        return recording(*batch, *_weighing(mixing)).clone()

    def loss(self, batch: Batch, mixing: Mixing, weights: Mapping[str, Tensor] | None = None) -> Tensor | None:
        """A loss from which first gradients flow to the mixing and to these weights, where they require one."""
        parameters = {} if weights is None else dict(self._supernet.named_parameters())
        replacements = [] if weights is None else [weights[name] for name in parameters]
        by_weights = any(tensor.requires_grad for tensor in replacements)
        by_mixing = any(tensor.requires_grad for tensor in _weighing(mixing))
        recording = self._recording(batch, mixing, by_weights=by_weights, by_mixing=by_mixing)
        if recording is None:
            return None
        own: list[Tensor] = list(parameters.values())
        with torch.no_grad():
            if replacements:
                previous_weights = list(torch._foreach_mul(own, 1.0))
                torch._foreach_copy_(own, [weight.detach() for weight in replacements])
                value = recording(*batch, *_weighing(mixing))
                torch._foreach_copy_(own, previous_weights)
            else:
                value = recording(*batch, *_weighing(mixing))
        gradients = {id(weight): gradient for weight, gradient in recording.by_weights}
        slopes = [
            *recording.by_inputs[len(batch) :],
            *(gradients.get(id(weight)) for weight in own[: len(replacements)]),
        ]
        inputs = [*_weighing(mixing), *replacements]
        loss: Tensor = _PrecomputedGradient.apply(value, _copied(slopes), *inputs)  # type: ignore[no-untyped-call]
        return loss

    def close(self) -> None:
        """Free the memory of the recordings and the gradients in the supernet."""
        for recording in self._recordings.values():
            recording.close()
        if self._recordings:
            self._supernet.zero_grad(set_to_none=True)
        self._recordings.clear()

    def _recording(self, batch: Batch, mixing: Mixing, *, by_weights: bool, by_mixing: bool) -> Recording | None:
        if self._failed or mixing.selected is not None or not is_captured(batch[0].device):
            return None
        if not (by_weights or by_mixing):
            return None
        kind = (by_weights, by_mixing, mixing.edges is not None, batch[0].shape)
        if kind not in self._recordings:
            recording = recorded_if_possible(
                lambda: self._record(batch, mixing, by_weights=by_weights, by_mixing=by_mixing), "this search"
            )
            if recording is None:
                self._failed = True
                self.close()
                return None
            self._recordings[kind] = recording
        return self._recordings[kind]

    def _record(self, batch: Batch, mixing: Mixing, *, by_weights: bool, by_mixing: bool) -> Recording:
        def loss(images: Tensor, labels: Tensor, operations: Tensor, edges: Tensor | None = None) -> Tensor:
            return supernet_loss(self._supernet, (images, labels), Mixing(operations, edges), self._recipe)

        weighing = [tensor.detach().requires_grad_(by_mixing) for tensor in _weighing(mixing)]
        if self._pool is None:
            self._pool = torch.cuda.graph_pool_handle()
        return Recording(self._supernet, loss, [*batch, *weighing], weights=by_weights, pool=self._pool)


class _PrecomputedGradient(torch.autograd.Function):
    """A number whose gradients by its inputs are computed beforehand."""

    @staticmethod
    def forward(ctx: Any, value: Tensor, slopes: Sequence[Tensor | None], *by: Tensor) -> Tensor:
        ctx.slopes = slopes
        return value.clone()

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        slopes = [slope for slope in ctx.slopes if slope is not None]
        scaled = iter(torch._foreach_mul(slopes, gradients[0]))
        return None, None, *(None if slope is None else next(scaled) for slope in ctx.slopes)


def _weighing(mixing: Mixing) -> list[Tensor]:
    return [mixing.operations] if mixing.edges is None else [mixing.operations, mixing.edges]


def _copied(tensors: Sequence[Tensor | None]) -> list[Tensor | None]:
    copies = iter(torch._foreach_mul([tensor for tensor in tensors if tensor is not None], 1.0))
    return [None if tensor is None else next(copies) for tensor in tensors]
