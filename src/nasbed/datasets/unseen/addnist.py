"""AddNIST (section 4.1): three digits of MNIST, one a colour channel, and their sum."""

from __future__ import annotations

from typing import Any

import numpy as np

from nasbed.datasets.dataset import Images
from nasbed.datasets.unseen.composed_images import ComposedDataset
from nasbed.datasets.unseen.draws import Integers


class AddNIST(ComposedDataset):
    """Labels 0 to 19: sums from 1 to 20. Three zeros, and sums above 20, are not made.

    Uniformly drawn digits would give label 0 three images in a thousand; balanced, it has as many as the others. How
    balance and division come about says :mod:`nasbed.datasets.unseen.composed_images`.
    """

    name = "addnist"
    title = "AddNIST"
    kind = 1
    shape = (3, 28, 28)
    classes = tuple(f"sum {total}" for total in range(1, 21))
    counts = (45_000, 15_000, 10_000)
    benchmark = 92.08
    rule = "Each channel is a digit of MNIST; the label is their sum less one."
    needs = "MNIST: nasbed data prepare mnist, or its four idx files as --source"
    hygiene = ("digits",)
    licence = "as MNIST, which is CC BY-SA 3.0"

    made_of = "mnist"
    origin = "digits"
    origin_label = "values"
    several = 3

    def label_from(self, labels: Integers) -> Integers:
        total: Integers = labels.sum(axis=1) - 1
        return total

    def put_together(self, images: Images) -> Images:
        together: np.ndarray[Any, Any] = images[:, :, 0]
        return together
