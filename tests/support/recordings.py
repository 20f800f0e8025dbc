"""A stand-in on a CPU for gradients that are recorded as CUDA graphs."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor, nn

from nasbed.training.cuda_graphs import Recording


class CpuGradientRecording(Recording):
    """Computes what a graph would replay, into gradients that stay the same tensors."""

    created = closed = 0

    def __init__(self, network: nn.Module, loss: Callable[..., Tensor], inputs: Sequence[Tensor]) -> None:
        self.device, self._loss = torch.device("cpu"), loss
        self._inputs = [tensor.clone() for tensor in inputs]
        self._weights = list(network.parameters())
        self.by_weights = [(weight, torch.full_like(weight, torch.nan)) for weight in self._weights]
        type(self).created += 1

    def __call__(self, *inputs: Tensor) -> Tensor:
        for own, value in zip(self._inputs, inputs, strict=True):
            own.copy_(value)
        self._forget()
        loss = self._work()
        for weight, gradient in self.by_weights:
            assert weight.grad is not None and gradient is not None
            weight.grad = gradient.copy_(weight.grad)
        return loss

    def close(self) -> None:
        type(self).closed += 1
