"""Parameters and multiply-adds of a Bonsai-Net network, in closed form."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate
from typing import Literal, NamedTuple, get_args

from nasbed.core.errors import InvalidArchitecture, InvalidOption, shorten
from nasbed.spaces.bonsai.frame import ENTRANCES, Frame
from nasbed.spaces.bonsai.genotype import BonsaiCell, BonsaiGenotype
from nasbed.spaces.image_size import Image, halved, plain, sides
from nasbed.spaces.skeleton_checks import check_at_least_one

BonsaiClassifier = Literal["pooled", "pixels"]
"""What the classifier reads."""


def check_classifier(name: str) -> None:
    """Raise unless there is such a classifier."""
    if name not in get_args(BonsaiClassifier):
        raise InvalidOption(f"the classifier of Bonsai-Net reads pooled channels or pixels, got {shorten(name)}")


@dataclass(frozen=True, slots=True)
class BonsaiSkeleton:
    """The network around the cells: a 3x3 stem and a classifier. ``channels`` are those of the stem and of the cells
    before the first reduction; ``image`` is height and width, or the side of a square. ``classifier`` says what the
    last layer reads: the mean of each channel, or every pixel, as in the code published with the paper.

    ``cells`` and ``nodes`` belong to the architecture. A recipe may name them to say what it is for; the network of
    another architecture is then refused.
    """

    channels: int = 8
    cells: str | None = None
    nodes: int | None = None
    image: Image = 32
    image_channels: int = 3
    classes: int = 10
    classifier: BonsaiClassifier = "pooled"

    def __post_init__(self) -> None:
        object.__setattr__(self, "image", plain(self.image))
        check_at_least_one(self, "channels", "image_channels", "classes")
        check_classifier(self.classifier)

    def output(self, frame: Frame) -> tuple[int, int]:
        """Height and width of what the classifier sees of each channel."""
        if self.classifier == "pooled":
            return 1, 1
        return _output_sizes(frame, self.image)[-1]

    def check(self, frame: Frame) -> None:
        """Raise unless the architectures of a frame belong into this skeleton."""
        for name in ("cells", "nodes"):
            expected, value = getattr(self, name), getattr(frame, name)
            if expected is not None and expected != value:
                raise InvalidArchitecture(
                    f"the skeleton is for {name} {expected!r}, the architecture has {value!r}; leave {name} out of it"
                )


def _output_sizes(frame: Frame, image: Image) -> list[tuple[int, int]]:
    """Height and width of the outputs of the stem and of each cell."""
    return list(accumulate(frame.cells, lambda size, kind: halved(size) if kind == "r" else size, initial=sides(image)))


class NetworkCosts(NamedTuple):
    """Trainable parameters, and multiply-adds of convolutions and the classifier on one image."""

    parameters: int
    multiply_adds: int


def network_costs(genotype: BonsaiGenotype, skeleton: BonsaiSkeleton) -> NetworkCosts:
    """The costs of the network that keeps just what a pruned genotype has."""
    frame, channels = genotype.frame, skeleton.channels
    widths = frame.channels(channels)
    pixels = [height * width for height, width in _output_sizes(frame, skeleton.image)]
    height, width = skeleton.output(frame)
    stem, head = 9 * skeleton.image_channels * channels, widths[-1] * height * width * skeleton.classes
    parameters = stem + 2 * channels + head + skeleton.classes
    multiply_adds = stem * pixels[0] + head
    for position, cell in enumerate(genotype.cells):
        weights, normalised, products = _cell_costs(frame, position, cell, widths, pixels)
        parameters += weights + 2 * normalised
        multiply_adds += products
    return NetworkCosts(parameters, multiply_adds)


def _cell_costs(
    frame: Frame, position: int, cell: BonsaiCell, widths: tuple[int, ...], pixels: list[int]
) -> tuple[int, int, int]:
    """Weights of convolutions, normalised channels and multiply-adds."""
    previous_width, width = widths[position], widths[position + 1]
    reduces = frame.cells[position] == "r"
    edges = [(source, target, names) for (source, target), names in zip(frame.edges, cell.operations, strict=True)]
    used = {end for source, target, names in edges if names for end in (source, target)}
    entering = sum(widths[number] * previous_width for number in cell.inputs if widths[number] != previous_width)
    entering += sum(previous_width * width for entrance in range(ENTRANCES) if reduces and entrance in used)
    weights = normalised = 0
    for source, _, names in edges:
        for name in names:
            layers, products = _operation_weights(name, width, strided=reduces and source < ENTRANCES)
            weights += products
            normalised += layers * width
    return (
        entering + weights,
        normalised + width * len(used),
        entering * pixels[position] + weights * pixels[position + 1],
    )


def _operation_weights(name: str, width: int, *, strided: bool) -> tuple[int, int]:
    """Normalisations and weights of an operation: depthwise and 1x1 convolutions; a strided skip has 1x1 ones too."""
    if "conv" in name:
        layers = 2 if name.startswith("sep") else 1
        return layers, layers * (int(name[-1]) ** 2 * width + width * width)
    return (1, width * width) if strided and name == "skip_connect" else (0, 0)
