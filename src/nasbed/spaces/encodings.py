"""Feature vectors shared by several spaces; each function works on a whole batch."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray


def one_hot(codes: NDArray[np.int64], counts: Sequence[int]) -> NDArray[np.float32]:
    """A block of ``counts[i]`` indicators for column ``i``; a negative entry (no choice) leaves its block zero.

    >>> one_hot(np.array([[1, 0], [0, -1]]), [2, 3]).astype(int).tolist()
    [[0, 1, 1, 0, 0], [1, 0, 0, 0, 0]]
    """
    starts = _starts(tuple(counts))
    features = np.zeros((len(codes), int(starts[-1])), dtype=np.float32)
    if len(codes) == 1 and codes.min(initial=0) >= 0:
        features[0, starts[:-1] + codes[0]] = 1
        return features
    rows, columns = np.nonzero(codes >= 0)
    features[rows, starts[columns] + codes[rows, columns]] = 1
    return features


@lru_cache
def _starts(counts: tuple[int, ...]) -> NDArray[np.int64]:
    """Where the block of each column starts, and where the last one ends."""
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)


def path_offsets(operations: int, longest: int) -> NDArray[np.int64]:
    """Where the paths of each length start when all sequences of up to ``longest`` operations are numbered, shortest
    first.

    The last entry is how many sequences there are.

    >>> path_offsets(3, 2).tolist()
    [0, 1, 4, 13]
    """
    return np.concatenate([[0], np.cumsum(operations ** np.arange(longest + 1))])
