"""TransNAS-Bench-101 micro networks, for its classification tasks.

Built here are the modules and their cells, the two stem convolutions, and average pooling with a linear layer, as in
the tasks that classify scenes and objects. Its parameters are those of the published encoder. Not built: the decoders
of the other tasks (autoencoding, surface normals, segmentation) and the nine-tile network of jigsaw. Not known: the
benchmark's own initial weights; these are torch's.
"""

from __future__ import annotations

from typing import Any

from torch import Tensor, nn

from nasbed.core.architecture import Architecture
from nasbed.networks.blocks import (
    EdgeCell,
    FactorizedReduce,
    applied,
    classifier,
    conv_bn,
    conv_bn_layers,
    relu_conv_bn,
)
from nasbed.networks.skeletons import resized
from nasbed.spaces.edge_cell import EDGES
from nasbed.spaces.image_size import Image
from nasbed.spaces.transnas import TransNASMicro, TransNASSkeleton

WIDENS, HALVES = "24", "34"
"""The kinds of module that double the channels, and those that halve the resolution."""


def network(arch: Architecture, *, classes: int, channels_in: int, image: Image, skeleton: Any) -> nn.Module:
    """The network of a micro cell, with the classifier of its classification tasks.

    Args:
        arch, classes, channels_in, skeleton: As of :class:`~nasbed.networks.NetworkBuilder`.
        image: Has no effect: every size works, and none changes the layers.
    """
    del image
    names = TransNASMicro().to_options(arch)
    return TransNASMicroNetwork(names, resized(skeleton, TransNASSkeleton), classes, channels_in)


class TransNASMicroNetwork(nn.Module):
    """Two strided 3x3 convolutions, the modules, a classifier."""

    def __init__(self, names: tuple[str, ...], skeleton: TransNASSkeleton, classes: int, channels_in: int) -> None:
        super().__init__()
        channels = skeleton.channels
        self.stem = nn.Sequential(
            *conv_bn_layers(channels_in, channels // 2, 3, stride=2),
            *relu_conv_bn(channels // 2, channels, 3, stride=2),
        )
        self.cells = nn.ModuleList()
        for kind in skeleton.modules:
            width = 2 * channels if kind in WIDENS else channels
            stride = 2 if kind in HALVES else 1
            for position in range(skeleton.cells_per_module):
                self.cells.append(_cell(names, channels, width, 1 if position else stride))
                channels = width
        self.head = classifier(channels, classes)

    def forward(self, x: Tensor) -> Tensor:
        return applied(x, self.stem, *self.cells, self.head)


def _cell(names: tuple[str, ...], c_in: int, c_out: int, stride: int) -> EdgeCell:
    """The edges from the input change channels and resolution; the others keep them."""
    operations = [
        _operation(name, c_in, c_out, stride) if source == 0 else _operation(name, c_out, c_out, 1)
        for name, (source, _) in zip(names, EDGES, strict=True)
    ]
    return EdgeCell(operations, channels=c_out, stride=stride)


def _operation(name: str, c_in: int, c_out: int, stride: int) -> nn.Module | None:
    if name == "none":
        return None
    if name == "skip_connect":
        if stride == 2:
            return FactorizedReduce(c_in, c_out)
        return nn.Identity() if c_in == c_out else conv_bn(c_in, c_out, 1)
    return relu_conv_bn(c_in, c_out, int(name[-1]), stride=stride)
