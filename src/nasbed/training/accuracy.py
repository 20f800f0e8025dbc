"""The accuracy of a network."""

from __future__ import annotations

import math

import torch
from torch import nn

from nasbed.core.errors import InvalidOption
from nasbed.training.images import TrainingImages
from nasbed.training.precision import computing
from nasbed.training.recipe import Recipe

LEAST_BATCH = 256


def check_validation(images: TrainingImages, recipe: Recipe) -> None:
    """Raise where a learning curve is asked for and no image is left to validate with."""
    if not len(images.split.valid):
        raise InvalidOption(
            f"a learning curve needs images to validate with, the recipe {recipe.name} leaves none; change its split"
        )


def accuracy(network: nn.Module, images: TrainingImages, part: str, recipe: Recipe) -> float | None:
    """The images of ``train``, ``valid`` or ``test`` that a network names correctly, in per cent.

    It is put into evaluation mode. The accuracy is NaN if any output is not finite, and None for a part without images.
    """
    network.eval()
    device = images.labels.device
    right = torch.zeros((), dtype=torch.int64, device=device)
    finite = torch.ones((), dtype=torch.bool, device=device)
    count = 0
    with torch.inference_mode():
        for batch, labels in images.batches(part, max(recipe.batch, LEAST_BATCH)):
            with computing(recipe, device):
                logits = network(batch)
            right += (logits.argmax(dim=1) == labels).sum()
            finite &= torch.isfinite(logits).all()
            count += len(labels)
    if not count:
        return None
    return 100 * int(right) / count if bool(finite) else math.nan
