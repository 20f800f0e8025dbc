"""Train, validation and test parts of a results table, for fitting surrogates."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nasbed.core.errors import InvalidOption


@dataclass(frozen=True, slots=True)
class Split:
    """Row numbers of the three parts, each rising."""

    train: NDArray[np.int64]
    validation: NDArray[np.int64]
    test: NDArray[np.int64]


def stratified_split(
    method: NDArray[np.str_],
    architecture: NDArray[np.int64],
    rng: np.random.Generator,
    *,
    fractions: tuple[float, float, float] = (0.8, 0.1, 0.1),
) -> Split:
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
    of_row = part[owner]
    return Split(*(np.flatnonzero(of_row == number) for number in range(3)))
