"""Random choices that are the same on every machine and in every version: raw words of PCG64, which numpy never
changes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from nasbed.core.errors import InvalidOption

Integers = NDArray[np.int64]


class Draws:
    """Choices from one seed. Each stream, named by whole numbers, is independent of what was drawn from others.

    With a name, that of a dataset, they are also independent of what the same seed gives others.
    """

    def __init__(self, seed: int, name: str = "") -> None:
        if type(seed) is not int or seed < 0:
            raise InvalidOption(f"a seed is a whole number of 0 or more, got {seed!r}")
        self.seed = seed
        self._root = [seed, int.from_bytes(name.encode())] if name else [seed]

    def words(self, count: int, *stream: int) -> NDArray[np.uint64]:
        """So many raw words of a stream."""
        return np.random.PCG64(np.random.SeedSequence([*self._root, *stream])).random_raw(count)

    def order(self, count: int, *stream: int) -> Integers:
        """The numbers below ``count`` in random order.

        >>> sorted(Draws(0).order(5, 1).tolist())
        [0, 1, 2, 3, 4]
        """
        return np.argsort(self.words(count, *stream), kind="stable").astype(np.int64)

    def below(self, limit: int, count: int, *stream: int) -> Integers:
        """So many numbers below a limit, each as likely as the others but for one part in 2⁶⁴/limit.

        >>> bool((Draws(0).below(10, 1000, 1) < 10).all())
        True
        """
        if limit < 1:
            raise InvalidOption(f"a number is drawn below a limit of 1 or more, got {limit}")
        return (self.words(count, *stream) % np.uint64(limit)).astype(np.int64)

    def balanced(self, count: int, classes: int, *stream: int) -> Integers:
        """So many labels in random order, of each class equally many, or one more of the first classes.

        >>> np.bincount(Draws(0).balanced(11, 3, 1)).tolist()
        [4, 4, 3]
        """
        return self.order(count, *stream) % classes

    def without_repeats(self, labels: Integers, pools: Sequence[Integers], *stream: int) -> Integers:
        """A member of its label's pool for each label, none twice; a pool has as many as its label needs.

        >>> members = Draws(0).without_repeats(np.array([1, 0, 1]), [np.array([7]), np.array([8, 9])], 1)
        >>> sorted(members.tolist()), int(members[1])
        ([7, 8, 9], 7)
        """
        members = np.empty(len(labels), np.int64)
        for label, pool in enumerate(pools):
            places = np.flatnonzero(labels == label)
            members[places] = pool[self.order(len(pool), *stream, label)[: len(places)]]
        return members

    def distinct(self, limit: int, shape: tuple[int, int], *stream: int) -> Integers:
        """Rows of numbers below a limit, distinct within a row; all such rows are equally likely.

        >>> rows = Draws(0).distinct(4, (100, 4), 1)
        >>> bool((np.sort(rows, axis=1) == np.arange(4)).all())
        True
        """
        rows, columns = shape
        if limit < columns:
            raise InvalidOption(f"{columns} distinct numbers are drawn below a limit of as many, got {limit}")
        words = self.words(rows * columns, *stream).reshape(rows, columns)
        numbers = np.empty(shape, np.int64)
        for column in range(columns):
            number = (words[:, column] % np.uint64(limit - column)).astype(np.int64)
            for earlier in np.sort(numbers[:, :column], axis=1).T:
                number += number >= earlier
            numbers[:, column] = number
        return numbers
