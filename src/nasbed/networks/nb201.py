"""NAS-Bench-201 networks."""

from __future__ import annotations

from typing import Any

from torch import Tensor, nn

from nasbed.core.architecture import Architecture
from nasbed.networks.blocks import EdgeCell, applied, classifier, conv_bn, relu_conv_bn
from nasbed.networks.skeletons import resized
from nasbed.spaces.image_size import Image
from nasbed.spaces.nb201 import OPERATIONS, NB201Skeleton


def network(arch: Architecture, *, classes: int, channels_in: int, image: Image, skeleton: Any) -> nn.Module:
    """The network of a NAS-Bench-201 cell.

    Args:
        arch, classes, channels_in, image, skeleton: As of :class:`~nasbed.networks.NetworkBuilder`.
    """
    names = tuple(OPERATIONS[op] for op in arch.code)
    return NB201Network(names, resized(skeleton, NB201Skeleton, classes=classes, image=image), channels_in)


class NB201Network(nn.Module):
    """A 3x3 stem, three stages of equal cells with a residual block before the second and the third, batch
    normalisation and ReLU, a classifier."""

    def __init__(self, names: tuple[str, ...], skeleton: NB201Skeleton, channels_in: int = 3) -> None:
        super().__init__()
        channels = skeleton.channels
        self.stem = conv_bn(channels_in, channels, 3)
        self.cells = nn.ModuleList()
        for stage, (width, _) in enumerate(skeleton.stages):
            if stage:
                self.cells.append(ResidualBlock(channels, width))
                channels = width
            for _ in range(skeleton.cells_per_stage):
                self.cells.append(EdgeCell([operation(name, channels) for name in names], channels=channels))
        self.last = nn.Sequential(nn.BatchNorm2d(channels), nn.ReLU())
        self.head = classifier(channels, skeleton.classes)

    def forward(self, x: Tensor) -> Tensor:
        return applied(x, self.stem, *self.cells, self.last, self.head)


class ResidualBlock(nn.Module):
    """Two 3x3 convolutions, the first of which halves the resolution, beside average pooling and a 1x1 convolution."""

    def __init__(self, c_in: int, c_out: int) -> None:
        super().__init__()
        self.body = nn.Sequential(relu_conv_bn(c_in, c_out, 3, stride=2), relu_conv_bn(c_out, c_out, 3))
        self.shortcut = nn.Sequential(nn.AvgPool2d(2, ceil_mode=True), nn.Conv2d(c_in, c_out, 1, bias=False))

    def forward(self, x: Tensor) -> Tensor:
        total: Tensor = self.body(x) + self.shortcut(x)
        return total


def operation(name: str, channels: int) -> nn.Module | None:
    """One of the space's operations, as it stands on an edge; None for none."""
    if name == "none":
        return None
    if name == "skip_connect":
        return nn.Identity()
    if name == "avg_pool_3x3":
        return nn.AvgPool2d(3, stride=1, padding=1, count_include_pad=False)
    return relu_conv_bn(channels, channels, int(name[-1]))
