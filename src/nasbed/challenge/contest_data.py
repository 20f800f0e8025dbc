"""A dataset of a competition: the inputs of a submission, and the withheld labels."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from nasbed.core.arrays import load_numbers
from nasbed.core.errors import BadFile, shorten
from nasbed.core.files import file_sha256

INPUTS = ("train_x", "train_y", "valid_x", "valid_y", "test_x")
WITHHELD = ("seed", "sources", "made_by", "classes", "notes")
"""Metadata that submissions do not get: it would reveal the dataset, or how to generate its labels."""


@dataclass(frozen=True, slots=True)
class ContestData:
    """A checked folder in the competition's format."""

    folder: Path
    metadata: dict[str, Any]
    tested: int
    """The number of test images."""
    labels_sha256: str

    @property
    def name(self) -> str:
        return self.folder.resolve().name

    @property
    def benchmark(self) -> float:
        """The accuracy in per cent that scores 0."""
        value: float = self.metadata["benchmark"]
        return value

    @property
    def labels_path(self) -> Path:
        return self.folder / "test_y.npy"

    def labels(self) -> NDArray[Any]:
        return load_numbers(self.labels_path, mapped=False, remedy="make it again")

    def public_metadata(self) -> dict[str, Any]:
        """The metadata as a submission gets it."""
        return {name: value for name, value in self.metadata.items() if name not in WITHHELD}


def open_contest_data(folder: str | Path) -> ContestData:
    """Check the shapes and the metadata of a folder, so that its faults do not count as a submission's failure."""
    folder = Path(folder)
    missing = [name for name in (*INPUTS, "test_y") if not (folder / f"{name}.npy").is_file()]
    if not (folder / "metadata").is_file() or missing:
        lacks = ", ".join([f"{name}.npy" for name in missing] or ["metadata"])
        raise BadFile(f"{folder}: a dataset has six arrays and metadata, this lacks {lacks}; name another folder")
    arrays = {
        name: load_numbers(folder / f"{name}.npy", mapped=True, remedy="make it again") for name in (*INPUTS, "test_y")
    }
    for part in ("train", "valid", "test"):
        images, labels = arrays[f"{part}_x"], arrays[f"{part}_y"]
        if labels.ndim != 1 or images.ndim < 2 or len(images) != len(labels) or not len(labels):
            raise BadFile(
                f"{folder}: each image has a label, {part} has {images.shape} and {labels.shape}; make it again"
            )
    metadata = _metadata(folder / "metadata")
    return ContestData(folder, metadata, len(arrays["test_y"]), file_sha256(folder / "test_y.npy"))


def _metadata(path: Path) -> dict[str, Any]:
    try:
        metadata = json.loads(path.read_bytes())
    except (ValueError, RecursionError):
        metadata = None
    if not isinstance(metadata, dict):
        raise BadFile(f"{path} is not a JSON object; make it again")
    benchmark = metadata.get("benchmark")
    if isinstance(benchmark, bool) or not isinstance(benchmark, int | float) or not 0 <= benchmark < 100:
        raise BadFile(f"{path}: benchmark is a per cent from 0 to below 100, got {shorten(benchmark)}; put it in")
    assert math.isfinite(benchmark)
    return metadata
