"""The family of CIFARTile: photographs in a square, and a rule on what they show."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from nasbed.datasets.dataset import Images
from nasbed.datasets.unseen.families.composed_images import ComposedFamily
from nasbed.datasets.unseen.families.label_rules import MOST_COMBINATIONS, rule_parameters
from nasbed.datasets.unseen.families.parameters import NamedChoice, Whole, image_counts

SOURCES = {
    "cifar10": "photographs, 32 pixels a side",
    "cifar100": "photographs of 100 classes, 32 pixels a side",
    "fashion-mnist": "clothes, 28 pixels a side",
    "mnist": "digits, 28 pixels a side",
}


class Tiles(ComposedFamily):
    """A grid of source images, from left to right and then down; the label is a rule on their classes.

    For a label, the classes are any of the combinations that have it, each as likely as the others. Nine tiles of ten
    classes have too many combinations to draw from: a grid of three by three has 4 kinds or fewer.
    """

    name = "tiles"
    title = "Tiles"
    kind = 1
    parameters = (
        NamedChoice("source", "cifar10", "the dataset of the tiles", SOURCES),
        Whole("across", 2, "tiles of a row and of a column", 2, 3),
        Whole("kinds", 10, "classes of the source that are used, the first ones; without it 4 if across=3", 2, 100),
        *rule_parameters("distinct"),
        Whole("side", 32, "pixels of a tile's side; fewer than the source's by averaging", 4, 32),
        *image_counts(45_000, 15_000, 10_000),
    )
    hygiene: tuple[str, ...] = ("tiles",)
    origin = "tiles"
    origin_label = "things"

    def combined(self) -> tuple[int, int]:
        return self.settings["across"] ** 2, self.settings["kinds"]

    def fitting_defaults(self) -> Iterator[tuple[str, Any]]:
        pieces, usual = self.combined()
        yield "kinds", max(kinds for kinds in range(2, usual + 1) if kinds**pieces <= MOST_COMBINATIONS)
        yield from super().fitting_defaults()

    def _configure(self) -> None:
        across, kinds = self.settings["across"], self.settings["kinds"]
        self._compose()
        side = across * self.settings["side"]
        self.shape = (self.source.shape[0], side, side)
        self.rule = (
            f"{across**2} images of {self.source.name} in a {across}×{across} grid; of their classes, 0 to "
            f"{kinds - 1}, the label is {self.label_rule.sentence}."
        )

    def put_together(self, images: Images) -> Images:
        count, _, channels, height, width = images.shape
        across = self.settings["across"]
        grid = images.reshape(count, across, across, channels, height, width).transpose(0, 3, 1, 4, 2, 5)
        return grid.reshape(count, channels, across * height, across * width)
