"""The accuracy of a supernet."""

from __future__ import annotations

import math
from itertools import islice

import torch

from nasbed.oneshot.mixing import Mixing
from nasbed.oneshot.spaces.base import Supernet
from nasbed.training.accuracy import least_batch
from nasbed.training.images import TrainingImages
from nasbed.training.precision import computing
from nasbed.training.recipe import Recipe


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
