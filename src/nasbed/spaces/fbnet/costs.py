"""The network around an FBNet architecture, and what each of its blocks costs there, in closed form."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nasbed.core.errors import InvalidOption, shorten
from nasbed.spaces.image_size import Image, pixels, plain, strided

LAYERS = 22
"""How many layers are searched."""


class FBNetBlock(NamedTuple):
    """A 1x1 convolution to ``expansion`` times the input channels, a depthwise one, a 1x1 one to the output channels.

    ``groups`` applies to both 1x1 convolutions; with more than one the channels are shuffled after the first.
    """

    kernel: int
    expansion: int
    groups: int = 1


BLOCKS: dict[str, FBNetBlock | None] = {
    "k3_e1": FBNetBlock(3, 1),
    "k3_e1_g2": FBNetBlock(3, 1, 2),
    "k3_e3": FBNetBlock(3, 3),
    "k3_e6": FBNetBlock(3, 6),
    "k5_e1": FBNetBlock(5, 1),
    "k5_e1_g2": FBNetBlock(5, 1, 2),
    "k5_e3": FBNetBlock(5, 3),
    "k5_e6": FBNetBlock(5, 6),
    "skip": None,
}
"""The candidates of every layer, in the order of their indices."""


class FBNetLayer(NamedTuple):
    """Where a block stands. Sizes are those of the feature map before and after it: height and width, or the side of a
    square."""

    in_channels: int
    out_channels: int
    stride: int
    in_size: Image
    out_size: Image

    @property
    def keeps_shape(self) -> bool:
        """Whether an identity fits: ``skip`` is then free, and every other block adds its input to its output."""
        return self.in_channels == self.out_channels and self.stride == 1


@dataclass(frozen=True, slots=True)
class FBNetSkeleton:
    """All of an FBNet network that is not searched; by default for CIFAR-100, as in HW-NAS-Bench.

    A 3x3 stem convolution, stages of blocks, the first of which has the stage's stride, a 1x1 header convolution,
    global average pooling and a linear layer with bias. Convolutions have no bias; batch normalisation follows each.
    ``image`` is height and width, or the side of a square.

    >>> FBNetSkeleton.imagenet().layers()[1]
    FBNetLayer(in_channels=16, out_channels=24, stride=2, in_size=112, out_size=56)
    """

    stage_layers: tuple[int, ...] = (1, 4, 4, 4, 4, 4, 1)
    stage_channels: tuple[int, ...] = (16, 24, 32, 64, 112, 184, 352)
    stage_strides: tuple[int, ...] = (1, 1, 2, 2, 1, 2, 1)
    stem_channels: int = 16
    stem_stride: int = 1
    header_channels: int = 1504
    image: Image = 32
    image_channels: int = 3
    classes: int = 100

    @classmethod
    def imagenet(cls) -> FBNetSkeleton:
        """The ImageNet network of Wu et al., table 1."""
        return cls(stage_strides=(1, 2, 2, 2, 1, 2, 1), stem_stride=2, header_channels=1984, image=224, classes=1000)

    def __post_init__(self) -> None:
        stages = (self.stage_layers, self.stage_channels, self.stage_strides)
        if any(type(stage) is not tuple for stage in stages) or len(set(map(len, stages))) != 1:
            raise InvalidOption(
                f"a skeleton's stages are three tuples of one length (layers, channels, strides), got {shorten(stages)}"
            )
        object.__setattr__(self, "image", plain(self.image))
        for name in self.__slots__:
            value = getattr(self, name)
            for number in value if type(value) is tuple else (value,):
                if type(number) is not int or number < 1:
                    raise InvalidOption(f"a skeleton's {name} is 1 or more, a plain integer, got {shorten(number)}")
        if sum(self.stage_layers) != LAYERS:
            raise InvalidOption(f"a skeleton's stage_layers sum to {LAYERS}, got {self.stage_layers}; change some")
        for channels in (self.stem_channels, *self.stage_channels):
            if channels % 2:
                raise InvalidOption(f"blocks with two groups need an even number of channels, got {channels}; add one")

    def layers(self) -> tuple[FBNetLayer, ...]:
        """The searched layers, first to last."""
        layers, channels, size = [], self.stem_channels, strided(self.image, self.stem_stride)
        stages = zip(self.stage_layers, self.stage_channels, self.stage_strides, strict=True)
        for count, out_channels, first_stride in stages:
            for stride in (first_stride, *(1,) * (count - 1)):
                layers.append(FBNetLayer(channels, out_channels, stride, size, strided(size, stride)))
                channels, size = out_channels, layers[-1].out_size
        return tuple(layers)


CIFAR100 = FBNetSkeleton()


class CostTable(NamedTuple):
    """Costs of the fixed parts, and of each block at each layer ``[22, 9]``."""

    fixed_parameters: int
    fixed_multiply_adds: int
    parameters: NDArray[np.int64]
    multiply_adds: NDArray[np.int64]


@lru_cache(maxsize=32)
def cost_table(skeleton: FBNetSkeleton) -> CostTable:
    """What everything costs in this network. An architecture costs the fixed parts and one entry of each row."""
    layers = skeleton.layers()
    blocks = np.array([[_block(block, layer) for block in BLOCKS.values()] for layer in layers])
    blocks.flags.writeable = False
    first, last = layers[0], layers[-1]
    stem = _convolution(skeleton.image_channels, first.in_channels, kernel=3, size=first.in_size)
    header = _convolution(last.out_channels, skeleton.header_channels, kernel=1, size=last.out_size)
    weights = skeleton.header_channels * skeleton.classes
    fixed = stem + header + np.array([weights + skeleton.classes, weights])
    return CostTable(int(fixed[0]), int(fixed[1]), blocks[..., 0], blocks[..., 1])


def _block(block: FBNetBlock | None, layer: FBNetLayer) -> NDArray[np.int64]:
    if block is None:
        if layer.keeps_shape:
            return np.zeros(2, dtype=np.int64)
        return _convolution(layer.in_channels, layer.out_channels, kernel=1, size=layer.out_size)
    inner = layer.in_channels * block.expansion
    return (
        _convolution(layer.in_channels, inner, kernel=1, size=layer.in_size, groups=block.groups)
        + _convolution(inner, inner, kernel=block.kernel, size=layer.out_size, groups=inner)
        + _convolution(inner, layer.out_channels, kernel=1, size=layer.out_size, groups=block.groups)
    )


def _convolution(
    in_channels: int, out_channels: int, *, kernel: int, size: Image, groups: int = 1
) -> NDArray[np.int64]:
    """Parameters with those of its batch normalisation, and multiply-adds for an output of this size."""
    weights = in_channels // groups * out_channels * kernel**2
    return np.array([weights + 2 * out_channels, weights * pixels(size)], dtype=np.int64)
