"""What hides a dataset from a submission: a codename, a new order of the images, new numbers for the classes.

All of it is drawn from the secret of the organiser: the same secret, submission and dataset give the same draws, so
that the organiser can repeat a run, and nobody else can predict one.
"""

from __future__ import annotations

import hmac
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nasbed.challenge.contest_data import ContestData
from nasbed.challenge.submission import Submission
from nasbed.core.errors import InvalidOption, nearest

DISGUISES = {
    "full": "a codename, images in another order, classes under other numbers, nothing else of the dataset",
    "none": "the dataset's own codename and benchmark, arrays as they are in the files",
}
NUMBERS = 10_000
"""Names alone are few: of eight datasets two would share one in every fifth submission."""
STREAMS = {"classes": 0, "train": 1, "valid": 2, "test": 3}
"""Each permutation has its own random numbers."""


@dataclass(frozen=True, slots=True)
class Disguise:
    """How one run shows its dataset. ``seed`` determines the order of the images and the numbers of the classes."""

    kind: str
    codename: str
    seed: int
    classes: int

    def order(self, array: str, count: int) -> NDArray[np.int64]:
        """The images of an array such as ``train_x`` in the order of a submission; labels follow their images."""
        if self.kind == "none":
            return np.arange(count)
        return _permutation(self.seed, STREAMS[array.partition("_")[0]], count)

    def class_numbers(self) -> NDArray[np.int64]:
        """The number that a submission sees, by the class's number in the files."""
        if self.kind == "none":
            return np.arange(self.classes)
        return _permutation(self.seed, STREAMS["classes"], self.classes)

    def shown_labels(self, labels: NDArray[Any]) -> NDArray[Any]:
        """Labels under the numbers that a submission sees, in the type that they have in the files."""
        return self.class_numbers()[labels.astype(np.int64)].astype(labels.dtype)

    def original_predictions(self, predictions: NDArray[np.int64]) -> NDArray[np.int64]:
        """Predictions for the test images in the order and with the class numbers of the files. Numbers that are no
        class stay as they are, and wrong."""
        original_class = np.argsort(self.class_numbers())
        is_class = (predictions >= 0) & (predictions < self.classes)
        restored = np.where(is_class, original_class[np.where(is_class, predictions, 0)], predictions)
        by_file = np.empty_like(restored)
        by_file[self.order("test_x", len(restored))] = restored
        return by_file

    def key(self, dataset: str) -> dict[str, object]:
        """What the organiser needs to read a submission's log: dataset, codename, numbers of the classes."""
        return {
            "dataset": dataset,
            "codename": self.codename,
            "disguise": self.kind,
            "seed": str(self.seed),
            "class_numbers": self.class_numbers().tolist(),
        }


def _permutation(seed: int, stream: int, count: int) -> NDArray[np.int64]:
    """By raw draws, which no version of numpy changes."""
    return np.argsort(np.random.PCG64([seed, stream]).random_raw(count), kind="stable")


def check_disguise(kind: str) -> None:
    if kind not in DISGUISES:
        raise InvalidOption(f"a disguise is {' or '.join(DISGUISES)}, got {kind!r}; {nearest(kind, DISGUISES)}")


def draw_disguise(kind: str, secret: bytes, submission: Submission, data: ContestData) -> Disguise:
    """The disguise of a dataset for a submission: another one for each submission, dataset and secret."""
    if kind == "none":
        return Disguise(kind, str(data.metadata.get("codename", data.name)), 0, data.classes)
    digest = _draw(secret, "disguise", submission, data)
    number, name = divmod(int.from_bytes(digest[:8]), len(codenames()))
    codename = f"{codenames()[name]}-{number % NUMBERS:04}"
    return Disguise(kind, codename, int.from_bytes(digest[8:24]), data.classes)


@cache
def codenames() -> tuple[str, ...]:
    """First names, as the competition used: GeoClassing was Sadie (section 4.7)."""
    return tuple(files(__package__).joinpath("codenames.txt").read_text(encoding="ascii").split())


def running_order(kind: str, secret: bytes, submission: Submission, datasets: list[ContestData]) -> list[ContestData]:
    """The datasets in the order that they are run in: a drawn one, since what is left of a shared time tells it."""
    if kind == "none":
        return datasets
    return sorted(datasets, key=lambda data: _draw(secret, "order", submission, data))


def _draw(secret: bytes, purpose: str, submission: Submission, data: ContestData) -> bytes:
    message = "\0".join((purpose, submission.name, submission.sha256, data.name, data.sha256))
    return hmac.digest(secret, message.encode(), "sha256")
