"""What the networks of both TransNAS-Bench-101 spaces have in common: stem, modules, and the heads of its tasks that
need only labels.

Scenes and objects are classified by average pooling and a linear layer. Jigsaw runs the same encoder over nine tiles,
one after the other, and a linear layer over the features of all. Parameters are those of the published encoders. Not
built: the decoders of the other tasks (autoencoding, surface normals, segmentation, room layout). Initial weights are
torch's own; the published code draws those of convolutions as He et al. (2015) do, by their outputs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import torch
from torch import Tensor, nn

from nasbed.networks.blocks import applied, classifier, conv_bn_layers, relu_conv_bn
from nasbed.spaces.transnas.skeleton import DOUBLING, HALVING, TransNASFrame

Block = Callable[[int, int, int], nn.Module]
"""Makes a block for the channels of its input and of its output, and a stride."""


class TransNASNetwork(nn.Module):
    """Two strided 3x3 convolutions, the modules, a classifier.

    Args:
        frame: What is around the modules.
        modules: Their types, digits from 1 to 4; the first block of a module doubles the channels and halves the
            resolution where its type says so.
        blocks: How many a module has.
        block: Makes one.
        channels_in: The channels of an image.
    """

    def __init__(self, frame: TransNASFrame, modules: str, blocks: int, block: Block, channels_in: int) -> None:
        super().__init__()
        channels = frame.channels
        self.grid = frame.grid
        self.stem = nn.Sequential(
            *conv_bn_layers(channels_in, channels // 2, 3, stride=2),
            *relu_conv_bn(channels // 2, channels, 3, stride=2),
        )
        self.cells = nn.ModuleList()
        for kind in modules:
            width = 2 * channels if kind in DOUBLING else channels
            stride = 2 if kind in HALVING else 1
            for position in range(blocks):
                self.cells.append(block(channels, width, 1 if position else stride))
                channels = width
        self.head = classifier(channels * self.grid**2, frame.classes)

    def forward(self, x: Tensor) -> Tensor:
        features = [applied(tile, self.stem, *self.cells) for tile in self._tiles(x)]
        logits: Tensor = self.head(features[0] if len(features) == 1 else torch.cat(features, dim=1))
        return logits

    def _tiles(self, x: Tensor) -> Iterator[Tensor]:
        """The tiles of a puzzle, row by row; without one, the image."""
        if self.grid == 1:
            yield x
            return
        height, width = (side // self.grid for side in x.shape[2:])
        for row in range(self.grid):
            for column in range(self.grid):
                yield x[:, :, row * height : (row + 1) * height, column * width : (column + 1) * width]
