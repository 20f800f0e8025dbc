"""How sharply the validation loss bends with the architecture parameters (Zela et al., 1909.09656): its dominant
eigenvalue rises before DARTS goes wrong."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from nasbed.oneshot.loss import Batch, supernet_loss
from nasbed.oneshot.spaces.base import Supernet
from nasbed.training.recipe import Recipe

if TYPE_CHECKING:
    from nasbed.oneshot.methods.base import Method


def dominant_eigenvalue(
    loss: Callable[[], Tensor],
    parameters: Sequence[Tensor],
    generator: torch.Generator,
    *,
    products: int = 40,
    tolerance: float = 1e-3,
) -> float:
    """The eigenvalue of largest magnitude of a loss's Hessian, which may be negative, from products of the Hessian and
    a vector alone.

    It is Lanczos's iteration: power iteration that remembers its vectors, and so needs a few products where the latter
    needs a hundred. It ends when the estimate changes by less than ``tolerance`` of itself, twice in a row, or after so
    many products. The generator is of the first vector, on the parameters' device.
    """
    moved = list(parameters)
    slopes = _flat(torch.autograd.grad(loss(), moved, create_graph=True, materialize_grads=True))
    if not slopes.requires_grad:
        return 0.0
    first = torch.randn(slopes.shape, generator=generator, dtype=slopes.dtype, device=slopes.device)
    basis = [first / torch.linalg.vector_norm(first)]
    images: list[Tensor] = []
    estimates: list[float] = []
    while len(images) < min(products, len(first)):
        found = torch.autograd.grad(slopes, moved, basis[-1], retain_graph=True, materialize_grads=True)
        images.append(_flat(found).detach())
        known = torch.stack(basis)
        projected = known @ torch.stack(images).T
        values = torch.linalg.eigvalsh(((projected + projected.T) / 2).double().cpu())
        estimates.append(float(values[values.abs().argmax()]))
        changes = [abs(after - before) for before, after in pairwise(estimates[-3:])]
        if len(changes) == 2 and max(changes) <= tolerance * abs(estimates[-1]):
            break
        rest = images[-1]
        for _ in range(2):  # once more for what rounding left
            rest = rest - known.T @ (known @ rest)
        length = torch.linalg.vector_norm(rest)
        if float(length) <= torch.finfo(rest.dtype).eps * max(abs(estimates[-1]), 1e-30):
            break
        basis.append(rest / length)
    return estimates[-1]


def search_eigenvalue(
    supernet: Supernet, method: Method, batch: Batch, recipe: Recipe, generator: torch.Generator
) -> float | None:
    """That of a search now, on one batch, weights fixed and by the method's mixing without chance; None for a method
    without parameters."""
    parameters = list(method.parameters())
    if not parameters:
        return None
    weights = {name: weight.detach() for name, weight in supernet.named_parameters()}
    return dominant_eigenvalue(
        lambda: supernet_loss(supernet, batch, method.expected(), recipe, weights), parameters, generator
    )


def _flat(tensors: Sequence[Tensor]) -> Tensor:
    return torch.cat([each.reshape(-1) for each in tensors])
