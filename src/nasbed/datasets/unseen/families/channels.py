"""The family of AddNIST and MultNIST: several digits, one a channel, and a rule on them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from nasbed.datasets.dataset import Images
from nasbed.datasets.unseen.families.composed_images import ComposedFamily
from nasbed.datasets.unseen.families.label_rules import rule_parameters
from nasbed.datasets.unseen.families.parameters import NamedChoice, Whole, image_counts

DIGITS = 10


class Channels(ComposedFamily):
    """Each channel is an image of a source with ten classes; the label is a rule on the classes.

    Uniformly drawn digits would give label 0 of AddNIST three images in a thousand. Balanced, it has as many as the
    others; :mod:`nasbed.datasets.unseen.families.composed_images` says how.
    """

    name = "channels"
    title = "Channels"
    kind = 1
    parameters = (
        NamedChoice("source", "mnist", "the dataset of the images", {"mnist": "digits", "fashion-mnist": "clothes"}),
        Whole("digits", 3, "images, one a channel", 2, 6),
        *rule_parameters("sum"),
        Whole("side", 28, "pixels of a side; fewer than 28 by averaging", 8, 28),
        *image_counts(45_000, 15_000, 10_000),
    )
    hygiene: tuple[str, ...] = ("digits",)
    licence = "as the source; MNIST is CC BY-SA 3.0, Fashion-MNIST MIT"
    origin = "digits"
    origin_label = "values"

    def combined(self) -> tuple[int, int]:
        return self.settings["digits"], DIGITS

    def _configure(self) -> None:
        digits, side = self.settings["digits"], self.settings["side"]
        self._compose()
        self.shape = (digits, side, side)
        self.rule = (
            f"Each of {digits} channels is an image of {self.source.name}; of their classes, 0 to 9, the label is "
            f"{self.label_rule.sentence}."
        )

    def put_together(self, images: Images) -> Images:
        together: NDArray[Any] = images[:, :, 0]
        return together

    def picture(self, image: Images) -> NDArray[np.uint8]:
        """Three channels as colours; any other number of them side by side."""
        return super().picture(image if len(image) == 3 else np.concatenate(list(image), axis=1)[None])
