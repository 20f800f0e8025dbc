"""Parameters and multiply-adds of a DARTS network, in closed form over a batch of architectures.

Every operation has the same cost wherever it stands in a cell of given width and resolution, except that edges from
the inputs of a reduction cell have stride 2. So a network's cost is a constant plus, for each kind of cell and edge, a
count times a price.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from nasbed.core.errors import InvalidOption
from nasbed.spaces.darts.cell import CELL_LENGTH, INPUTS, NODES, OPERATIONS
from nasbed.spaces.image_size import Image, halved, plain, sides
from nasbed.spaces.skeleton_checks import check_at_least_one

AUXILIARY_SIDES = (8, 9, 10)
"""The resolutions at which the auxiliary head's pooling leaves the 2x2 map that its second convolution takes."""


@dataclass(frozen=True, slots=True)
class DartsSkeleton:
    """The network around the cells. The defaults are those of Surr-NAS-Bench-DARTS (appendix C.6), the auxiliary head
    not counted.

    With ``cells`` cells, those at one and two thirds are reduction cells, which halve the resolution, upwards, and
    double the channels. ``image`` is height and width, or the side of a square.
    """

    channels: int = 32
    cells: int = 8
    auxiliary: bool = False
    image: Image = 32
    image_channels: int = 3
    classes: int = 10

    def __post_init__(self) -> None:
        check_at_least_one(self, "channels", "cells", "image_channels", "classes")
        if self.channels % 2:
            raise InvalidOption(
                f"a DARTS network has an even number of channels, got {self.channels}; strided skips split them in two"
            )
        object.__setattr__(self, "image", plain(self.image))
        last = sides(self.image)
        for _ in self.reductions:
            last = halved(last)
        if self.auxiliary and not set(last) <= set(AUXILIARY_SIDES):
            raise InvalidOption(f"the auxiliary head needs a final resolution of 8 to 10, got {plain(last)}")

    @property
    def reductions(self) -> frozenset[int]:
        """The positions of the reduction cells."""
        return frozenset((self.cells // 3, 2 * self.cells // 3))


@dataclass(frozen=True, slots=True)
class _Prices:
    """Parameters and multiply-adds: what all networks share, and of each operation by [normal or reduction, edge from
    a cell input]."""

    fixed: NDArray[np.int64]  # [2]
    operations: NDArray[np.int64]  # [2 cells, 2 sources, operations, 2]


@lru_cache
def _prices(skeleton: DartsSkeleton) -> _Prices:
    operations = np.zeros((2, 2, len(OPERATIONS), 2), dtype=np.int64)
    side, channels = sides(skeleton.image), skeleton.channels
    stem = 3 * channels
    fixed = _conv(skeleton.image_channels * 9 * stem, stem, side)
    before_last, last = stem, stem
    for position in range(skeleton.cells):
        reduces = position in skeleton.reductions
        if reduces:
            channels *= 2
        fixed += _conv(before_last * channels, channels, side) + _conv(last * channels, channels, side)
        inner = halved(side) if reduces else side
        for strided in (False, True):
            operations[int(reduces), int(strided)] += _operation_prices(channels, inner, strided and reduces)
        side = inner
        before_last, last = last, len(NODES) * channels
        if skeleton.auxiliary and position == 2 * skeleton.cells // 3:
            fixed += _auxiliary_head(last, skeleton.classes)
    classifier = np.array([last * skeleton.classes + skeleton.classes, last * skeleton.classes])
    return _Prices(fixed + classifier, operations)


def _conv(weights: int, normalised: int, side: tuple[int, int]) -> NDArray[np.int64]:
    """A convolution without bias, then batch normalisation, at an output resolution."""
    return np.array([weights + 2 * normalised, weights * side[0] * side[1]])


def _operation_prices(channels: int, side: tuple[int, int], strided: bool) -> NDArray[np.int64]:
    """The costs of each operation at an output resolution. A strided skip is a factorised reduction: two 1x1
    convolutions to half the channels."""
    prices = np.zeros((len(OPERATIONS), 2), dtype=np.int64)
    for index, name in enumerate(OPERATIONS):
        if name == "skip_connect" and strided:
            prices[index] = _conv(channels * channels, channels, side)
        elif "conv" in name:
            kernel = int(name[-1])
            depthwise_and_pointwise = _conv(kernel * kernel * channels + channels * channels, channels, side)
            prices[index] = depthwise_and_pointwise * (2 if name.startswith("sep") else 1)
    return prices


def _auxiliary_head(channels: int, classes: int) -> NDArray[np.int64]:
    """1x1 convolution to 128 on a 2x2 map, 2x2 convolution to 768, classifier with bias."""
    classifier = np.array([768 * classes + classes, 768 * classes])
    head: NDArray[np.int64] = _conv(channels * 128, 128, (2, 2)) + _conv(128 * 4 * 768, 768, (1, 1)) + classifier
    return head


def network_costs(codes: NDArray[np.int64], skeleton: DartsSkeleton) -> NDArray[np.int64]:
    """(parameters, multiply-adds) of each network, ``[n, 2]``."""
    prices = _prices(skeleton)
    total = np.tile(prices.fixed, (len(codes), 1))
    for kind in range(2):
        cell = codes[:, kind * CELL_LENGTH : (kind + 1) * CELL_LENGTH]
        for edge in range(0, CELL_LENGTH, 2):
            from_input = (cell[:, edge] < INPUTS).astype(np.int64)
            total += prices.operations[kind, from_input, cell[:, edge + 1]]
    return total
