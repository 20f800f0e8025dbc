"""Networks placed for training on a CPU: the reference is the same network as it is built, in float64."""

from __future__ import annotations

from copy import deepcopy

import pytest

pytest.importorskip("torch", reason="needs torch")

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from nasbed import space
from nasbed.networks import NETWORKS, build
from nasbed.networks.trimming import TrimmedConvolution
from nasbed.training.devices import threads_used
from nasbed.training.placement.network import place_network

CPU = torch.device("cpu")
SIDES = (9, 6)


def gradient(network: nn.Module, dtype: torch.dtype) -> torch.Tensor:
    """The gradient of a loss without kinks: at those, rounding decides."""
    generator = torch.Generator().manual_seed(0)
    images = torch.randn(16, 2, *SIDES, generator=generator, dtype=torch.float64).to(dtype)
    for module in network.modules():
        if isinstance(module, nn.ReLU):
            module.forward = functional.softplus  # type: ignore[method-assign]
        if isinstance(module, nn.MaxPool2d):
            pool = nn.AvgPool2d(module.kernel_size, module.stride, module.padding)
            module.forward = pool.forward  # type: ignore[method-assign]
    network.to(dtype)(images).square().sum().backward()
    parts = [weight.grad.double().flatten() for weight in network.parameters() if weight.grad is not None]
    return torch.cat(parts)


@pytest.mark.parametrize("name", list(NETWORKS))
def test_placed_network_has_the_gradient_of_the_plain_one(name: str) -> None:
    plain = build(space(name).sample(np.random.default_rng(0)), classes=3, channels_in=2, image=SIDES)
    placed = place_network(deepcopy(plain), CPU)
    with threads_used(1):
        exact, rounded = gradient(plain, torch.float64), gradient(placed, torch.float32)
    error = torch.linalg.vector_norm(rounded - exact) / torch.linalg.vector_norm(exact)
    assert error < 1e-3


def test_placed_network_has_channels_last_and_keeps_its_weights() -> None:
    plain = build(space("darts").sample(np.random.default_rng(0)), image=8)
    placed = place_network(deepcopy(plain), CPU)
    for (name, weight), (other, value) in zip(plain.state_dict().items(), placed.state_dict().items(), strict=True):
        assert name == other and torch.equal(weight, value)
        assert value.dim() < 4 or value.is_contiguous(memory_format=torch.channels_last)
    assert all(type(module) is TrimmedConvolution for module in placed.modules() if isinstance(module, nn.Conv2d))
