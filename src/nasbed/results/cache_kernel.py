"""The one loop of building a cache that numpy has no word for, compiled."""

from __future__ import annotations

from numba import njit


@njit(cache=True, nogil=True)
def place_rows(architectures, owners, fidelities, levels, counts, group, ordinal):  # type: ignore[no-untyped-def]
    """Fill in the group of each row, and its number within that group in the order given.

    Row ``i`` is of the architecture ``architectures[owners[i]]`` and the fidelity ``fidelities[levels[i]]``, both
    numbered from 0; ``counts [architecture, fidelity]`` says how many rows of each group came before.
    """
    for row in range(len(owners)):
        architecture, fidelity = architectures[owners[row]], fidelities[levels[row]]
        group[row] = architecture * counts.shape[1] + fidelity
        ordinal[row] = counts[architecture, fidelity]
        counts[architecture, fidelity] += 1
