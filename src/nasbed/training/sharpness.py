"""Sharpness-aware minimisation (Foret et al., 2021): the gradient from where the loss is worst nearby."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn

TINY = 1e-12
"""Keeps a gradient of zero from being divided by its length."""


def sharpness_aware_gradient(network: nn.Module, radius: float, loss: Callable[[], Tensor]) -> Tensor:
    """Store in the network the gradient at weights that are moved by ``radius`` along their gradient, and return the
    loss before the move. The weights end as they were. ``loss`` is computed twice, of one batch; the statistics of
    batch normalisations follow only the first.
    """
    first_loss = loss()
    first_loss.backward()  # type: ignore[no-untyped-call]
    weights = [weight for weight in network.parameters() if weight.grad is not None]
    original = [weight.detach().clone() for weight in weights]
    with torch.no_grad():
        gradients = [weight.grad for weight in weights if weight.grad is not None]
        length = torch.stack([gradient.norm() for gradient in gradients]).norm()
        for weight, gradient in zip(weights, gradients, strict=True):
            weight.add_(gradient * (radius / (length + TINY)))
    network.zero_grad(set_to_none=True)
    with statistics_kept(network):
        loss().backward()  # type: ignore[no-untyped-call]
    with torch.no_grad():
        for weight, value in zip(weights, original, strict=True):
            weight.copy_(value)
    return first_loss.detach()


@contextmanager
def statistics_kept(network: nn.Module) -> Iterator[None]:
    """Inside, batch normalisations use the statistics of their batch, as while training, and remember none."""
    norms = [
        module
        for module in network.modules()
        if isinstance(module, nn.modules.batchnorm._NormBase) and module.track_running_stats
    ]
    for norm in norms:
        norm.track_running_stats = False
    try:
        yield
    finally:
        for norm in norms:
            norm.track_running_stats = True
