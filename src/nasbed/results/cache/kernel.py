"""The loop of building a cache that numpy cannot express, compiled."""

from __future__ import annotations

from nasbed.core.arrays import numba_compiled


@numba_compiled()
def place_rows(architectures, owners, fidelities, levels, counts, group, ordinal):  # type: ignore[no-untyped-def]
    """Fill in the group of each row, and its number within that group in the order of the rows.

    Args:
        architectures, owners: Row ``i`` is of the architecture number ``architectures[owners[i]]``.
        fidelities, levels: Row ``i`` is of the fidelity number ``fidelities[levels[i]]``.
        counts: How many rows of each group came before, ``[architecture, fidelity]``; updated.
        group, ordinal: What is filled in, one entry a row.
    """
    for row in range(len(owners)):
        architecture, fidelity = architectures[owners[row]], fidelities[levels[row]]
        group[row] = architecture * counts.shape[1] + fidelity
        ordinal[row] = counts[architecture, fidelity]
        counts[architecture, fidelity] += 1
