"""How much of the objective space a set of trade-offs dominates (Zitzler & Thiele 1999). Every objective is
minimised."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nasbed.core.errors import InvalidOption


def non_dominated(points: ArrayLike) -> NDArray[np.bool_]:
    """Which rows of ``points [n, objectives]`` no other row dominates: is at most as large in all, smaller in one.

    Equal rows do not dominate each other: all of them stay. A row with a missing value is never among them.

    >>> non_dominated([[1.0, 3.0], [2.0, 2.0], [2.0, 3.0], [1.0, 3.0]]).tolist()
    [True, True, False, True]
    """
    table = _table(points)
    complete = np.flatnonzero(~np.isnan(table).any(axis=1))
    result = np.zeros(len(table), dtype=np.bool_)
    unique, owner = np.unique(table[complete], axis=0, return_inverse=True)
    survivors = np.zeros(len(unique), dtype=np.bool_)
    front = np.empty((0, table.shape[1]))
    for position, row in enumerate(unique):  # in lexicographic order, so no later row dominates an earlier one
        if not (front <= row).all(axis=1).any():
            survivors[position] = True
            front = np.concatenate([front, row[None]])
    result[complete] = survivors[owner.ravel()]
    return result


def hypervolume(points: ArrayLike, reference: ArrayLike) -> float:
    """The volume that ``points [n, objectives]`` dominate up to ``reference``, exactly; for a handful of objectives.

    Points that are not below the reference in every objective do not count. The volume depends on the reference: use
    the same one in a comparison.

    >>> hypervolume([[1.0, 3.0], [2.0, 2.0]], [4.0, 4.0])
    5.0
    """
    table, corner = _table(points), np.asarray(reference, dtype=np.float64)
    if corner.shape != table.shape[1:] or np.isnan(corner).any():
        raise InvalidOption(f"a reference has one number an objective, got {corner.tolist()} for {table.shape[1]}")
    inside = table[(table < corner).all(axis=1)]
    return _volume(np.unique(inside[non_dominated(inside)], axis=0), corner)


def _volume(front: NDArray[np.float64], corner: NDArray[np.float64]) -> float:
    """Sweep along the last objective: between two of its levels, a slab over the volume of all points below it."""
    if not len(front):
        return 0.0
    if len(corner) == 1:
        return float(corner[0] - front[:, 0].min())
    if len(corner) == 2:
        rising = front[np.lexsort((front[:, 1], front[:, 0]))]
        tops = np.minimum.accumulate(np.concatenate([corner[1:], rising[:, 1]]))
        return float(((corner[0] - rising[:, 0]) * (tops[:-1] - tops[1:])).sum())
    rising = front[np.argsort(front[:, -1], kind="stable")]
    levels = np.append(rising[:, -1], corner[-1])
    volume = 0.0
    for count, height in enumerate(np.diff(levels), start=1):
        if height > 0:
            below = rising[:count, :-1]
            volume += float(height) * _volume(below[non_dominated(below)], corner[:-1])
    return volume


def _table(points: ArrayLike) -> NDArray[np.float64]:
    table = np.asarray(points, dtype=np.float64)
    if table.ndim != 2 or not table.shape[1]:
        raise InvalidOption(f"points are an array [n, objectives], got shape {table.shape}")
    return table
