"""CIFARTile (section 4.4): four photographs of CIFAR-10 in a square, and how many kinds of things they show."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nasbed.datasets.dataset import Images
from nasbed.datasets.unseen.base import PARTS
from nasbed.datasets.unseen.draws import Draws, Integers
from nasbed.datasets.unseen.families.tiles import Tiles

PADDING = 4
"""Pixels of the black border."""
_ALTERED = 4


class CIFARTile(Tiles):
    """Labels 0 to 3: one to four kinds. Tiles are top left, top right, bottom left, bottom right.

    Uniformly drawn tiles would show one kind once in a thousand images; balanced, a quarter does. For a label, the four
    classes are any of the combinations with that many kinds: 10, 630, 4 320 and 5 040.
    """

    name = "cifartile"
    title = "CIFARTile"
    benchmark = 45.56

    def as_released(self) -> CIFARTileAsReleased:
        return CIFARTileAsReleased()


class CIFARTileAsReleased(CIFARTile):
    """By the competition's script."""

    title = "CIFARTile as released"
    is_as_released = True
    difference = (
        "As released: training and validation draw from the same photographs, each use of one there is cropped and "
        "mirrored at random, and of two kinds each is on two tiles."
    )
    hygiene = ()
    divides_training = False

    def _configure(self) -> None:
        super()._configure()
        ordered = np.sort(self.combinations, axis=1)
        is_pair_of_pairs = (ordered[:, 0] == ordered[:, 1]) & (ordered[:, 2] == ordered[:, 3])
        self.combinations = self.combinations[(self.label_rule.label(ordered) != 1) | is_pair_of_pairs]

    def altered(self, pieces: Images, draws: Draws, part: int, start: int) -> Images:
        if PARTS[part] == "test":
            return pieces
        photographs = pieces.reshape(-1, *pieces.shape[2:])
        down, across, mirrored = (
            draws.below(limit, len(photographs), _ALTERED, part, start, number)
            for number, limit in enumerate((2 * PADDING + 1, 2 * PADDING + 1, 2))
        )
        return cropped(photographs, down, across, mirrored == 1).reshape(pieces.shape)


def cropped(images: Images, down: Integers, across: Integers, mirrored: NDArray[np.bool_]) -> Images:
    """Images ``[n, channels, side, side]`` with a black border, each cut to its size again from a place of its own."""
    bordered = np.pad(images, ((0, 0), (0, 0), (PADDING, PADDING), (PADDING, PADDING)))
    rows, columns = (first[:, None] + np.arange(images.shape[-1]) for first in (down, across))
    columns[mirrored] = columns[mirrored, ::-1]
    image, channel = np.ogrid[: len(images), : images.shape[1]]
    result: Images = bordered[
        image[..., None, None], channel[..., None, None], rows[:, None, :, None], columns[:, None, None]
    ]
    return result
