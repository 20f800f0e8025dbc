"""The idx files of MNIST: a magic number, the sides, then the bytes. Packed with gzip or not."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nasbed.core.errors import BadFile
from nasbed.core.unpack import gunzipped
from nasbed.datasets.source import DatasetSource, Progress, Raw, folder_with, nothing_fits

MOST_BYTES = 1 << 30
_UNSIGNED_BYTES = 0x08


class IdxDataset(DatasetSource):
    """MNIST, or a dataset in its format."""

    counts = (60_000, 10_000)
    shape = (1, 28, 28)

    def read(self, folder: Path, progress: Progress) -> Raw:
        return read_idx_folder(self.name, folder, self.classes, progress)


def read_idx(path: Path, sides: int) -> NDArray[np.uint8]:
    """The array of unsigned bytes in an idx file with that many sides."""
    data = gunzipped(path, MOST_BYTES)
    start = 4 + 4 * sides
    if len(data) < start or data[:4] != bytes((0, 0, _UNSIGNED_BYTES, sides)):
        raise BadFile(
            f"{path} is not an idx file of bytes with {sides} sides: it begins {data[:4].hex(' ')!r}; get it again"
        )
    shape = tuple(int.from_bytes(data[4 * side : 4 * side + 4], "big") for side in range(1, sides + 1))
    if len(data) - start != math.prod(shape):
        raise BadFile(f"{path} says {shape} and has {len(data) - start} bytes: it is damaged or cut off; get it again")
    return np.frombuffer(data, np.uint8, offset=start).reshape(shape)


def read_idx_folder(name: str, folder: Path, classes: tuple[str, ...], progress: Progress) -> Raw:
    """The four files of MNIST or of a dataset in its format: all packed or none, a dash or a dot before ``idx3``."""
    for suffix in ("", ".gz"):
        for dash in ("-", "."):
            names = [
                f"{part}-{kind}{dash}idx{sides}-ubyte{suffix}"
                for part in ("train", "t10k")
                for kind, sides in (("images", 3), ("labels", 1))
            ]
            data_folder = folder_with(folder, names)
            if data_folder is not None:
                arrays: list[NDArray[Any]] = []
                for index, file in enumerate(names):
                    progress(name, index, len(names))
                    arrays.append(read_idx(data_folder / file, 3 if "images" in file else 1))
                train, train_labels, test, test_labels = arrays
                labels = train_labels.astype(np.int64), test_labels.astype(np.int64)
                return Raw(train[:, None], labels[0], test[:, None], labels[1], classes)
    raise nothing_fits(name, folder, "the four idx files train-images-idx3-ubyte … t10k-labels-idx1-ubyte, .gz or not")
