"""MultNIST (section 4.3): three digits of MNIST, one a colour channel, and the last digit of their product."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from nasbed.datasets.unseen.families.channels import Channels


class MultNIST(Channels):
    """Labels 0 to 9. Uniformly drawn digits would give label 0 43 images in a hundred; balanced, it has ten."""

    name = "multnist"
    title = "MultNIST"
    benchmark = 91.55
    preset: ClassVar[Mapping[str, Any]] = {"rule": "product-modulo", "modulus": 10, "train": 50_000, "valid": 10_000}

    def as_released(self) -> MultNISTAsReleased:
        return MultNISTAsReleased()


class MultNISTAsReleased(MultNIST):
    """By the competition's script."""

    title = "MultNIST as released"
    is_as_released = True
    difference = "As released: training and validation draw from the same digits."
    hygiene = ()
    divides_training = False
