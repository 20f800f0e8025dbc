"""FBNet networks."""

from __future__ import annotations

from typing import Any

from torch import Tensor, nn

from nasbed.core.architecture import Architecture
from nasbed.networks.blocks import applied, classifier, conv_bn, conv_bn_relu
from nasbed.networks.skeletons import resized
from nasbed.spaces.fbnet.costs import BLOCKS, FBNetBlock, FBNetLayer, FBNetSkeleton
from nasbed.spaces.image_size import Image


def network(arch: Architecture, *, classes: int, channels_in: int, image: Image, skeleton: Any) -> nn.Module:
    """The network of 22 blocks.

    Args:
        arch, classes, channels_in, image, skeleton: As of :class:`~nasbed.networks.NetworkBuilder`.
    """
    names = list(BLOCKS)
    sized = resized(skeleton, FBNetSkeleton, classes=classes, image_channels=channels_in, image=image)
    return FBNetNetwork([BLOCKS[names[op]] for op in arch.code], sized)


class FBNetNetwork(nn.Module):
    """A 3x3 stem, 22 blocks, a 1x1 header convolution, a classifier."""

    def __init__(self, blocks: list[FBNetBlock | None], skeleton: FBNetSkeleton) -> None:
        super().__init__()
        layers = skeleton.layers()
        self.stem = conv_bn_relu(skeleton.image_channels, skeleton.stem_channels, 3, stride=skeleton.stem_stride)
        self.blocks = nn.ModuleList(_block(block, layer) for block, layer in zip(blocks, layers, strict=True))
        self.header = conv_bn_relu(layers[-1].out_channels, skeleton.header_channels, 1)
        self.head = classifier(skeleton.header_channels, skeleton.classes)

    def forward(self, x: Tensor) -> Tensor:
        return applied(x, self.stem, *self.blocks, self.header, self.head)


class InvertedBottleneck(nn.Module):
    """1x1 convolution to more channels, depthwise convolution, 1x1 convolution without ReLU; the input is added where
    it fits."""

    def __init__(self, block: FBNetBlock, layer: FBNetLayer) -> None:
        super().__init__()
        inner = layer.in_channels * block.expansion
        self.adds_input = layer.keeps_shape
        self.body = nn.Sequential(
            conv_bn_relu(layer.in_channels, inner, 1, groups=block.groups),
            nn.ChannelShuffle(block.groups) if block.groups > 1 else nn.Identity(),
            conv_bn_relu(inner, inner, block.kernel, stride=layer.stride, groups=inner),
            conv_bn(inner, layer.out_channels, 1, groups=block.groups),
        )

    def forward(self, x: Tensor) -> Tensor:
        result: Tensor = self.body(x)
        return x + result if self.adds_input else result


def _block(block: FBNetBlock | None, layer: FBNetLayer) -> nn.Module:
    if block is not None:
        return InvertedBottleneck(block, layer)
    if layer.keeps_shape:
        return nn.Identity()
    return conv_bn_relu(layer.in_channels, layer.out_channels, 1, stride=layer.stride)
