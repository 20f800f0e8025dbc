"""Like operations of several edges from one node, computed in the same kernels.

A supernet has thousands of small operations, and a GPU takes longer to start them than to compute them. Edges from one
node see the same maps, so a candidate of all these edges is one operation with as many times the channels.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from nasbed.networks.depthwise.cuda import cuda_depthwise_convolution, suits_cuda_kernels
from nasbed.networks.pointwise.cuda import cuda_pointwise_convolution, suits_pointwise_kernels
from nasbed.networks.trimming import TrimmedConvolution, trimmed_convolution


class NodeMaps:
    """The maps of a node, and what its bundles have in common of them."""

    def __init__(self, maps: Tensor) -> None:
        self.maps = maps
        self._rectified: Tensor | None = None
        self._repeated: dict[tuple[bool, int], Tensor] = {}

    def seen(self, *, rectified: bool, times: int = 1) -> Tensor:
        """The maps, with negative values at zero if ``rectified``, ``times`` side by side as channels."""
        maps = self.maps
        if rectified:
            if self._rectified is None:
                self._rectified = maps.relu()
            maps = self._rectified
        if times == 1:
            return maps
        key = (rectified, times)
        if key not in self._repeated:
            self._repeated[key] = repeated(maps, times)
        return self._repeated[key]


def has_channels_last(maps: Tensor) -> bool:
    """Whether the channels of maps are last in memory; these may be some of more channels."""
    return maps.stride(1) == 1 and not maps.is_contiguous()


def repeated(maps: Tensor, times: int) -> Tensor:
    """Maps ``times`` side by side as channels, in the memory format that they have. The gradient is one sum."""
    if has_channels_last(maps):
        last = maps.permute(0, 2, 3, 1).unsqueeze(3)
        return last.expand(-1, -1, -1, times, -1).flatten(3).permute(0, 3, 1, 2)
    return maps.unsqueeze(1).expand(-1, times, -1, -1, -1).flatten(1, 2)


def bundled_outputs(operations: Sequence[nn.Module], node: NodeMaps) -> list[Tensor]:
    """What each of several operations of one kind makes of the same maps, with its own weights.

    ReLU, convolutions and batch normalisations in a row are computed together, others one by one. One operation is a
    bundle too, since convolutions of bundles have kernels of our own on a GPU.
    """
    rows = [list(operation) for operation in operations if isinstance(operation, nn.Sequential)]
    if len(rows) != len(operations) or not all(map(_is_known, rows[0])):
        return [operation(node.maps) for operation in operations]
    rectified, maps = False, None  # as long as there are no maps, all operations see those of the node
    for layers in zip(*rows, strict=True):
        if maps is None and isinstance(layers[0], nn.ReLU):
            rectified = True
        elif maps is None:
            maps = _first_layers(layers, node, rectified=rectified)
        elif isinstance(layers[0], nn.ReLU):
            maps = maps.relu()
        elif isinstance(layers[0], nn.Conv2d):
            maps = _convolved(layers, maps, groups=len(layers) * layers[0].groups)
        else:
            maps = _normalised(layers, maps)
    return [operation(node.maps) for operation in operations] if maps is None else list(maps.chunk(len(rows), dim=1))


def _is_known(layer: nn.Module) -> bool:
    if isinstance(layer, nn.BatchNorm2d):
        return layer.running_mean is None
    if isinstance(layer, nn.Conv2d):
        is_plain = layer.bias is None and layer.padding_mode == "zeros" and not isinstance(layer.padding, str)
        return is_plain and layer.groups in (1, layer.in_channels)
    return isinstance(layer, nn.ReLU)


def _first_layers(layers: Sequence[Any], node: NodeMaps, *, rectified: bool) -> Tensor:
    """Layers that all see the maps of the node. Convolutions without groups are one with more outputs."""
    if isinstance(layers[0], nn.BatchNorm2d):
        return _normalised(layers, node.seen(rectified=rectified, times=len(layers)))
    if layers[0].groups == 1:
        return _convolved(layers, node.seen(rectified=rectified), groups=1)
    maps = node.seen(rectified=rectified, times=len(layers))
    return _convolved(layers, maps, groups=len(layers) * layers[0].groups)


def _convolved(layers: Sequence[Any], maps: Tensor, *, groups: int) -> Tensor:
    first = layers[0]
    weight = torch.cat([layer.weight for layer in layers])
    shape: Any = {"stride": first.stride, "padding": first.padding, "dilation": first.dilation}
    if groups == len(weight) and suits_cuda_kernels(maps, stride=first.stride, dilation=first.dilation):
        return cuda_depthwise_convolution(maps, weight, **shape)
    is_pointwise = (first.kernel_size, first.stride, first.padding) == ((1, 1), (1, 1), (0, 0))
    if is_pointwise and suits_pointwise_kernels(maps, weight, groups=groups):
        return cuda_pointwise_convolution(maps, weight, groups=groups)
    convolution: Any = trimmed_convolution if isinstance(first, TrimmedConvolution) else functional.conv2d
    result: Tensor = convolution(maps, weight, None, **shape, groups=groups)
    return result


def _normalised(layers: Sequence[Any], maps: Tensor) -> Tensor:
    first = layers[0]
    weight = torch.cat([layer.weight for layer in layers]) if first.affine else None
    bias = torch.cat([layer.bias for layer in layers]) if first.affine else None
    return functional.batch_norm(maps, None, None, weight, bias, training=True, eps=first.eps)
