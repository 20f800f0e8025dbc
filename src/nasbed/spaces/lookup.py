"""Codes as 64-bit keys, and the rows of a table by their codes."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from nasbed.core.errors import InvalidOption

MULTIPLIER = 0x9E3779B97F4A7C15
MASK = (1 << 64) - 1

Rows = NDArray[np.int64]
"""Numbers of rows of a table."""


def code_key(code: tuple[int, ...], multiplier: int = MULTIPLIER) -> int:
    """The 64-bit key of one code."""
    key = 0
    for item in code:
        key = (key * multiplier + item + 1) & MASK
    return key


def code_keys(codes: NDArray[np.int64], multiplier: int = MULTIPLIER) -> NDArray[np.uint64]:
    """:func:`code_key` of a batch."""
    keys = np.zeros(len(codes), dtype=np.uint64)
    factor = np.uint64(multiplier)
    for column in codes.T:
        keys = keys * factor + (column.astype(np.uint64) + np.uint64(1))
    return keys


class Lookup:
    """Finds the rows of a table by their codes, many at a time."""

    def __init__(self, codes: NDArray[np.int64]) -> None:
        self._codes = codes
        self._multiplier = MULTIPLIER
        keys = code_keys(codes, self._multiplier)
        while len(np.unique(keys)) < len(codes):
            if len(np.unique(codes, axis=0)) < len(codes):
                raise InvalidOption("an architecture occurs twice in this table; take the mean of its rows")
            self._multiplier += 2
            keys = code_keys(codes, self._multiplier)
        self._order = np.argsort(keys)
        self._keys = keys[self._order]

    def find(self, codes: NDArray[np.int64]) -> Rows:
        """The row of each code, -1 for each that is not here."""
        if not len(self._keys):
            return np.full(len(codes), -1)
        position = np.searchsorted(self._keys, code_keys(codes, self._multiplier))
        rows = self._order[np.minimum(position, len(self._keys) - 1)]
        return np.where((self._codes[rows] == codes).all(axis=1), rows, -1)


def single_changes(values: NDArray[np.int64], column: int) -> Iterator[tuple[Rows, Rows]]:
    """All pairs of rows that differ in this one column, as arrays (row, other row); each pair once."""
    unchanged = values.copy()
    unchanged[:, column] = 0
    keys = code_keys(unchanged)
    order = np.argsort(keys, kind="stable")
    keys = keys[order]
    for apart in range(1, len(keys)):
        near = np.flatnonzero(keys[apart:] == keys[:-apart])
        if not len(near):
            return
        first, second = order[near], order[near + apart]
        differ = (unchanged[first] == unchanged[second]).all(axis=1) & (values[first, column] != values[second, column])
        yield first[differ], second[differ]
