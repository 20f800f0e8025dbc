"""TransNAS-Bench-101 macro networks: modules of residual blocks."""

from __future__ import annotations

from typing import Any

from torch import Tensor, nn

from nasbed.core.architecture import Architecture
from nasbed.networks.blocks import conv_bn, relu_conv_bn
from nasbed.networks.skeletons import resized
from nasbed.networks.transnas.network import TransNASNetwork
from nasbed.spaces.image_size import Image
from nasbed.spaces.transnas import TransNASMacroSkeleton


def network(arch: Architecture, *, classes: int, channels_in: int, image: Image, skeleton: Any) -> nn.Module:
    """The network of a row of modules, with the classifier of the benchmark's classification tasks.

    Args:
        arch, classes, channels_in, image, skeleton: As of :class:`~nasbed.networks.NetworkBuilder`.
    """
    sized = resized(skeleton, TransNASMacroSkeleton, classes=classes, image=image)
    modules = "".join(str(kind) for kind in arch.code if kind)
    return TransNASNetwork(sized, modules, sized.blocks_per_module, PreActivationBlock, channels_in)


class PreActivationBlock(nn.Module):
    """Two 3x3 convolutions, each after a ReLU, beside an identity; where the shape changes, beside a 1x1 convolution
    instead. Batch normalisation follows every convolution."""

    def __init__(self, c_in: int, c_out: int, stride: int) -> None:
        super().__init__()
        self.body = nn.Sequential(relu_conv_bn(c_in, c_out, 3, stride=stride), relu_conv_bn(c_out, c_out, 3))
        changes = stride > 1 or c_in != c_out
        self.shortcut = conv_bn(c_in, c_out, 1, stride=stride) if changes else nn.Identity()

    def forward(self, x: Tensor) -> Tensor:
        total: Tensor = self.body(x) + self.shortcut(x)
        return total
