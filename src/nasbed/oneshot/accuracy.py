"""The accuracy of a supernet."""

from __future__ import annotations

import math
from itertools import islice

import torch

from nasbed.oneshot.mixing import Mixing
from nasbed.oneshot.spaces.base import Supernet
from nasbed.training.accuracy import LEAST_BATCH
from nasbed.training.images import TrainingImages
from nasbed.training.precision import computing
from nasbed.training.recipe import Recipe

GPU_PIXELS = 2**20
"""About this many pixels of each channel are a batch on a GPU: enough that its kernels take longer than their
launch."""


def supernet_accuracy(
    supernet: Supernet, mixing: Mixing, images: TrainingImages, recipe: Recipe, *, limit: int | None = None
) -> float:
    """The accuracy of a supernet, in per cent; NaN if any output is not finite.

    Normalisations go by the batch, so all batches are about equally large. A GPU gets few large ones, which take it
    little more time than small ones. The accuracy there differs slightly from that on a CPU.

    Args:
        supernet: The supernet.
        mixing: How it mixes its operations.
        images: Those to classify.
        recipe: Its batch size and precision.
        limit: Use only the first ``limit`` images, rounded up to whole batches; None for all.
    """
    least = least_batch(images.labels.device, images.side, limit)
    batches = max(1, len(images) // max(recipe.batch, least))
    size = -(-len(images) // batches)
    batch_count = batches if limit is None else min(batches, -(-limit // size))
    right = torch.zeros((), dtype=torch.int64, device=images.labels.device)
    finite = torch.ones((), dtype=torch.bool, device=images.labels.device)
    count = 0
    supernet.eval()
    with torch.inference_mode():
        for batch, labels in islice(images.batches("train", size), batch_count):
            with computing(recipe, labels.device):
                logits = supernet(batch, mixing)
            right += (logits.argmax(dim=1) == labels).sum()
            finite &= torch.isfinite(logits).all()
            count += len(labels)
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
