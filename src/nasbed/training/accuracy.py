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
MOST_BATCH = 1024
"""Images that a network classifies at a time, unless its recipe has more; networks that enlarge them need memory."""
GPU_PIXELS = 2**20
"""About this many pixels of each channel are a batch on a GPU: enough that its kernels take longer than their
launch."""


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
    size = max(recipe.batch, least_batch(device, images.side, MOST_BATCH))
    with torch.inference_mode():
        for batch, labels in images.batches(part, size):
            with computing(recipe, device):
                logits = network(batch)
            right += (logits.argmax(dim=1) == labels).sum()
            finite &= torch.isfinite(logits).all()
            count += len(labels)
    if not count:
        return None
    return 100 * int(right) / count if bool(finite) else math.nan


def least_batch(device: torch.device, side: tuple[int, int], limit: int | None = None) -> int:
    """How many images of a height and width are evaluated at a time, on a CPU or GPU.

    >>> least_batch(torch.device("cpu"), (32, 32)), least_batch(torch.device("cuda"), (32, 32))
    (256, 1024)
    """
    if device.type == "cpu":
        return LEAST_BATCH
    least = max(LEAST_BATCH, GPU_PIXELS // (side[0] * side[1]))
    return least if limit is None else min(least, max(LEAST_BATCH, limit))
