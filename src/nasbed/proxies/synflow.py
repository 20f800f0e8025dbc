"""Synaptic flow."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn

from nasbed.core.errors import InvalidMeasurement
from nasbed.proxies.base import defined
from nasbed.proxies.passes import Passes

_NORMALISING = nn.modules.batchnorm._BatchNorm


@defined("synflow", summary="log of the synaptic flow")
def synflow(passes: Passes) -> float:
    """log Σ |w ∂R/∂w| over the weights of convolutions and linear layers, R being the sum of the outputs for one image
    of ones. It is computed in double precision and evaluation mode, without batch normalisation, with every parameter
    and buffer replaced by its absolute value. Neither images nor labels matter, only their shape.

    Tanaka et al., Pruning neural networks without any data by iteratively conserving synaptic flow, NeurIPS 2020; for a
    network in Abdelfattah et al., Zero-cost proxies for lightweight NAS, ICLR 2021. The published suite gives the
    logarithm too.
    """
    parameters = {name: tensor.detach().double().abs().requires_grad_() for name, tensor in passes.parameters.items()}
    buffers = {name: _positive(tensor) for name, tensor in passes.network.named_buffers()}
    names = [f"{layer}.weight" if layer else "weight" for layer in passes.weights]
    ones = torch.ones(1, *passes.images.shape[1:], dtype=torch.double, device=passes.images.device)
    with _unnormalised(passes.network):
        flow = passes.run(ones, training=False, parameters=parameters, buffers=buffers).sum()
    if not torch.isfinite(flow):
        raise InvalidMeasurement("the flow is too large for a number")
    if not flow.requires_grad:
        raise InvalidMeasurement("no weight has a gradient")
    gradients = torch.autograd.grad(flow, [parameters[name] for name in names], allow_unused=True)
    present = {
        name: (parameters[name].detach() * tensor).abs().sum()
        for name, tensor in zip(names, gradients, strict=True)
        if tensor is not None
    }
    passes.remark_missing(present)
    total = float(sum(present.values()))
    if not total > 0 or math.isinf(total):
        raise InvalidMeasurement(f"the flow is {total}, which has no logarithm")
    return math.log(total)


@contextmanager
def _unnormalised(network: nn.Module) -> Iterator[None]:
    """Inside the context, batch normalisation returns its input."""
    changed = [module for module in network.modules() if isinstance(module, _NORMALISING)]
    previous = [{"forward": vars(module)["forward"]} if "forward" in vars(module) else {} for module in changed]
    for module in changed:
        vars(module)["forward"] = _unchanged
    try:
        yield
    finally:
        for module, original in zip(changed, previous, strict=True):
            del vars(module)["forward"]
            vars(module).update(original)


def _unchanged(x: Tensor) -> Tensor:
    return x


def _positive(buffer: Tensor) -> Tensor:
    return buffer.double().abs() if buffer.is_floating_point() else buffer.clone()
