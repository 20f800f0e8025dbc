"""The method that found each architecture of a table."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nasbed.results.store import Results
from nasbed.spaces.base import Codes
from nasbed.spaces.lookup import Lookup

MOST_METHODS = 200
UNKNOWN = "not recorded"


def first_methods(results: Results, codes: Codes) -> tuple[tuple[str, ...], NDArray[np.uint8]]:
    """The names of methods, and for each code the number of the method that evaluated it first in the order of the
    rows."""
    lookup = Lookup(codes)
    first = np.full(len(codes), -1, dtype=np.int64)
    names: dict[str, int] = {}
    for batch in results.batches():
        rows = lookup.find(results.space.canonical_codes(batch.codes))
        methods, numbers = np.unique(batch.method, return_inverse=True)
        own = np.array([names.setdefault(str(name) or UNKNOWN, len(names)) for name in methods])[numbers]
        known = np.flatnonzero(rows >= 0)[::-1]  # of equal places the last assignment stays: the first row
        updated = first.copy()
        updated[rows[known]] = own[known]
        first = np.where(first >= 0, first, updated)
    if len(names) > MOST_METHODS:
        return (), np.zeros(len(codes), dtype=np.uint8)
    if (first < 0).any():
        first[first < 0] = names.setdefault(UNKNOWN, len(names))
    return tuple(names), first.astype(np.uint8)
