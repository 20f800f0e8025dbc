"""Strings as grids: for each place in the string one pixel, that of its letter, is 1 and the others are 0."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Strings = NDArray[np.str_]
UNREADABLE = "?"
"""What a place is read as that has no pixel or several."""


def to_grid(strings: Strings, alphabet: str) -> NDArray[np.uint8]:
    """``[n, length, letters]`` from strings of one length in letters of an alphabet.

    >>> to_grid(np.array(["ab", "ca"]), "abc")[1].tolist()
    [[0, 0, 1], [1, 0, 0]]
    """
    characters = strings.view(f"{strings.dtype.str[0]}u4").reshape(len(strings), -1)
    letters = np.array([ord(letter) for letter in alphabet], characters.dtype)
    grid: NDArray[np.uint8] = np.equal(characters[:, :, None], letters).astype(np.uint8)
    return grid


def from_grid(grids: NDArray[Any], alphabet: str) -> Strings:
    """The strings of such grids.

    >>> from_grid(to_grid(np.array(["ab", "ca"]), "abc"), "abc").tolist()
    ['ab', 'ca']
    """
    letters = np.array([*alphabet, UNREADABLE])
    readable = (np.count_nonzero(grids, axis=2) == 1) & (grids.max(axis=2) == 1)
    characters = letters[np.where(readable, grids.argmax(axis=2), len(alphabet))]
    strings: Strings = np.ascontiguousarray(characters).view(f"{characters.dtype.str[0]}U{grids.shape[1]}")[:, 0]
    return strings


def black_on_white(grid: NDArray[Any]) -> NDArray[np.uint8]:
    """A grid ``[height, width]`` to look at, as in the paper's figure 2."""
    pixels = (255 * (1 - grid)).astype(np.uint8)
    return np.repeat(pixels[:, :, None], 3, axis=2)
