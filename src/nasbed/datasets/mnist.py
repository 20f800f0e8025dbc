"""MNIST: handwritten digits, 28×28."""

from __future__ import annotations

from nasbed.datasets.idx import IdxDataset
from nasbed.datasets.source import Remote

_MIRROR = "https://storage.googleapis.com/cvdf-datasets/mnist/"


class Mnist(IdxDataset):
    name = "mnist"
    title = "MNIST, handwritten digits"
    classes = tuple("0123456789")
    citation = "LeCun et al., Gradient-based learning applied to document recognition, Proceedings of the IEEE 1998"
    page = _MIRROR
    remotes = tuple(
        Remote(_MIRROR + file, sha256)
        for file, sha256 in (
            ("train-images-idx3-ubyte.gz", "440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609"),
            ("train-labels-idx1-ubyte.gz", "3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c"),
            ("t10k-images-idx3-ubyte.gz", "8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6"),
            ("t10k-labels-idx1-ubyte.gz", "f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6"),
        )
    )
