"""MultNIST (section 4.3): three digits of MNIST, one a colour channel, and the last digit of their product."""

from __future__ import annotations

from nasbed.datasets.unseen.addnist import AddNIST
from nasbed.datasets.unseen.draws import Integers


class MultNIST(AddNIST):
    """Labels 0 to 9. Uniformly drawn digits would give label 0 43 images in a hundred; balanced, it has ten."""

    name = "multnist"
    title = "MultNIST"
    classes = tuple(f"product ends in {digit}" for digit in range(10))
    counts = (50_000, 10_000, 10_000)
    benchmark = 91.55
    rule = "Each channel is a digit of MNIST; the label is the last digit of their product."

    def label_from(self, labels: Integers) -> Integers:
        product: Integers = labels.prod(axis=1) % 10
        return product
