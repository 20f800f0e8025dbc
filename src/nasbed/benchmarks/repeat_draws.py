"""Which of the stored repeats of an architecture a seed selects."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nasbed.spaces.lookup import MASK

GOLDEN, MIX_1, MIX_2 = 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB


def drawn_place(key: int, fidelity: int, seed: int, count: int) -> int:
    """Which of ``count`` repeats a seed selects for an architecture: uniform, and the same on every machine."""
    mixed = (key + (seed * 2 + 1) * GOLDEN + fidelity) & MASK
    mixed = ((mixed ^ (mixed >> 30)) * MIX_1) & MASK
    mixed = ((mixed ^ (mixed >> 27)) * MIX_2) & MASK
    return (mixed ^ (mixed >> 31)) % count


def drawn_places(keys: NDArray[np.uint64], fidelity: int, seed: int, counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """:func:`drawn_place` of a batch."""
    mixed = keys + np.uint64(((seed * 2 + 1) * GOLDEN + fidelity) & MASK)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(MIX_1)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(MIX_2)
    return ((mixed ^ (mixed >> np.uint64(31))) % counts.astype(np.uint64)).astype(np.int64)
