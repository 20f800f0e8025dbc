"""Fashion-MNIST: pieces of clothing, 28×28, in the format of MNIST."""

from __future__ import annotations

from pathlib import Path

from nasbed.datasets.idx import read_idx_folder
from nasbed.datasets.source import DatasetSource, Progress, Raw


class FashionMnist(DatasetSource):
    name = "fashion-mnist"
    title = "Fashion-MNIST, pieces of clothing"
    counts = (60_000, 10_000)
    shape = (1, 28, 28)
    classes = (
        *("T-shirt/top", "trouser", "pullover", "dress", "coat"),
        *("sandal", "shirt", "sneaker", "bag", "ankle boot"),
    )
    citation = "Xiao et al., Fashion-MNIST: a novel image dataset for benchmarking, 2017, arXiv:1708.07747"
    page = "https://github.com/zalandoresearch/fashion-mnist (or Debian's package dataset-fashion-mnist)"
    folders = ("/usr/share/datasets/fashion-mnist",)

    def read(self, folder: Path, progress: Progress) -> Raw:
        return read_idx_folder(self.name, folder, self.classes, progress)
