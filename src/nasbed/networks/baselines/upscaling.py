"""Images that are too small for a network, made as large as it needs."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn
from torch.nn import functional

from nasbed.core.errors import InvalidOption
from nasbed.networks.baselines.vision import USUAL_CHANNELS
from nasbed.networks.shapes import shapes_only

if TYPE_CHECKING:
    from nasbed.networks.baselines import BaselineBuilder

MOST = 256
"""A network that cannot use this many pixels a side fails for another reason."""


class Upscaled(nn.Module):
    """A network for images of one size; smaller images are enlarged to it by repeating pixels. So a letter or a chess
    piece that is one pixel of value 1 stays a patch of ones."""

    def __init__(self, network: nn.Module, size: tuple[int, int]) -> None:
        super().__init__()
        self.network = network
        self.size = size

    def forward(self, images: Tensor) -> Tensor:
        logits: Tensor = self.network(functional.interpolate(images, size=self.size, mode="nearest"))
        return logits

    def extra_repr(self) -> str:
        return f"size={self.size}"


def enlarged(builder: BaselineBuilder, *, classes: int, channels_in: int, image: tuple[int, int]) -> nn.Module:
    """The network for such images, behind an :class:`Upscaled` only where it needs one."""
    network = builder(classes=classes, channels_in=channels_in)
    size = seen_size(builder, image)
    return network if size == image else Upscaled(network, size)


def seen_size(builder: BaselineBuilder, image: tuple[int, int]) -> tuple[int, int]:
    """Height and width at which a network sees images of a size."""
    least = least_side(builder)  # type: ignore[arg-type]
    return max(image[0], least), max(image[1], least)


@cache
def least_side(builder: BaselineBuilder) -> int:
    """The side of the smallest square image that a network takes, found on the meta device: no number is computed.

    Height and width shrink independently of each other, so neither side of another image may be shorter.
    """
    with shapes_only(), torch.no_grad():
        trial = builder(classes=1, channels_in=USUAL_CHANNELS)
        error = _fails(trial, MOST)
        if error is not None:
            raise InvalidOption(f"this baseline does not take images of {MOST} × {MOST} pixels: {error}")
        if _fails(trial, 1) is None:
            return 1
        low, high = 1, MOST
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if _fails(trial, middle) else (low, middle)
        return high


def _fails(trial: nn.Module, side: int) -> str | None:
    """Why a training pass over two images fails; None if it does not."""
    try:
        trial(torch.empty(2, USUAL_CHANNELS, side, side))
    except (RuntimeError, ValueError, ZeroDivisionError) as error:
        return (str(error) or type(error).__name__).splitlines()[0][:120]
    return None
