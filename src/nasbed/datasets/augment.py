"""Changes of image batches for training, on torch tensors ``[n, channels, height, width]`` of any device.

Every draw comes from the generator that is passed in: the same generator state gives the same batch. Draws are made on
the generator's device and then moved to the images'.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional

from nasbed.core.errors import InvalidOption


class Mixed(NamedTuple):
    """What :func:`mixup` gives. The loss is ``share`` times that of ``labels`` plus the rest times that of
    ``others``."""

    images: Tensor
    labels: Tensor
    others: Tensor
    share: float


def normalise(images: Tensor, mean: Sequence[float], std: Sequence[float], *, scale: float = 255.0) -> Tensor:
    """float32 images with mean 0 and deviation 1 a channel: divided by ``scale``, then by what a ``Dataset`` tells. A
    channel that is the same everywhere is only centred."""
    middle = torch.tensor(mean, dtype=torch.float32, device=images.device).view(1, -1, 1, 1)
    spread = torch.tensor([each or 1.0 for each in std], dtype=torch.float32, device=images.device).view(1, -1, 1, 1)
    return (images.to(torch.float32) / scale - middle) / spread


def random_crop(images: Tensor, padding: int, generator: torch.Generator) -> Tensor:
    """Each image, with a border of ``padding`` zeros, cut to its size again at a place of its own."""
    if padding < 0:
        raise InvalidOption(f"a padding is 0 or more pixels, got {padding}")
    count, channels, height, width = images.shape
    tops, lefts = _draws(2 * padding + 1, (2, count), generator, images)
    rows = (tops[:, None] + torch.arange(height, device=images.device))[:, None, :, None]
    columns = (lefts[:, None] + torch.arange(width, device=images.device))[:, None, None, :]
    bordered = functional.pad(images, (padding,) * 4)
    every = torch.arange(count, device=images.device).view(-1, 1, 1, 1)
    each = torch.arange(channels, device=images.device).view(1, -1, 1, 1)
    return bordered[every, each, rows, columns]


def random_flip(images: Tensor, generator: torch.Generator) -> Tensor:
    """Each image as it is or mirrored left to right, with equal chance."""
    mirrored = _draws(2, (len(images), 1, 1, 1), generator, images).bool()
    return torch.where(mirrored, images.flip(3), images)


def cutout(images: Tensor, side: int, generator: torch.Generator) -> Tensor:
    """Each image with a square of zeros whose centre is any pixel, so that it may reach over the edge (DeVries and
    Taylor, 2017). It begins ``side // 2`` before the centre."""
    if side < 0:
        raise InvalidOption(f"the side of a cut-out is 0 or more pixels, got {side}")
    count, _, height, width = images.shape
    inside = []
    for length in (height, width):
        first = _draws(length, (count, 1), generator, images) - side // 2
        places = torch.arange(length, device=images.device)
        inside.append((places >= first) & (places < first + side))
    rows, columns = inside
    return images.masked_fill((rows[:, :, None] & columns[:, None, :])[:, None], 0)


def mixup(images: Tensor, labels: Tensor, alpha: float, generator: torch.Generator) -> Mixed:
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
    return Mixed(share * images + (1 - share) * images[order], labels, labels[order], share)


def _beta(alpha: float, level: float) -> float:
    """The quantile of Beta(alpha, alpha): torch draws from it with no generator of ours."""
    from scipy.special import betaincinv

    return float(betaincinv(alpha, alpha, level))


def _draws(below: int, shape: tuple[int, ...], generator: torch.Generator, images: Tensor) -> Tensor:
    return torch.randint(below, shape, generator=generator, device=generator.device).to(images.device)
