"""The published forms of CIFAR: Python batches, binary batches, and pictures with an image a row."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nasbed.core.errors import BadFile, shorten
from nasbed.core.restricted_pickle import loads
from nasbed.core.unpack import read_limited
from nasbed.datasets.dataset import Images, Labels
from nasbed.datasets.png import read_png
from nasbed.datasets.source import DatasetSource, Remote, as_labels, joined

SIDE = 32
PIXELS = SIDE * SIDE
VALUES = 3 * PIXELS
_SITE = "https://www.cs.toronto.edu/~kriz/"
MOST_BYTES = 1 << 28
"""The largest published file, CIFAR-100's training part as a pickle, has 156 MB."""


class Cifar(DatasetSource):
    """What CIFAR-10 and CIFAR-100 have in common."""

    counts = (50_000, 10_000)
    shape = (3, SIDE, SIDE)
    citation = "Krizhevsky, Learning Multiple Layers of Features from Tiny Images, 2009"
    page = f"{_SITE}cifar.html"


def published(file: str, sha256: str) -> tuple[Remote, ...]:
    """The archive of a dataset on the authors' site."""
    return (Remote(_SITE + file, sha256),)


def read_batch(path: Path, key: str) -> tuple[Images, Labels]:
    """One Python batch: a pickle, which is not executed, with rows of red, green and blue planes."""
    value = loads(read_limited(path, MOST_BYTES), str(path))
    data = _entry(value, "data")
    if (
        not isinstance(data, np.ndarray)
        or data.dtype != np.uint8
        or data.ndim != 2
        or data.shape[1] != VALUES
        or not len(data)
    ):
        raise BadFile(f"{path}: a batch's data are rows of {VALUES} bytes, got {shorten(data)}; get it again")
    labels = as_labels(_entry(value, key), str(path))
    return data.reshape(-1, 3, SIDE, SIDE), labels


def read_binary(path: Path, label_bytes: int) -> tuple[Images, Labels]:
    """One binary batch: records of labels, the last of which counts, and 3 072 bytes."""
    data = np.frombuffer(read_limited(path, MOST_BYTES), np.uint8)
    record = label_bytes + VALUES
    if not data.size or data.size % record:
        raise BadFile(
            f"{path} consists of records of {record} bytes, got {data.size} bytes: it is cut off; get it again"
        )
    rows = data.reshape(-1, record)
    return rows[:, label_bytes:].reshape(-1, 3, SIDE, SIDE), rows[:, label_bytes - 1].astype(np.int64)


def read_picture(path: Path) -> Images:
    """A PNG of 1 024 RGB pixels a row; each row is an image, its pixels from left to right, then down."""
    pixels = read_png(path)
    if pixels.shape[1:] != (PIXELS, 3):
        raise BadFile(f"{path}: a row has {PIXELS} pixels of 3 colours, got {pixels.shape[1:]}; get it again")
    return np.ascontiguousarray(pixels.transpose(0, 2, 1)).reshape(-1, 3, SIDE, SIDE)


def read_label_list(path: Path) -> Labels:
    """Labels as JSON: one list, or a list for each picture."""
    try:
        value = json.loads(read_limited(path, MOST_BYTES))
    except (ValueError, RecursionError) as error:
        raise BadFile(f"{path} is not JSON: {str(error).splitlines()[0]}; get it again") from None
    if isinstance(value, list) and value and all(isinstance(group, list) for group in value):
        value = [label for group in value for label in group]
    return as_labels(value, str(path))


def join(parts: Sequence[tuple[Images, Labels]]) -> tuple[Images, Labels]:
    """Batches one after the other."""
    labels: list[NDArray[Any]] = [labels for _, labels in parts]
    return joined([images for images, _ in parts]), joined(labels)


def _entry(value: object, key: str) -> object:
    """A member of a batch, whose keys are text, or bytes if Python 3 wrote what Python 2 had."""
    if isinstance(value, dict):
        for spelt in (key, key.encode()):
            if spelt in value:
                return value[spelt]
    return None
