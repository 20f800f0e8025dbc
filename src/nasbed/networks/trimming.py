"""Convolutions on maps that are smaller than their kernels: what never meets the image is left out."""

from __future__ import annotations

from torch import Tensor, nn
from torch.nn import functional


def trimmed_kernel(
    weight: Tensor, padding: tuple[int, int], image: tuple[int, int], dims: tuple[int, int] = (-2, -1)
) -> tuple[Tensor, tuple[int, int]]:
    """A kernel and its border without the places that see only the border of an image, wherever they are centred in it.

    Args:
        weight: The kernel.
        padding: The border at the top and the left; a side of the kernel is trimmed if its border is half of it.
        image: Height and width.
        dims: Where the kernel has its height and width.

    >>> import torch
    >>> kernel, border = trimmed_kernel(torch.ones(1, 1, 7, 7), (3, 3), (2, 8))
    >>> tuple(kernel.shape), border
    ((1, 1, 3, 7), (1, 3))
    """
    borders = []
    for dim, side, border in zip(dims, image, padding, strict=True):
        length = weight.shape[dim]
        excess = border - (side - 1) if 2 * border == length - 1 else 0
        if excess > 0:  # a view of all of it would still cost launches in the backward pass
            weight, border = weight.narrow(dim, excess, length - 2 * excess), border - excess
        borders.append(border)
    return weight, (borders[0], borders[1])


class TrimmedConvolution(nn.Conv2d):
    """A convolution that computes with the part of its kernel that meets the image. On maps of one pixel that is a
    ninth of a kernel of 3×3."""

    def _conv_forward(self, input: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        weight, padding = trimmed_kernel(weight, self.padding, input.shape[2:])  # type: ignore[arg-type]
        return functional.conv2d(input, weight, bias, self.stride, padding, self.dilation, self.groups)


def trim_convolutions(network: nn.Module) -> nn.Module:
    """Turn the convolutions of a network into trimmed ones, in place; weights and results stay, up to rounding."""
    for module in network.modules():
        is_plain = type(module) is nn.Conv2d and module.padding_mode == "zeros"
        if is_plain and module.dilation == (1, 1) and not isinstance(module.padding, str):
            module.__class__ = TrimmedConvolution
    return network
