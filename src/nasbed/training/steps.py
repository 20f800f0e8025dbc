"""One step of a training: images mixed, a loss, its gradient, the weights moved."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from nasbed.core.errors import InvalidOption
from nasbed.training.devices import set_chance
from nasbed.training.mixup import mixup
from nasbed.training.optimizers import set_rate
from nasbed.training.precision import computing
from nasbed.training.recipe import Recipe
from nasbed.training.sharpness import sharpness_aware_gradient

Targets = Sequence[tuple[float, Tensor]]
"""Labels, and their share of the loss."""


def recipe_loss(outputs: Any, targets: Targets, recipe: Recipe) -> Tensor:
    """The loss that a recipe trains on: cross entropy in nats with smoothed labels, that of an auxiliary classifier
    added with its weight."""
    logits, *more = outputs if isinstance(outputs, tuple) else (outputs,)
    loss = _cross_entropy(logits, targets, recipe)
    if not recipe.auxiliary_weight:
        return loss
    if not more:
        raise InvalidOption(
            f"the recipe {recipe.name} has an auxiliary_weight, the network gives no auxiliary logits beside its "
            "logits; set the weight to 0"
        )
    return loss + recipe.auxiliary_weight * _cross_entropy(more[0], targets, recipe)


def correct_predictions(outputs: Any, labels: Tensor) -> Tensor:
    """How many images a network classifies correctly, as a tensor on their device; an auxiliary classifier does not
    count."""
    logits: Tensor = outputs[0] if isinstance(outputs, tuple) else outputs
    return (logits.argmax(dim=1) == labels).sum()


def _cross_entropy(logits: Tensor, targets: Targets, recipe: Recipe) -> Tensor:
    terms = [
        share * functional.cross_entropy(logits.float(), labels, label_smoothing=recipe.label_smoothing)
        for share, labels in targets
    ]
    return terms[0] if len(terms) == 1 else terms[0] + terms[1]


def step(
    network: nn.Module,
    optimizer: torch.optim.Optimizer,
    recipe: Recipe,
    batch: tuple[Tensor, Tensor],
    *,
    rate: float,
    seeds: tuple[int, int],
) -> tuple[Tensor, Tensor]:
    """Move the weights once, and return the loss and the number of correct predictions before the step.

    Of mixed images the label with the larger share is the correct one.

    Args:
        network: The network in training mode.
        optimizer: What moves its weights.
        recipe: How to train.
        batch: Images and labels.
        rate: The learning rate of the step.
        seeds: Of how images are mixed, and of what the network drops; torch's own generator is set to the second.
    """
    images, labels = batch
    device = images.device
    targets: Targets = [(1.0, labels)]
    if recipe.mixup:
        mixed = mixup(images, labels, recipe.mixup, torch.Generator().manual_seed(seeds[0]))
        images, targets = mixed.images, [(mixed.share, mixed.labels), (1 - mixed.share, mixed.partner_labels)]
        labels = mixed.labels if mixed.share >= 0.5 else mixed.partner_labels
    correct: list[Tensor] = []

    def loss() -> Tensor:
        set_chance(device, seeds[1])
        with computing(recipe, device):
            outputs = network(images)
        correct.append(correct_predictions(outputs, labels))
        return recipe_loss(outputs, targets, recipe)

    optimizer.zero_grad(set_to_none=True)
    if recipe.sharpness_radius:
        value = sharpness_aware_gradient(network, recipe.sharpness_radius, loss)
    else:
        value = loss()
        value.backward()  # type: ignore[no-untyped-call]
    move(optimizer, recipe, rate=rate)
    return value.detach(), correct[0]  # sharpness-aware minimisation computes the loss a second time, elsewhere


def move(optimizer: torch.optim.Optimizer, recipe: Recipe, *, rate: float) -> None:
    """Move the weights by the gradient that they have, clipped as the recipe says."""
    set_rate(optimizer, rate)
    if recipe.gradient_clip is not None:
        weights = [weight for group in optimizer.param_groups for weight in group["params"]]
        nn.utils.clip_grad_norm_(weights, recipe.gradient_clip)
    optimizer.step()
