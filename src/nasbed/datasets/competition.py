"""The folders of the Unseen Data competition: ``{train,valid,test}_{x,y}.npy`` and ``metadata``.

The values are float32. Where all of them are whole numbers from 0 to 255 they are kept as bytes, otherwise as they are:
nothing is rounded. The validation part follows the training part; ``published_split`` tells them apart.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from nasbed.core.arrays import load_numbers
from nasbed.core.errors import BadFile, shorten
from nasbed.datasets.dataset import Images
from nasbed.datasets.source import Progress, Raw, as_labels, folder_with, nothing_fits

PARTS = ("train", "valid", "test")
MOST_CLASSES = 100_000


def read_competition(name: str, folder: Path, progress: Progress) -> Raw:
    """All parts of a folder in this format."""
    files = [f"{part}_{kind}.npy" for part in PARTS for kind in "xy"]
    data_folder = folder_with(folder, ["metadata", *files])
    if data_folder is None:
        raise nothing_fits(name, folder, "train_x.npy, train_y.npy, valid_… , test_… and metadata")
    metadata = _metadata(data_folder / "metadata")
    count = metadata["num_classes"]
    images, labels = {}, {}
    for index, part in enumerate(PARTS):
        progress(name, index, len(PARTS))
        images[part] = _images(data_folder / f"{part}_x.npy")
        labels[part] = as_labels(
            load_numbers(data_folder / f"{part}_y.npy", mapped=True, remedy="get it again"),
            str(data_folder / f"{part}_y.npy"),
        )
        if len(images[part]) != len(labels[part]) or images[part].shape[1:] != images["train"].shape[1:]:
            raise BadFile(
                f"{data_folder}: each image has a label and all are alike, {part} has {images[part].shape} and "
                f"{labels[part].shape}; get it again"
            )
    if not all(_are_bytes(part) for part in images.values()):
        converted = {part: array.astype(np.float32) for part, array in images.items()}
    else:
        converted = {part: array.astype(np.uint8) for part, array in images.items()}
    return Raw(
        np.concatenate([converted["train"], converted["valid"]]),
        np.concatenate([labels["train"], labels["valid"]]),
        converted["test"],
        labels["test"],
        tuple(map(str, range(count))),
        (len(labels["train"]), len(labels["valid"])),
        synthetic=metadata.get("synthetic") is True,
        as_released=metadata.get("as_released") is True,
    )


def _metadata(path: Path) -> dict[str, Any]:
    """The metadata, which has a valid number of classes."""
    try:
        metadata = json.loads(path.read_bytes())
        count = metadata["num_classes"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        raise BadFile(f"{path} lacks num_classes; get it again") from None
    if type(count) is not int or not 1 <= count <= MOST_CLASSES:
        raise BadFile(f"{path}: num_classes is a number from 1 to {MOST_CLASSES}, got {shorten(count)}; get it again")
    return dict(metadata)


def _images(path: Path) -> Images:
    array = load_numbers(path, mapped=True, remedy="get it again")
    if array.ndim != 4 or not array.size:
        raise BadFile(f"{path}: images are [n, channels, height, width], got {array.shape}; get it again")
    if not np.isfinite(array).all():
        raise BadFile(f"{path}: some values of images are not finite; get it again")
    return array


def _are_bytes(images: Images) -> bool:
    return bool(images.min() >= 0 and images.max() <= 255 and np.array_equal(images, np.round(images)))
