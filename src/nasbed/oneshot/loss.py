"""The loss that a supernet is trained on."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor
from torch.func import functional_call
from torch.nn import functional

from nasbed.oneshot.mixing import Mixing
from nasbed.oneshot.spaces.base import Supernet
from nasbed.training.precision import computing
from nasbed.training.recipe import Recipe

Batch = tuple[Tensor, Tensor]
"""Images and labels."""


def supernet_loss(
    supernet: Supernet, batch: Batch, mixing: Mixing, recipe: Recipe, weights: Mapping[str, Tensor] | None = None
) -> Tensor:
    """The cross entropy of a supernet, in nats.

    Args:
        supernet: The supernet.
        batch: Images and labels.
        mixing: How the supernet mixes its operations.
        recipe: Its precision.
        weights: Weights by name to use in place of the supernet's own.
    """
    images, labels = batch
    with computing(recipe, images.device):
        if weights is None:
            logits = supernet(images, mixing)
        else:
            logits = functional_call(supernet, dict(weights), (images, mixing))
    return functional.cross_entropy(logits if logits.dtype == torch.float64 else logits.float(), labels)
