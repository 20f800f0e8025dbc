"""The curvature of the validation loss in the architecture parameters (Zela et al., 1909.09656). Its dominant
eigenvalue rises before DARTS degenerates."""

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
    from nasbed.oneshot.methods.base import SupernetMethod


def dominant_eigenvalue(
    loss: Callable[[], Tensor],
    parameters: Sequence[Tensor],
    generator: torch.Generator,
    *,
    products: int = 40,
    tolerance: float = 1e-3,
) -> float:
    """The eigenvalue of largest magnitude of a loss's Hessian; it may be negative.

    Lanczos's iteration needs only products of the Hessian and a vector. It keeps its vectors, and so takes a few
    products where power iteration takes a hundred.

    Args:
        loss: Computes the loss.
        parameters: What the Hessian is by.
        generator: Draws the first vector; on the parameters' device.
        products: The largest number of products.
        tolerance: The iteration ends when two successive relative changes of the estimate are at most this.
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
        product = torch.autograd.grad(slopes, moved, basis[-1], retain_graph=True, materialize_grads=True)
        images.append(_flat(product).detach())
        vectors = torch.stack(basis)
        projected = vectors @ torch.stack(images).T
        values = torch.linalg.eigvalsh(((projected + projected.T) / 2).double().cpu())
        estimates.append(float(values[values.abs().argmax()]))
        changes = [abs(later - earlier) for earlier, later in pairwise(estimates[-3:])]
        if len(changes) == 2 and max(changes) <= tolerance * abs(estimates[-1]):
            break
        residual = images[-1]
        for _ in range(2):  # the second time removes what rounding left
            residual = residual - vectors.T @ (vectors @ residual)
        length = torch.linalg.vector_norm(residual)
        if float(length) <= torch.finfo(residual.dtype).eps * max(abs(estimates[-1]), 1e-30):
            break
        basis.append(residual / length)
    return estimates[-1]


def search_eigenvalue(
    supernet: Supernet, method: SupernetMethod, batch: Batch, recipe: Recipe, generator: torch.Generator
) -> float | None:
    """The dominant eigenvalue of a search in its present state; None for a method without parameters.

    Args:
        supernet: The supernet, whose weights are fixed.
        method: The method, whose expected mixing is used.
        batch: The validation images and labels.
        recipe: The recipe of the search.
        generator: Draws the first vector.
    """
    parameters = list(method.parameters())
    if not parameters:
        return None
    weights = {name: weight.detach() for name, weight in supernet.named_parameters()}
    return dominant_eigenvalue(
        lambda: supernet_loss(supernet, batch, method.expected(), recipe, weights), parameters, generator
    )


def _flat(tensors: Sequence[Tensor]) -> Tensor:
    return torch.cat([tensor.reshape(-1) for tensor in tensors])
