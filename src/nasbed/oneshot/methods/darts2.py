"""DARTS, second order: the weights are taken one training step further before the validation loss is judged."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from nasbed.oneshot.methods.darts import DartsMethod
from nasbed.oneshot.spaces.base import SearchedSpace
from nasbed.oneshot.steps import Step

Loss = Callable[[Sequence[Tensor]], Tensor]
"""A loss at some weights and at the architecture parameters as they are."""


class Darts2(DartsMethod):
    """``radius`` is that of the finite difference: its step is this divided by the norm of the gradient."""

    def __init__(self, space: SearchedSpace, *, radius: float = 0.01, **settings: Any) -> None:
        super().__init__(space, **settings)
        self.radius = radius

    def gradients(self, step: Step) -> list[Tensor]:
        parameters = dict(step.supernet.named_parameters())
        state = step.optimizer.state

        def loss(batch: tuple[Tensor, Tensor]) -> Loss:
            return lambda weights: step.loss(batch, self.expected(), dict(zip(parameters, weights, strict=True)))

        return unrolled_gradient(
            loss(step.train),
            loss(step.valid),
            [weight.detach() for weight in parameters.values()],
            list(self.parameters()),
            velocities=[state[weight].get("momentum_buffer") for weight in parameters.values()],
            rate=step.rate,
            momentum=step.recipe.momentum,
            weight_decay=step.recipe.weight_decay,
            radius=self.radius,
        )


def unrolled_gradient(
    train: Loss,
    valid: Loss,
    weights: Sequence[Tensor],
    parameters: Sequence[Tensor],
    *,
    rate: float,
    velocities: Sequence[Tensor | None] | None = None,
    momentum: float = 0.0,
    weight_decay: float = 0.0,
    radius: float = 0.01,
) -> list[Tensor]:
    """The gradient of the validation loss by architecture parameters, at the weights that one step of SGD would give.

    DARTS, equations 7 and 8. The product of a second derivative and the gradient at those weights is a difference of
    two first derivatives. The step has the momentum and weight decay of the weights' optimizer, but no clipping. Where
    the loss does not depend on a parameter, its gradient is zeros.

    Args:
        train: The training loss.
        valid: The validation loss.
        weights: The weights of the supernet.
        parameters: The architecture parameters.
        rate: The learning rate of the step.
        velocities: The momentum buffer of each weight, None where there is none yet.
        momentum: Of the step.
        weight_decay: Of the step.
        radius: For the finite difference the weights move to either side by this divided by the gradient's norm.
    """
    fixed = [weight.detach() for weight in weights]
    current = [weight.detach().requires_grad_() for weight in weights]
    moved = torch._foreach_add(_gradients(train(current), current), torch._foreach_mul(fixed, weight_decay))
    moving = [place for place, velocity in enumerate(velocities or ()) if velocity is not None]
    if velocities is not None and moving:
        going = torch._foreach_mul([velocities[place] for place in moving], momentum)  # type: ignore[misc]
        torch._foreach_add_([moved[place] for place in moving], going)
    stepped = _laid_out_as(fixed, torch._foreach_sub(fixed, torch._foreach_mul(moved, rate)))
    unrolled = [weight.requires_grad_() for weight in stepped]
    gradients = _gradients(valid(unrolled), [*parameters, *unrolled])
    direct, ahead = gradients[: len(parameters)], gradients[len(parameters) :]
    size = radius / torch.linalg.vector_norm(torch.stack(torch._foreach_norm(ahead)))
    sides = []
    for sign in (1, -1):
        aside = torch._foreach_add(fixed, torch._foreach_mul(ahead, sign * size))
        sides.append(_gradients(train(_laid_out_as(fixed, aside)), parameters))
    return [own - rate * (plus - minus) / (2 * size) for own, plus, minus in zip(direct, *sides, strict=True)]


def _gradients(loss: Tensor, by: Sequence[Tensor]) -> list[Tensor]:
    gradients = torch.autograd.grad(loss, list(by), allow_unused=True)
    return _laid_out_as(
        by,
        [
            torch.zeros_like(tensor) if gradient is None else gradient
            for tensor, gradient in zip(by, gradients, strict=True)
        ],
    )


def _laid_out_as(tensors: Sequence[Tensor], values: Sequence[Tensor]) -> list[Tensor]:
    """The values in the memory layout of these tensors: that of maps, and the rounding of sums, depend on it."""
    return [
        value if value.stride() == tensor.stride() else torch.empty_like(tensor).copy_(value)
        for tensor, value in zip(tensors, values, strict=True)
    ]
