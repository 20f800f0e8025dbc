"""Train, validation and test parts of the rows of a table."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nasbed.core.errors import InvalidOption

Rows = NDArray[np.int64]
PARTS = ("train", "validation", "test")


@dataclass(frozen=True, slots=True)
class RowSplit:
    """Row numbers of the three parts, each rising; no row is in two parts."""

    train: Rows
    validation: Rows
    test: Rows

    def __post_init__(self) -> None:
        for name, part in zip(PARTS, self.parts, strict=True):
            if (np.diff(part) <= 0).any():
                raise InvalidOption(f"the row numbers of the {name} part of a split do not rise")
        if len(np.unique(np.concatenate(self.parts))) < sum(map(len, self.parts)):
            raise InvalidOption("a row is in two parts of the split; assign it to one")

    @property
    def parts(self) -> tuple[Rows, Rows, Rows]:
        return self.train, self.validation, self.test

    @property
    def fitted(self) -> Rows:
        """The rows of the train and validation parts, rising: all that an ensemble is fitted on."""
        return np.sort(np.concatenate([self.train, self.validation]))

    def within(self, rows: Rows) -> RowSplit:
        """This split of some rows as a split of the whole table; ``rows`` are their numbers in it."""
        return RowSplit(*(rows[part] for part in self.parts))

    def kept(self, mask: NDArray[np.bool_]) -> RowSplit:
        """The same parts of a table that keeps only the rows of ``mask``."""
        numbers = np.cumsum(mask) - 1
        return RowSplit(*(numbers[part[mask[part]]] for part in self.parts))

    def check_architectures(self, architecture: NDArray[np.int64]) -> None:
        """Raise if an architecture is in two parts. ``architecture`` numbers that of each row."""
        by_part = [np.unique(architecture[part]) for part in self.parts]
        if len(np.unique(np.concatenate(by_part))) < sum(map(len, by_part)):
            raise InvalidOption("the rows of an architecture are in two parts of the split; assign them to one")


def stratified_split(
    method: NDArray[np.str_],
    architecture: NDArray[np.int64],
    rng: np.random.Generator,
    *,
    fractions: tuple[float, float, float] = (0.8, 0.1, 0.1),
) -> RowSplit:
    """Split rows 0.8/0.1/0.1 within each method, all rows of one architecture together.

    ``architecture`` numbers the architecture of each row. One that several methods proposed counts with the first of
    them, so that no architecture is trained on in one part and tested on in another.
    """
    if len(method) != len(architecture):
        raise InvalidOption(f"one method and one architecture a row, got {len(method)} and {len(architecture)}")
    if not abs(sum(fractions) - 1) <= 1e-9 or min(fractions) < 0:
        raise InvalidOption(f"the fractions of a split are not negative and add up to 1, got {fractions}")
    unique, first, owner = np.unique(architecture, return_index=True, return_inverse=True)
    part = np.empty(len(unique), dtype=np.int64)
    for name in np.unique(method[first]):
        members = rng.permutation(np.flatnonzero(method[first] == name))
        bounds = np.round(np.cumsum(fractions)[:2] * len(members)).astype(np.int64)
        for number, group in enumerate(np.split(members, bounds)):
            part[group] = number
    part_of_row = part[owner]
    return RowSplit(*(np.flatnonzero(part_of_row == number) for number in range(len(PARTS))))
