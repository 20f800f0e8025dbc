"""The network of the toy space."""

from __future__ import annotations

from typing import Any

from torch import Tensor, nn

from nasbed.core.architecture import Architecture
from nasbed.networks.blocks import added, classifier, conv_bn, relu_conv_bn
from nasbed.networks.skeletons import resized
from nasbed.spaces.image_size import Image
from support.toy_plugin.space import EDGES, OPERATIONS, ToySkeleton


def network(arch: Architecture, *, classes: int, channels_in: int, image: Image, skeleton: Any) -> nn.Module:
    del image  # every size works
    size = resized(skeleton, ToySkeleton, classes=classes, image_channels=channels_in)
    cells = [Cell([OPERATIONS[op] for op in arch.code], size.channels) for _ in range(size.cells)]
    stem = conv_bn(size.image_channels, size.channels, 3)
    return nn.Sequential(stem, *cells, classifier(size.channels, size.classes))


class Cell(nn.Module):
    """Each node is the sum of what its edges carry; the output adds the input, so that no cell is empty."""

    def __init__(self, names: list[str], channels: int) -> None:
        super().__init__()
        self.edges = nn.ModuleList(operation(name, channels) for name in names if name != "none")
        self.ends = [edge for edge, name in zip(EDGES, names, strict=True) if name != "none"]

    def forward(self, x: Tensor) -> Tensor:
        nodes = {0: x}
        for node in (1, 2):
            terms = [x] if node == 2 else []
            for edge, (source, target) in zip(self.edges, self.ends, strict=True):
                if target == node and source in nodes:
                    terms.append(edge(nodes[source]))
            if terms:
                nodes[node] = added(terms)
        return nodes[2]


def operation(name: str, channels: int) -> nn.Module:
    if name == "skip_connect":
        return nn.Identity()
    if name == "avg_pool_3x3":
        return nn.AvgPool2d(3, stride=1, padding=1, count_include_pad=False)
    return relu_conv_bn(channels, channels, 3)
