"""Depthwise convolutions whose gradients take about as long as the convolution itself, on a CPU.

torch's own gradients of kernels of 5×5 pixels, and of dilated ones, take 4 to 11 times as long there
(``python benchmarks/cpu_training.py layers``).
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from nasbed.networks.depthwise.numba_kernel import compiled
from nasbed.networks.strided import spread_pixels

Pair = tuple[int, int]
MOST_THREADS = 4
"""Our gradient of the kernels has one thread. With more threads than this, torch's own is used."""


def has_fast_gradient(maps: Tensor, kernels: Tensor, *, padding: Pair, dilation: Pair) -> bool:
    """Whether :func:`depthwise_convolution` has a faster gradient than torch, and not only another one. torch's is fast
    for kernels of 3×3 on maps of 3×3 and more."""
    height, width = kernels.shape[2:]
    is_centred = height % 2 == width % 2 == 1
    is_same = is_centred and padding == (dilation[0] * (height // 2), dilation[1] * (width // 2))
    is_small = max(height, width) <= 3 and max(dilation) == 1 and min(maps.shape[2:]) > 2
    return (
        is_same
        and not is_small
        and maps.device.type == "cpu"
        and maps.dtype == kernels.dtype == torch.float32
        and torch.is_grad_enabled()
        and not torch.is_autocast_enabled("cpu")
        and torch.get_num_threads() <= MOST_THREADS
        and compiled() is not None
    )


def depthwise_convolution(maps: Tensor, kernels: Tensor, *, stride: Pair, padding: Pair, dilation: Pair) -> Tensor:
    """A kernel for each channel, on maps for which :func:`has_fast_gradient`. Channels of the gradients are last in
    memory.

    Args:
        maps, stride, padding, dilation: As of ``torch.nn.functional.conv2d``.
        kernels: One for each channel, ``[channels, 1, height, width]``.
    """
    result: Tensor = _DepthwiseConvolution.apply(maps, kernels, stride, padding, dilation)  # type: ignore[no-untyped-call]
    return result


class _DepthwiseConvolution(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, maps: Tensor, kernels: Tensor, *options: Pair) -> Tensor:
        """The options are stride, padding and dilation."""
        ctx.save_for_backward(maps, kernels)
        ctx.options = options
        stride, padding, dilation = options
        return functional.conv2d(maps, kernels, None, stride, padding, dilation, len(kernels))

    @staticmethod
    def backward(ctx: Any, *slopes_of_outputs: Tensor) -> tuple[Tensor | None, ...]:
        (slopes,), (maps, kernels) = slopes_of_outputs, ctx.saved_tensors
        stride, padding, dilation = ctx.options
        to_maps, to_kernels = ctx.needs_input_grad[:2]
        if torch.is_grad_enabled():  # which asks for a gradient of this gradient
            gradients = torch.ops.aten.convolution_backward(
                slopes, maps, kernels, None, stride, padding, dilation, False, (0, 0), len(kernels), (True, True, False)
            )
            return gradients[0], gradients[1], None, None, None
        slopes = slopes.contiguous(memory_format=torch.channels_last)
        return (
            _maps_gradient(slopes, maps, kernels, stride, padding, dilation) if to_maps else None,
            _kernels_gradient(slopes, maps, kernels, stride, dilation) if to_kernels else None,
            None,
            None,
            None,
        )


def _maps_gradient(
    slopes: Tensor, maps: Tensor, kernels: Tensor, stride: Pair, padding: Pair, dilation: Pair
) -> Tensor:
    """The convolution of the slopes with the kernels turned round; where it was strided, with zeros between them."""
    if stride != (1, 1):
        slopes = spread_pixels(slopes, maps.shape, stride)
    return functional.conv2d(slopes, kernels.flip(2, 3), None, 1, padding, dilation, len(kernels))


def _kernels_gradient(slopes: Tensor, maps: Tensor, kernels: Tensor, stride: Pair, dilation: Pair) -> Tensor:
    gradient = kernels.new_zeros(*kernels.shape[2:], len(kernels))
    add_weight_gradient = compiled()
    assert add_weight_gradient is not None
    add_weight_gradient(_rows(maps), _rows(slopes), gradient.numpy(), stride, dilation)
    return gradient.permute(2, 0, 1).unsqueeze(1)


def _rows(maps: Tensor) -> Any:
    return maps.detach().permute(0, 2, 3, 1).contiguous().flatten(2).numpy()
