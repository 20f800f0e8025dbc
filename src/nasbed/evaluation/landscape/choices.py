"""Tables as rows of choices, and the pairs of rows that differ in one of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nasbed.core.errors import InvalidOption
from nasbed.results.cache import MULTIPLIER, code_keys
from nasbed.spaces import SearchSpace
from nasbed.spaces.base import Codes
from nasbed.spaces.choice import ChoiceSpace

INACTIVE = -1


@dataclass(frozen=True, slots=True)
class Choices:
    """``values[i, j]`` indexes ``options[j]``, the options of the choice called ``names[j]``; -1 where the choice does
    not arise."""

    values: Codes
    names: tuple[str, ...]
    options: tuple[tuple[str, ...], ...]


def choices_of(space: SearchSpace, codes: Codes) -> Choices:
    """A table of any space as choices: the code where it is one, the parameters of the ConfigSpace otherwise."""
    if isinstance(space, ChoiceSpace):
        return Choices(codes, space.choice_names, space.choices)
    encoded = space.encode(codes, "config")
    values = np.full(encoded.shape, INACTIVE, dtype=np.int64)
    options = []
    names = tuple(space.configspace())
    for position, name in enumerate(names):
        active = np.flatnonzero(~np.isnan(encoded[:, position]))
        _, first, index = np.unique(encoded[active, position], return_index=True, return_inverse=True)
        values[active, position] = index
        examples = space.architectures(codes[active[first]])
        options.append(tuple(str(dict(space.to_config(arch))[name]) for arch in examples))
    return Choices(values, names, tuple(options))


def single_changes(values: Codes, position: int) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """All pairs of rows that differ in this one column, as arrays (row, other row); each pair once."""
    unchanged = values.copy()
    unchanged[:, position] = 0
    keys = code_keys(unchanged)
    order = np.argsort(keys, kind="stable")
    keys = keys[order]
    for apart in range(1, len(keys)):
        near = np.flatnonzero(keys[apart:] == keys[:-apart])
        if not len(near):
            return
        first, second = order[near], order[near + apart]
        differ = (unchanged[first] == unchanged[second]).all(axis=1) & (
            values[first, position] != values[second, position]
        )
        yield first[differ], second[differ]


class Lookup:
    """Finds the rows of a table by their codes, many at a time."""

    def __init__(self, codes: Codes) -> None:
        self._codes = codes
        self._multiplier = MULTIPLIER
        keys = code_keys(codes, self._multiplier)
        while len(np.unique(keys)) < len(codes):
            if len(np.unique(codes, axis=0)) < len(codes):
                raise InvalidOption("a table has each architecture once, this one has some twice; take their mean")
            self._multiplier += 2
            keys = code_keys(codes, self._multiplier)
        self._order = np.argsort(keys)
        self._keys = keys[self._order]

    def find(self, codes: Codes) -> NDArray[np.int64]:
        """The row of each code, -1 for each that is not here."""
        if not len(self._keys):
            return np.full(len(codes), -1)
        place = np.searchsorted(self._keys, code_keys(codes, self._multiplier))
        rows = self._order[np.minimum(place, len(self._keys) - 1)]
        return np.where((self._codes[rows] == codes).all(axis=1), rows, -1)
