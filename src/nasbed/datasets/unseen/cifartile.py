"""CIFARTile (section 4.4): four photographs of CIFAR-10 in a square, and how many kinds of things they show."""

from __future__ import annotations

import numpy as np

from nasbed.datasets.dataset import Images
from nasbed.datasets.unseen.draws import Draws
from nasbed.datasets.unseen.families.tiles import Tiles

PADDING = 4
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
    """By the competition's script. A photograph is cropped at a random place, after a black border of 4 pixels, and
    mirrored in half of the cases."""

    title = "CIFARTile as released"
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
        if part == 2:
            return pieces
        count, side = len(pieces) * self.pieces, pieces.shape[-1]
        words = draws.words(count, _ALTERED, part, start)
        chance = [(words >> np.uint64(8 * place)).astype(np.uint8).astype(np.int64) for place in range(3)]
        down, across = (number % (2 * PADDING + 1) for number in chance[:2])
        rows, columns = (first[:, None] + np.arange(side) for first in (down, across))
        columns = np.where((chance[2] % 2 == 1)[:, None], columns[:, ::-1], columns)
        bordered = np.pad(pieces.reshape(count, *pieces.shape[2:]), ((0, 0), (0, 0), *[(PADDING, PADDING)] * 2))
        image, channel = np.ogrid[:count, : bordered.shape[1]]
        cropped = bordered[
            image[..., None, None], channel[..., None, None], rows[:, None, :, None], columns[:, None, None]
        ]
        result: Images = cropped.reshape(pieces.shape)
        return result
