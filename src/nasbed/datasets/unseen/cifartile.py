"""CIFARTile (section 4.4): four photographs of CIFAR-10 in a square, and how many kinds of things they show."""

from __future__ import annotations

import numpy as np

from nasbed.datasets.dataset import Images
from nasbed.datasets.unseen.composed_images import ComposedDataset
from nasbed.datasets.unseen.draws import Integers


class CIFARTile(ComposedDataset):
    """Labels 0 to 3: one to four kinds. Tiles are top left, top right, bottom left, bottom right.

    Uniformly drawn tiles would show one kind once in a thousand images; balanced, a quarter does. For a label, the four
    classes are any of the combinations with that many kinds: 10, 630, 4 320 and 5 040.
    """

    name = "cifartile"
    title = "CIFARTile"
    kind = 1
    shape = (3, 64, 64)
    classes = ("1 kind", "2 kinds", "3 kinds", "4 kinds")
    counts = (45_000, 15_000, 10_000)
    benchmark = 45.56
    rule = "Four images of CIFAR-10 in a 2×2 grid; the label is the number of their distinct classes less one."
    needs = "CIFAR-10: nasbed data prepare cifar10, or its published files as --source"
    hygiene = ("tiles",)

    made_of = "cifar10"
    origin = "tiles"
    origin_label = "things"
    several = 4

    def label_from(self, labels: Integers) -> Integers:
        ordered = np.sort(labels, axis=1)
        distinct: Integers = (ordered[:, 1:] != ordered[:, :-1]).sum(axis=1)
        return distinct

    def put_together(self, images: Images) -> Images:
        count, _, channels, height, width = images.shape
        grid = images.reshape(count, 2, 2, channels, height, width).transpose(0, 3, 1, 4, 2, 5)
        return grid.reshape(count, channels, 2 * height, 2 * width)
