"""Fashion-MNIST: pieces of clothing, 28×28, in the format of MNIST."""

from __future__ import annotations

from nasbed.datasets.idx import IdxDataset


class FashionMnist(IdxDataset):
    name = "fashion-mnist"
    title = "Fashion-MNIST, pieces of clothing"
    classes = (
        *("T-shirt/top", "trouser", "pullover", "dress", "coat"),
        *("sandal", "shirt", "sneaker", "bag", "ankle boot"),
    )
    citation = "Xiao et al., Fashion-MNIST: a novel image dataset for benchmarking, 2017, arXiv:1708.07747"
    page = "https://github.com/zalandoresearch/fashion-mnist (or Debian's package dataset-fashion-mnist)"
    folders = ("/usr/share/datasets/fashion-mnist",)
