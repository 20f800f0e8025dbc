"""Samples of Dirichlet distributions through which gradients flow, from a generator that is passed in.

torch.distributions has the same samples with the same derivatives, from torch's own generator alone."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor


class _Dirichlet(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, concentration: Tensor, generator: torch.Generator) -> Tensor:
        sample = torch._sample_dirichlet(concentration, generator=generator)
        ctx.save_for_backward(sample, concentration)
        return sample

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None]:
        sample, concentration = ctx.saved_tensors
        (gradient,) = gradients
        total = concentration.sum(-1, keepdim=True).expand_as(concentration)
        slope = torch._dirichlet_grad(sample, concentration, total)
        return slope * (gradient - (sample * gradient).sum(-1, keepdim=True)), None


def dirichlet(concentration: Tensor, generator: torch.Generator) -> Tensor:
    """One sample of each distribution, whose concentrations are the last dimension."""
    sample: Tensor = _Dirichlet.apply(concentration, generator)  # type: ignore[no-untyped-call]
    return sample
