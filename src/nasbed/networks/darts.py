"""DARTS networks, with the auxiliary classifier and the dropped paths of their training."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn

from nasbed.core.architecture import Architecture
from nasbed.networks.blocks import (
    DropPath,
    FactorizedReduce,
    added,
    classifier,
    conv_bn,
    conv_bn_layers,
    relu_conv_bn,
    set_drop_path,
)
from nasbed.networks.skeletons import resized
from nasbed.spaces.darts.cell import CELL_LENGTH, INPUTS, NODES, OPERATIONS, node_edges
from nasbed.spaces.darts.costs import DartsSkeleton
from nasbed.spaces.image_size import Image

Edge = tuple[int, int, str]
"""(node, source, operation)."""


def network(arch: Architecture, *, classes: int, channels_in: int, image: Image, skeleton: Any) -> nn.Module:
    """The network of a normal and a reduction cell.

    Args:
        arch, classes, channels_in, image, skeleton: As of :class:`~nasbed.networks.NetworkBuilder`.
    """
    normal, reduction = (
        [(node, source, OPERATIONS[op]) for node, source, op in node_edges(code)]
        for code in (arch.code[:CELL_LENGTH], arch.code[CELL_LENGTH:])
    )
    sized = resized(skeleton, DartsSkeleton, classes=classes, image_channels=channels_in, image=image)
    return DartsNetwork(normal, reduction, sized)


class DartsNetwork(nn.Module):
    """A 3x3 stem of three times the channels, the cells, a classifier.

    A skeleton with ``auxiliary`` adds a second classifier after the second reduction cell. In training mode such a
    network returns the pair (logits, auxiliary logits), in evaluation mode the logits alone.
    """

    def __init__(self, normal: Sequence[Edge], reduction: Sequence[Edge], skeleton: DartsSkeleton) -> None:
        super().__init__()
        channels = skeleton.channels
        before_last = last = 3 * channels
        self.stem = conv_bn(skeleton.image_channels, last, 3)
        self.cells = nn.ModuleList()
        self.auxiliary: nn.Module | None = None
        self.auxiliary_after = 2 * skeleton.cells // 3
        reduced = False
        for position in range(skeleton.cells):
            reduces = position in skeleton.reductions
            channels *= 2 if reduces else 1
            edges = reduction if reduces else normal
            self.cells.append(DartsCell(edges, before_last, last, channels, reduces=reduces, reduced_before=reduced))
            reduced, before_last, last = reduces, last, len(NODES) * channels
            if skeleton.auxiliary and position == self.auxiliary_after:
                self.auxiliary = _auxiliary_classifier(last, skeleton.classes)
        self.head = classifier(last, skeleton.classes)

    def set_drop_path(self, probability: float) -> bool:
        """From now on drop each path of a sample with this probability while training. It is 0 at first; recipes raise
        it from epoch to epoch. Returns whether a recorded step remains valid."""
        return set_drop_path(self, probability)

    def forward(self, x: Tensor) -> Tensor | tuple[Tensor, Tensor]:
        before_last = last = self.stem(x)
        second: Tensor | None = None
        for position, cell in enumerate(self.cells):
            before_last, last = last, cell(before_last, last)
            if self.auxiliary is not None and self.training and position == self.auxiliary_after:
                second = self.auxiliary(last)
        logits: Tensor = self.head(last)
        return logits if second is None else (logits, second)


class DartsCell(nn.Module):
    """Each node adds up two operations on earlier ones or on the outputs of the two cells before; the nodes are
    concatenated. In a reduction cell the operations on the inputs have stride 2.

    Args:
        edges: Node, source and name of each operation.
        before_last: The channels of the output of the cell before the last.
        last: The channels of the output of the last cell.
        channels: The channels of each node.
        reduces: Whether this is a reduction cell.
        reduced_before: Whether the last cell was a reduction cell.
    """

    def __init__(
        self,
        edges: Sequence[Edge],
        before_last: int,
        last: int,
        channels: int,
        *,
        reduces: bool,
        reduced_before: bool,
    ) -> None:
        super().__init__()
        self.before_last: nn.Module
        if reduced_before:  # the cell before halved the resolution, so the input from further back has to follow
            self.before_last = FactorizedReduce(before_last, channels)
        else:
            self.before_last = relu_conv_bn(before_last, channels, 1)
        self.last = relu_conv_bn(last, channels, 1)
        self.edges = [(node, source) for node, source, _ in edges]
        self.operations = nn.ModuleList(
            operation(name, channels, 2 if reduces and source < INPUTS else 1) for _, source, name in edges
        )
        self.drop_path = DropPath()

    def forward(self, before_last: Tensor, last: Tensor) -> Tensor:
        nodes = [self.before_last(before_last), self.last(last)]
        for node in NODES:
            nodes.append(
                added(
                    [
                        self._carried(operation, nodes[source])
                        for (target, source), operation in zip(self.edges, self.operations, strict=True)
                        if target == node
                    ]
                )
            )
        return torch.cat(nodes[INPUTS:], dim=1)

    def _carried(self, operation: nn.Module, x: Tensor) -> Tensor:
        """Plain skips are never dropped."""
        result: Tensor = operation(x)
        return result if isinstance(operation, nn.Identity) else self.drop_path(result)


def operation(name: str, channels: int, stride: int) -> nn.Module:
    """One of the space's operations, as it stands on an edge."""
    if name == "max_pool_3x3":
        return nn.MaxPool2d(3, stride, padding=1)
    if name == "avg_pool_3x3":
        return nn.AvgPool2d(3, stride, padding=1, count_include_pad=False)
    if name == "skip_connect":
        return nn.Identity() if stride == 1 else FactorizedReduce(channels, channels)
    kernel = int(name[-1])
    if name.startswith("dil"):
        return nn.Sequential(*_separable(channels, kernel, stride, dilation=2))
    return nn.Sequential(*_separable(channels, kernel, stride), *_separable(channels, kernel, 1))


def _separable(channels: int, kernel: int, stride: int, dilation: int = 1) -> list[nn.Module]:
    """ReLU, depthwise convolution, 1x1 convolution, batch normalisation."""
    padding = dilation * (kernel // 2)
    return [
        nn.ReLU(),
        nn.Conv2d(channels, channels, kernel, stride, padding, dilation, groups=channels, bias=False),
        *conv_bn_layers(channels, channels, 1),
    ]


def _auxiliary_classifier(channels: int, classes: int) -> nn.Sequential:
    """For maps of 8 to 10 pixels: the pooling leaves 2x2 of them, the second convolution one."""
    return nn.Sequential(
        nn.ReLU(),
        nn.AvgPool2d(5, stride=3, count_include_pad=False),
        *conv_bn_layers(channels, 128, 1),
        nn.ReLU(),
        nn.Conv2d(128, 768, 2, bias=False),
        nn.BatchNorm2d(768),
        nn.ReLU(),
        nn.Flatten(),
        nn.Linear(768, classes),
    )
