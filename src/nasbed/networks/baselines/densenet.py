"""DenseNet with blocks that carry one growing tensor."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from nasbed.networks.baselines.vision import FromTorchvision


def densenet161(*, classes: int, channels_in: int) -> nn.Module:
    """torchvision's DenseNet-161 with a thousand additions fewer in a training step."""
    return with_growing_blocks(
        FromTorchvision("densenet161", first="features.conv0")(classes=classes, channels_in=channels_in)
    )


def with_growing_blocks(network: nn.Module) -> nn.Module:
    """A DenseNet of torchvision with its blocks replaced; its weights and their names stay."""
    features: Any = network.get_submodule("features")
    for name, block in list(features.named_children()):
        if name.startswith("denseblock"):
            setattr(features, name, GrowingBlock(dict(block.items())))
    return network


class GrowingBlock(nn.ModuleDict):
    """The layers of a dense block, each of which sees all maps before it.

    torchvision gives layer n a list of n tensors, so the gradient of the first is a sum of n parts, added one by one:
    a thousand additions in DenseNet-161. Here every layer appends its maps to one tensor, and adds once. Of several
    ``members`` side by side, see :class:`~nasbed.networks.stacking.StackedNetwork`, each appends to its own.
    """

    members = 1

    def forward(self, maps: Tensor) -> Tensor:
        for layer in self.values():
            bottleneck = layer.conv1(layer.relu1(layer.norm1(maps)))  # type: ignore[operator]
            new = layer.conv2(layer.relu2(layer.norm2(bottleneck)))  # type: ignore[operator]
            maps = torch.cat((maps, new), 1) if self.members == 1 else _appended(maps, new, self.members)
        return maps


def _appended(maps: Tensor, new: Tensor, members: int) -> Tensor:
    channels_last = [tensor.permute(0, 2, 3, 1) for tensor in (maps, new)]
    parts = [tensor.reshape(*tensor.shape[:3], members, -1) for tensor in channels_last]
    return torch.cat(parts, -1).flatten(-2).permute(0, 3, 1, 2)
