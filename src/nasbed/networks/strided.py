"""Strided convolutions with kernels of one pixel: on a CPU the pixels that they read are taken first.

torch computes the gradient of such kernels by oneDNN. On maps with fewer channels than a vector register has places,
8 or 16, and with the channels last in memory, that writes past its memory (github.com/uxlfoundation/oneDNN/issues/6035,
open in torch 2.13). Trainings then crash, hang or get other gradients. To take the pixels is faster too
(``python benchmarks/cpu_training.py strided``).
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

Pair = tuple[int, int]


def taken_pixels(maps: Tensor, stride: Pair) -> Tensor:
    """Every so many pixels of maps, from the first one on, downwards and to the right. Channels that are last in memory
    remain so.

    >>> taken_pixels(torch.arange(9.0).view(1, 1, 3, 3), (2, 2)).tolist()
    [[[[0.0, 2.0], [6.0, 8.0]]]]
    """
    result: Tensor = _TakenPixels.apply(maps, stride)  # type: ignore[no-untyped-call]
    return result


def spread_pixels(pixels: Tensor, shape: torch.Size, stride: Pair) -> Tensor:
    """Maps of a shape with the pixels where :func:`taken_pixels` takes them, and zeros between them. Their channels are
    last in memory."""
    maps = torch.empty(shape, dtype=pixels.dtype, device=pixels.device, memory_format=torch.channels_last).zero_()
    maps[:, :, :: stride[0], :: stride[1]] = pixels
    return maps


class _TakenPixels(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, maps: Tensor, stride: Pair) -> Tensor:
        ctx.shape, ctx.stride = maps.shape, stride
        is_last = maps.stride(1) == 1
        format = torch.channels_last if is_last else torch.contiguous_format
        return maps[:, :, :: stride[0], :: stride[1]].contiguous(memory_format=format)

    @staticmethod
    def backward(ctx: Any, *slopes: Tensor) -> tuple[Tensor, None]:
        return spread_pixels(slopes[0], ctx.shape, ctx.stride), None
