"""CIFARTile (section 4.4): four photographs of CIFAR-10 in a square, and how many kinds of things they show."""

from __future__ import annotations

from nasbed.datasets.unseen.families.tiles import Tiles


class CIFARTile(Tiles):
    """Labels 0 to 3: one to four kinds. Tiles are top left, top right, bottom left, bottom right.

    Uniformly drawn tiles would show one kind once in a thousand images; balanced, a quarter does. For a label, the four
    classes are any of the combinations with that many kinds: 10, 630, 4 320 and 5 040.
    """

    name = "cifartile"
    title = "CIFARTile"
    benchmark = 45.56
