"""Convolutions on maps that are smaller than their kernels: what never meets the image is left out."""

from __future__ import annotations

from torch import Tensor, nn
from torch.nn import functional

from nasbed.networks.depthwise.cpu import depthwise_convolution, has_fast_gradient
from nasbed.networks.depthwise.cuda import cuda_depthwise_convolution, suits_cuda_kernels
from nasbed.networks.strided import taken_pixels


def trimmed_kernel(
    weight: Tensor,
    padding: tuple[int, int],
    image: tuple[int, int],
    *,
    dilation: tuple[int, int] = (1, 1),
    dims: tuple[int, int] = (-2, -1),
) -> tuple[Tensor, tuple[int, int]]:
    """A kernel and its border without the places that see only the border of an image, wherever they are centred in it.

    Args:
        weight: The kernel.
        padding: The border at the top and the left; an odd side of the kernel is trimmed if its border is half of it.
        image: Height and width.
        dilation: How far the places of the kernel are apart, downwards and to the right.
        dims: Where the kernel has its height and width.

    >>> import torch
    >>> kernel, border = trimmed_kernel(torch.ones(1, 1, 7, 7), (3, 3), (2, 8))
    >>> tuple(kernel.shape), border
    ((1, 1, 3, 7), (1, 3))
    """
    borders = []
    for dim, side, border, step in zip(dims, image, padding, dilation, strict=True):
        length = weight.shape[dim]
        is_centred = length % 2 == 1 and border == step * (length // 2)
        excess = -((side - 1 - border) // step) if is_centred else 0
        if excess > 0:  # a view of all of it would still cost launches in the backward pass
            weight, border = weight.narrow(dim, excess, length - 2 * excess), border - excess * step
        borders.append(border)
    return weight, (borders[0], borders[1])


def trimmed_convolution(
    maps: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    *,
    stride: tuple[int, int],
    padding: tuple[int, int],
    dilation: tuple[int, int],
    groups: int,
) -> Tensor:
    """A convolution with the part of its kernel that meets the image. What is left of a depthwise kernel on maps of one
    pixel is a factor. A strided kernel of one pixel reads :mod:`taken pixels <nasbed.networks.strided>` on a CPU.

    Args:
        maps, weight, bias, stride, padding, dilation, groups: As of ``torch.nn.functional.conv2d``.
    """
    weight, padding = trimmed_kernel(weight, padding, (maps.shape[2], maps.shape[3]), dilation=dilation)
    if maps.device.type == "cpu" and stride != (1, 1) and (weight.shape[2:], padding) == ((1, 1), (0, 0)):
        maps, stride = taken_pixels(maps, stride), (1, 1)
    if weight.shape[1] == 1 and len(weight) == groups:
        result = None
        if weight[0].numel() == 1 and (stride, padding) == ((1, 1), (0, 0)):
            result = maps * weight.view(-1, 1, 1)
        elif has_fast_gradient(maps, weight, padding=padding, dilation=dilation):
            result = depthwise_convolution(maps, weight, stride=stride, padding=padding, dilation=dilation)
        elif suits_cuda_kernels(maps, stride=stride, dilation=dilation):
            result = cuda_depthwise_convolution(maps, weight, stride=stride, padding=padding, dilation=dilation)
        if result is not None:
            return result if bias is None else result + bias.view(-1, 1, 1)
    return functional.conv2d(maps, weight, bias, stride, padding, dilation, groups)


class TrimmedConvolution(nn.Conv2d):
    """A convolution that computes with the part of its kernel that meets the image. On maps of one pixel that is a
    ninth of a kernel of 3×3. Depthwise ones have faster gradients."""

    def _conv_forward(self, input: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        return trimmed_convolution(
            input,
            weight,
            bias,
            stride=self.stride,  # type: ignore[arg-type]
            padding=self.padding,  # type: ignore[arg-type]
            dilation=self.dilation,  # type: ignore[arg-type]
            groups=self.groups,
        )


def trim_convolutions(network: nn.Module) -> nn.Module:
    """Turn the convolutions of a network into trimmed ones, in place; weights and results stay, up to rounding."""
    for module in network.modules():
        is_plain = type(module) is nn.Conv2d and module.padding_mode == "zeros"
        if is_plain and not isinstance(module.padding, str):
            module.__class__ = TrimmedConvolution
    return network
