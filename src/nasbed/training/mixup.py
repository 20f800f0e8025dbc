"""MixUp: images of a batch mixed with each other.

Every draw comes from the generator that is passed in: the same generator state gives the same batch. Draws are made on
the generator's device and then moved to the images'.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from nasbed.core.errors import InvalidOption


class MixedBatch(NamedTuple):
    """What :func:`mixup` gives. The loss is ``share`` times that of ``labels`` plus the rest times that of
    ``partner_labels``."""

    images: Tensor
    labels: Tensor
    partner_labels: Tensor
    share: float


def mixup(images: Tensor, labels: Tensor, alpha: float, generator: torch.Generator) -> MixedBatch:
    """Each image mixed with another of its batch, in one proportion drawn from Beta(alpha, alpha) (Zhang et al., 2018).

    ``images`` are floats. ``alpha`` 0 mixes nothing.
    """
    if alpha < 0:
        raise InvalidOption(f"alpha of MixUp is 0 or more, got {alpha}")
    if not images.is_floating_point():
        raise InvalidOption(f"MixUp mixes floats, got {images.dtype}; normalise the images first")
    order = torch.randperm(len(images), generator=generator, device=generator.device).to(images.device)
    level = float(torch.rand((), dtype=torch.float64, generator=generator, device=generator.device))
    share = _beta(alpha, level) if alpha else 1.0
    return MixedBatch(share * images + (1 - share) * images[order], labels, labels[order], share)


def _beta(alpha: float, level: float) -> float:
    """The quantile of Beta(alpha, alpha): torch draws from it with no generator of ours."""
    from scipy.special import betaincinv

    return float(betaincinv(alpha, alpha, level))
