"""TransNAS-Bench-101 micro networks: cells in fixed modules."""

from __future__ import annotations

from typing import Any

from torch import nn

from nasbed.core.architecture import Architecture
from nasbed.networks.blocks import EdgeCell, FactorizedReduce, conv_bn, relu_conv_bn
from nasbed.networks.skeletons import resized
from nasbed.networks.transnas.network import TransNASNetwork
from nasbed.spaces.edge_cell import EDGES
from nasbed.spaces.image_size import Image
from nasbed.spaces.transnas import TransNASMicro, TransNASSkeleton


def network(arch: Architecture, *, classes: int, channels_in: int, image: Image, skeleton: Any) -> nn.Module:
    """The network of a micro cell, with the classifier of its classification tasks.

    Args:
        arch, classes, channels_in, image, skeleton: As of :class:`~nasbed.networks.NetworkBuilder`.
    """
    names = TransNASMicro().to_options(arch)
    sized = resized(skeleton, TransNASSkeleton, classes=classes, image=image)

    def cell(c_in: int, c_out: int, stride: int) -> nn.Module:
        return _cell(names, c_in, c_out, stride)

    return TransNASNetwork(sized, sized.modules, sized.cells_per_module, cell, channels_in)


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
