"""Sources of datasets: the arrays that a reader returns, and where a source looks for its files."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np

from nasbed.core.errors import BadFile, shorten
from nasbed.datasets.dataset import Images, Labels

DEEPEST = 3
"""How many folders below the one given files are looked for: an unpacked archive has one or two."""

Progress = Callable[[str, int, int | None], None]
"""A callback: the step, how many images are done, and how many there will be."""


@dataclass(frozen=True, slots=True, eq=False)
class Raw:
    """A whole dataset in memory, as a reader returns it."""

    train_images: Images
    train_labels: Labels
    test_images: Images
    test_labels: Labels
    classes: tuple[str, ...]
    published: tuple[int, int] | None = None
    synthetic: bool = False
    """Whether it says of itself that it is made from synthetic or substitute sources."""
    as_released: bool = False
    """Whether it says of itself that it is made as the authors' scripts do."""

    @property
    def words_of_name(self) -> list[str]:
        """What a name for it has to say, so that no published figure is compared with results on it."""
        words = {"as-released": self.as_released, "synthetic": self.synthetic}
        return [word for word, applies in words.items() if applies]

    def check(self, source: str) -> None:
        """Raise unless images and labels belong together."""
        shape = self.train_images.shape[1:]
        if len(shape) != 3 or self.test_images.shape[1:] != shape or 0 in shape:
            raise BadFile(
                f"{source}: images are [n, channels, height, width] and alike in both parts, got "
                f"{self.train_images.shape} and {self.test_images.shape}; get it again"
            )
        for part, images, labels in (
            ("training", self.train_images, self.train_labels),
            ("test", self.test_images, self.test_labels),
        ):
            if labels.shape != (len(images),) or not len(images):
                raise BadFile(
                    f"{source}: each {part} image has a label, got {len(images)} images and labels of shape "
                    f"{labels.shape}; get it again"
                )
            low, high = int(labels.min()), int(labels.max())
            if low < 0 or high >= len(self.classes):
                raise BadFile(f"{source}: labels are 0 to {len(self.classes) - 1}, the {part} part has {low} to {high}")


@dataclass(frozen=True, slots=True)
class Remote:
    """A published file and its SHA-256."""

    url: str
    sha256: str

    @property
    def file(self) -> str:
        return self.url.rpartition("/")[2]


class DatasetSource(ABC):
    """One dataset: what it is, and how its published files are read."""

    name: ClassVar[str]
    title: ClassVar[str]
    counts: ClassVar[tuple[int, int]]
    """Images to train on and to test with."""
    shape: ClassVar[tuple[int, int, int]]
    classes: ClassVar[tuple[str, ...]]
    citation: ClassVar[str]
    page: ClassVar[str] = ""
    """Where a person finds the files."""
    remotes: ClassVar[tuple[Remote, ...]] = ()
    """What ``prepare`` downloads without a named source. Empty: a person has to get the files from ``page``."""
    folders: ClassVar[tuple[str, ...]] = ()
    """Where an operating system's package puts the files."""
    embedded: ClassVar[bool] = False
    """Whether the data come with an installed package, so that no file is needed."""

    @abstractmethod
    def read(self, folder: Path, progress: Progress) -> Raw:
        """The arrays from a folder that holds the published files, or has them a few folders down."""

    def how(self) -> str:
        """The end of a message that says how to get it."""
        if self.embedded or self.remotes or any(Path(folder).is_dir() for folder in self.folders):
            return f"nasbed data prepare {self.name}"
        return f"get the files from {self.page}, then nasbed data prepare {self.name} --source FOLDER"

    def check(self, raw: Raw, source: str) -> None:
        """Raise unless these are all the images of this dataset."""
        raw.check(source)
        counts = len(raw.train_labels), len(raw.test_labels)
        if counts != self.counts or raw.train_images.shape[1:] != self.shape:
            raise BadFile(
                f"{source}: {self.name} has {self.counts[0]} and {self.counts[1]} images of shape {self.shape}, got "
                f"{counts[0]} and {counts[1]} of {raw.train_images.shape[1:]}; get the published files"
            )


def folder_with(folder: Path, names: Iterable[str]) -> Path | None:
    """The folder that has files of all these names: this one, or one a few levels below. Two matches raise."""
    file_names = tuple(names)
    for depth in range(DEEPEST + 1):
        pattern = "*/" * depth + file_names[0]
        matches = sorted(
            path.parent for path in folder.glob(pattern) if all((path.parent / name).is_file() for name in file_names)
        )
        if len(matches) > 1:
            raise BadFile(
                f"one folder is read, {folder} has the same files in {matches[0]} and {matches[1]}; name one of them"
            )
        if matches:
            return matches[0]
    return None


def nothing_fits(name: str, folder: Path, layouts: str) -> BadFile:
    return BadFile(
        f"{name} is read from {layouts}; {shorten(str(folder), 200)} has none of these complete, down to 3 folders"
    )


def as_labels(values: object, source: str) -> Labels:
    """Whole numbers, one for each image, from a list or an array."""
    try:
        array = np.asarray(values)
    except (ValueError, OverflowError):
        array = np.zeros(0)
    if array.ndim != 1 or array.dtype.kind not in "iu" or not array.size:
        raise BadFile(f"{source}: labels are a row of whole numbers, got {shorten(values)}; get it again")
    return array.astype(np.int64)


def joined(parts: list[Images]) -> Images:
    return parts[0] if len(parts) == 1 else np.concatenate(parts)
