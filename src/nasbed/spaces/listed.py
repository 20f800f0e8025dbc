"""The architectures of a list, as a space of their own."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from nasbed.core.architecture import Architecture
from nasbed.spaces.base import Codes, SearchSpace
from nasbed.spaces.edits import config_edits
from nasbed.spaces.facts import Edit
from nasbed.spaces.part import SpacePart

FEWEST = 8
"""The least number of neighbours of an architecture, in a list of at least as many others; ours."""


class ListedSpace(SpacePart):
    """A list of canonical codes of the ``parent``, for lists too sparse to be met by chance.

    A random draw is uniform over the list. Neighbours are the listed architectures one edit away. Where these are fewer
    than :data:`FEWEST`, the listed architectures whose one-hot encoding differs least are added. So methods that move
    from neighbour to neighbour work on a sparse list too. Such neighbours are not always mutual. A mutation is a random
    neighbour.
    """

    def __init__(self, parent: SearchSpace, part: str, codes: Codes) -> None:
        super().__init__(parent, part, self._is_listed)
        self.is_listed = True
        self._codes = codes
        self._neighbors: dict[tuple[int, ...], tuple[Architecture, ...]] = {}

    def _is_listed(self, arch: Architecture) -> bool:
        return arch.code in self._members or self.canonical(arch).code in self._members

    @cached_property
    def _members(self) -> frozenset[tuple[int, ...]]:
        return frozenset(map(tuple, self._codes.tolist()))

    @property
    def size(self) -> int:
        return len(self._codes)

    def enumerate(self) -> Iterator[Architecture]:
        return iter(self.architectures(self._codes))

    def sample(self, rng: np.random.Generator) -> Architecture:
        return self.listed(int(rng.integers(len(self._codes))))

    def neighbors(self, arch: Architecture) -> Iterator[Architecture]:
        code = self.canonical(arch).code
        if code not in self._neighbors:
            self._neighbors[code] = self._near(Architecture(self.name, code))
        return iter(self._neighbors[code])

    def edits(self, arch: Architecture) -> Iterator[Edit]:
        """The neighbours in the list, which may differ in several choices."""
        return config_edits(self, arch)

    def mutate(self, arch: Architecture, rng: np.random.Generator) -> Architecture:
        """A random neighbour; the architecture itself in a list of one."""
        choices = tuple(self.neighbors(arch))
        return choices[int(rng.integers(len(choices)))] if choices else arch

    def _near(self, arch: Architecture) -> tuple[Architecture, ...]:
        edited = list(self.parent.neighbors(arch))
        forms = self.architectures(self.canonical_codes(edited)) if edited else []
        near = dict.fromkeys(form for form in forms if form != arch and form.code in self._members)
        if len(near) < FEWEST:
            differing: NDArray[np.int64] = (self._features != self.encode([arch])).sum(axis=1)
            for row in np.argsort(differing, kind="stable")[: FEWEST + 1 + len(near)].tolist():
                if len(near) < FEWEST and (candidate := self.listed(row)) != arch:
                    near.setdefault(candidate)
        return tuple(near)

    @cached_property
    def _features(self) -> NDArray[np.float32]:
        return self.encode(self._codes)

    def listed(self, row: int) -> Architecture:
        """The architecture at a place of the list."""
        return Architecture(self.name, tuple(self._codes[row].tolist()))
