"""AddNIST (section 4.1): three digits of MNIST, one a colour channel, and their sum."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from nasbed.datasets.unseen.families.channels import Channels


class AddNIST(Channels):
    """Labels 0 to 19: sums from 1 to 20. Three zeros, and sums above 20, are not made."""

    name = "addnist"
    title = "AddNIST"
    benchmark = 92.08
    preset: ClassVar[Mapping[str, Any]] = {"rule": "sum", "largest": 20}

    def as_released(self) -> AddNISTAsReleased:
        return AddNISTAsReleased()


class AddNISTAsReleased(AddNIST):
    """By the competition's script."""

    title = "AddNIST as released"
    is_as_released = True
    difference = "As released: training and validation draw from the same digits."
    hygiene = ()
    divides_training = False
