"""A dataset of a competition: the inputs of a submission, and the withheld labels."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nasbed.core.arrays import load_numbers
from nasbed.core.errors import BadFile, shorten
from nasbed.core.files import file_sha256

INPUTS = ("train_x", "train_y", "valid_x", "valid_y", "test_x")
ARRAYS = (*INPUTS, "test_y")


@dataclass(frozen=True, slots=True)
class ContestData:
    """A checked folder in the competition's format."""

    folder: Path
    metadata: dict[str, Any]
    shape: tuple[int, ...]
    """Of the training images: how many, channels, height, width."""
    tested: int
    """The number of test images."""
    digests: Mapping[str, str]
    """The SHA-256 of each array's file, by the file's name."""

    @property
    def name(self) -> str:
        return self.folder.resolve().name

    @property
    def classes(self) -> int:
        number: int = self.metadata["num_classes"]
        return number

    @property
    def sha256(self) -> str:
        """A digest of the bytes of all six arrays."""
        return arrays_sha256(self.digests)

    @property
    def labels_sha256(self) -> str:
        return self.digests["test_y.npy"]

    @property
    def labels_path(self) -> Path:
        return self.folder / "test_y.npy"

    def labels(self) -> NDArray[Any]:
        return load_numbers(self.labels_path, mapped=False, remedy="make it again")

    def inputs(self) -> Iterator[tuple[str, NDArray[Any]]]:
        """The arrays of a submission by name, mapped into memory."""
        for name in INPUTS:
            yield name, load_numbers(self.folder / f"{name}.npy", mapped=True, remedy="make it again")


def arrays_sha256(digests: Mapping[str, str]) -> str:
    """One digest of the six arrays from the SHA-256 of each file, by the files' names."""
    lines = "".join(f"{digests[f'{name}.npy']}  {name}.npy\n" for name in ARRAYS)
    return hashlib.sha256(lines.encode()).hexdigest()


def open_contest_data(folder: str | Path) -> ContestData:
    """Check the shapes, the labels and the metadata of a folder, so that its faults do not count as a submission's
    failure."""
    folder = Path(folder)
    missing = [name for name in ARRAYS if not (folder / f"{name}.npy").is_file()]
    if not (folder / "metadata").is_file() or missing:
        lacks = ", ".join([f"{name}.npy" for name in missing] or ["metadata"])
        raise BadFile(f"{folder}: a dataset has six arrays and metadata, this lacks {lacks}; name another folder")
    arrays = {name: load_numbers(folder / f"{name}.npy", mapped=True, remedy="make it again") for name in ARRAYS}
    metadata = _metadata(folder / "metadata")
    for part in ("train", "valid", "test"):
        images, labels = arrays[f"{part}_x"], arrays[f"{part}_y"]
        if labels.ndim != 1 or images.ndim < 2 or len(images) != len(labels) or not len(labels):
            raise BadFile(
                f"{folder}: each image has a label, {part} has {images.shape} and {labels.shape}; make it again"
            )
        if not np.isin(labels, np.arange(metadata["num_classes"])).all():
            raise BadFile(
                f"{folder}: labels are class numbers from 0 to {metadata['num_classes'] - 1}, {part}_y.npy has others; "
                "correct num_classes in metadata or make it again"
            )
    digests = {f"{name}.npy": file_sha256(folder / f"{name}.npy") for name in ARRAYS}
    return ContestData(folder, metadata, arrays["train_x"].shape, len(arrays["test_y"]), digests)


def _metadata(path: Path) -> dict[str, Any]:
    try:
        metadata = json.loads(path.read_bytes())
    except (ValueError, RecursionError):
        metadata = None
    if not isinstance(metadata, dict):
        raise BadFile(f"{path} is not a JSON object; make it again")
    classes = metadata.get("num_classes")
    if type(classes) is not int or not 1 <= classes <= 10**6:
        raise BadFile(f"{path}: num_classes is a whole number from 1, got {shorten(classes)}; put it in")
    return metadata
