"""NAS-Bench-101 networks (section 2.3 of the paper)."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from nasbed.core.architecture import Architecture
from nasbed.core.errors import InvalidOption
from nasbed.networks.blocks import added, applied, classifier, conv_bn_relu
from nasbed.networks.skeletons import resized
from nasbed.spaces.image_size import Image, sides
from nasbed.spaces.nb101.cell import OPERATIONS, Compact, compact, edge_pairs
from nasbed.spaces.nb101.costs import NB101Skeleton


def network(arch: Architecture, *, classes: int, channels_in: int, image: Image, skeleton: Any) -> nn.Module:
    """The network of a NAS-Bench-101 cell.

    Args:
        arch, classes, channels_in, image, skeleton: As of :class:`~nasbed.networks.NetworkBuilder`.
    """
    return NB101Network(
        compact(arch.code),
        resized(skeleton, NB101Skeleton, classes=classes, image_channels=channels_in, image=image),
    )


class NB101Network(nn.Module):
    """A 3x3 stem, stacks of equal cells with 2x2 max pooling and doubled channels between, a classifier. The cell is
    taken as given, superfluous vertices left out; published counts are those of canonical cells."""

    def __init__(self, cell: Compact, skeleton: NB101Skeleton) -> None:
        super().__init__()
        least = 2 ** (skeleton.stacks - 1)
        if min(sides(skeleton.image)) < least:
            raise InvalidOption(
                f"an nb101 network of {skeleton.stacks} stacks needs images of {least} pixels or more, "
                f"got {skeleton.image}"
            )
        channels = skeleton.channels
        self.stem = conv_bn_relu(skeleton.image_channels, channels, 3)
        self.cells = nn.ModuleList()
        previous_channels = channels
        for stack in range(skeleton.stacks):
            if stack:
                channels *= 2
                self.cells.append(nn.MaxPool2d(2))
            for _ in range(skeleton.cells_per_stack):
                self.cells.append(NB101Cell(cell, previous_channels, channels))
                previous_channels = channels
        self.head = classifier(channels, skeleton.classes)

    def forward(self, x: Tensor) -> Tensor:
        return applied(x, self.stem, *self.cells, self.head)


class NB101Cell(nn.Module):
    """Edges from the input are 1x1 projections; every other edge is cut to the channels of its target. A vertex adds up
    its edges. The output concatenates its incoming edges and adds the projected input."""

    def __init__(self, cell: Compact, channels_in: int, channels_out: int) -> None:
        super().__init__()
        self.last = cell.vertices - 1
        self.sources: list[list[int]] = [[] for _ in range(cell.vertices)]
        for source, target in edge_pairs(cell):
            self.sources[target].append(source)
        self.channels = self._channels(channels_out)
        self.projections = nn.ModuleDict(
            {
                str(vertex): conv_bn_relu(channels_in, self.channels[vertex], 1)
                for vertex in range(1, cell.vertices)
                if 0 in self.sources[vertex]
            }
        )
        self.operations = nn.ModuleDict(
            {str(vertex): _operation(OPERATIONS[op], self.channels[vertex]) for vertex, op in enumerate(cell.ops, 1)}
        )

    def _channels(self, channels_out: int) -> list[int]:
        """The channels of each vertex; those of the input are not used. Those that feed the output share its channels,
        the remainder going one each to the earliest; any other has as many as the widest it feeds."""
        feeding = [vertex for vertex in self.sources[self.last] if vertex]
        if len(feeding) > channels_out:
            raise InvalidOption(
                f"{len(feeding)} vertices of this nb101 cell share its output, so it needs as many channels, "
                f"got {channels_out}"
            )
        channels = [0] * self.last + [channels_out]
        for place, vertex in enumerate(feeding):
            share, remainder = divmod(channels_out, len(feeding))
            channels[vertex] = share + (place < remainder)
        for vertex in reversed(range(1, self.last)):
            if vertex not in feeding:
                fed = [target for target in range(vertex + 1, self.last) if vertex in self.sources[target]]
                channels[vertex] = max(channels[target] for target in fed)
        return channels

    def forward(self, x: Tensor) -> Tensor:
        values: dict[int, Tensor] = {}
        for vertex in range(1, self.last):
            inputs = [values[source][:, : self.channels[vertex]] for source in self.sources[vertex] if source]
            values[vertex] = self.operations[str(vertex)](added([*self._projected(x, vertex), *inputs]))
        outputs = [values[source] for source in self.sources[self.last] if source]
        return added([*self._projected(x, self.last), *([torch.cat(outputs, dim=1)] if outputs else [])])

    def _projected(self, x: Tensor, vertex: int) -> list[Tensor]:
        """The input as this vertex gets it, nothing if it does not."""
        return [self.projections[str(vertex)](x)] if 0 in self.sources[vertex] else []


def _operation(name: str, channels: int) -> nn.Module:
    if name == "maxpool3x3":
        return nn.MaxPool2d(3, stride=1, padding=1)
    return conv_bn_relu(channels, channels, 3 if name.startswith("conv3x3") else 1)
