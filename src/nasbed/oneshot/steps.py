"""One step of a search: the loss of a supernet, the weights moved, the architecture parameters moved."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from nasbed.oneshot.cuda_graph_loss import CapturedLoss
from nasbed.oneshot.loss import Batch, supernet_loss
from nasbed.oneshot.mixing import Mixing
from nasbed.oneshot.random_streams import Chance
from nasbed.oneshot.spaces.base import Supernet
from nasbed.training.recipe import Recipe
from nasbed.training.steps import move

if TYPE_CHECKING:
    from nasbed.oneshot.methods.base import SupernetMethod


@dataclass(frozen=True, slots=True)
class Step:
    """The inputs of a method's parameter update: the supernet and the optimizer of its weights, a batch of each half of
    the images, the learning rate of the weights, and a random generator. Nothing in it waits for a device.

    ``captured`` computes the same loss faster where it can."""

    supernet: Supernet
    optimizer: torch.optim.Optimizer
    recipe: Recipe
    train: Batch
    valid: Batch
    rate: float
    chance: Chance
    captured: CapturedLoss | None = None

    def loss(self, batch: Batch, mixing: Mixing, weights: Mapping[str, Tensor] | None = None) -> Tensor:
        """Cross entropy in nats of the supernet, or of what it would be with other weights, by their names. First
        gradients flow to the mixing and to the weights that are named; those of the supernet count as constant."""
        loss = None if self.captured is None else self.captured.loss(batch, mixing, weights)
        return supernet_loss(self.supernet, batch, mixing, self.recipe, weights) if loss is None else loss


def weight_step(step: Step, mixing: Mixing) -> Tensor:
    """Move the weights once, and return the loss before the step. Weights of operations that were not computed stay."""
    step.optimizer.zero_grad(set_to_none=True)
    loss = None if step.captured is None else step.captured.weight_gradient(step.train, mixing)
    if loss is None:
        loss = supernet_loss(step.supernet, step.train, mixing, step.recipe)
        loss.backward()  # type: ignore[no-untyped-call]
    move(step.optimizer, step.recipe, rate=step.rate)
    return loss.detach()


def architecture_step(step: Step, method: SupernetMethod, optimizer: torch.optim.Optimizer) -> None:
    """Move the architecture parameters once."""
    gradients = method.gradients(step)
    for parameter, gradient in zip(method.parameters(), gradients, strict=True):
        parameter.grad = gradient
    optimizer.step()
