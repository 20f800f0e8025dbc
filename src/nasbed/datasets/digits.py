"""The digits of scikit-learn: 8×8, values 0 to 16, available wherever nasbed is installed."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from nasbed.datasets.source import DatasetSource, Progress, Raw


class Digits(DatasetSource):
    """scikit-learn divides nothing; here the last fifth, in its order, is for testing."""

    name = "digits"
    title = "scikit-learn's handwritten digits (the test part of UCI's)"
    counts = (1_437, 360)
    shape = (1, 8, 8)
    classes = tuple("0123456789")
    citation = "Alpaydin and Kaynak, Optical recognition of handwritten digits, UCI Machine Learning Repository 1998"
    embedded = True

    def read(self, folder: Path, progress: Progress) -> Raw:
        from sklearn.datasets import load_digits

        bunch = load_digits()
        images = bunch.images.astype(np.uint8)[:, None]
        labels = bunch.target.astype(np.int64)
        train = self.counts[0]
        progress(self.name, len(labels), len(labels))
        return Raw(images[:train], labels[:train], images[train:], labels[train:], self.classes)
