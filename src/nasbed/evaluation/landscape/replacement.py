"""The effect of replacing one operation by another (section 3.2, Figure 4)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nasbed.spaces import SearchSpace
from nasbed.spaces.base import Codes
from nasbed.spaces.facts import OperationChanges


@dataclass(frozen=True, slots=True)
class Replacement:
    """The mean effect of replacing operation ``i`` by operation ``j``. Arrays are indexed ``[i, j]``, NaN where there
    is no such replacement.

    ``change`` is that of the metric, in its own unit; ``relative_time`` that of the training time, as a fraction of
    what it was before. ``change_error`` is the standard error of ``change``; it accounts for the noise that
    replacements of one architecture share (Fafchamps & Gubert's estimator for pairs).
    """

    where: tuple[str, ...]
    operations: tuple[str, ...]
    counts: NDArray[np.int64]
    change: NDArray[np.float64]
    change_error: NDArray[np.float64]
    relative_time: NDArray[np.float64]


def operation_replacement(
    space: SearchSpace, codes: Codes, *, metric: ArrayLike, time_s: ArrayLike | None = None
) -> tuple[Replacement, ...]:
    """The mean effect of each single replacement of which the table holds both ends.

    ``codes`` are canonical, each once. In NAS-Bench-101 a replacement gives one vertex another label, once
    for every vertex of every cell; elsewhere it gives one choice another option, and choices that offer the same
    options are averaged together. One result for each set of options; rows without a metric take no part.

    >>> from nasbed import space
    >>> nb201 = space("nb201")
    >>> codes = nb201.codes(list(nb201.enumerate()))
    >>> (result,) = operation_replacement(nb201, codes, metric=codes.sum(axis=1))
    >>> result.operations[3], result.operations[2], float(result.change[3, 2]), int(result.counts[3, 2])
    ('nor_conv_3x3', 'nor_conv_1x1', -1.0, 18750)
    """
    values = np.asarray(metric, dtype=np.float64)
    times = np.full(len(codes), np.nan) if time_s is None else np.asarray(time_s, dtype=np.float64)
    present = np.flatnonzero(~np.isnan(values))
    codes, values, times = codes[present], values[present], times[present]
    return tuple(_mean_replacement(kind, values, times) for kind in space.operation_changes(codes))


def _mean_replacement(kind: OperationChanges, values: NDArray[np.float64], times: NDArray[np.float64]) -> Replacement:
    size = len(kind.names)
    kinds, rows = size * size, len(values)
    counts, timed = np.zeros(kinds, dtype=np.int64), np.zeros(kinds, dtype=np.int64)
    sums, squares, time_sums = (np.zeros(kinds) for _ in range(3))
    ends: list[NDArray[np.int64]] = []
    differences: list[NDArray[np.float64]] = []
    for first, second, before, after in kind.changes:
        pair = before * size + after
        difference = values[second] - values[first]
        counts += np.bincount(pair, minlength=kinds)
        sums += np.bincount(pair, difference, minlength=kinds)
        squares += np.bincount(pair, difference**2, minlength=kinds)
        ends += [pair * rows + first, pair * rows + second]
        differences += [difference, difference]
        with np.errstate(invalid="ignore", divide="ignore"):
            relative = times[second] / times[first] - 1
        finite = np.isfinite(relative)
        timed += np.bincount(pair[finite], minlength=kinds)
        time_sums += np.bincount(pair[finite], relative[finite], minlength=kinds)
    with np.errstate(invalid="ignore", divide="ignore"):
        means = sums / counts
        alone = np.maximum(squares - counts * means**2, 0.0)
        shared = _squares_by_row(ends, differences, means, rows)
        errors = np.sqrt(np.maximum(shared - alone, alone)) / np.where(counts > 1, counts, np.nan)
        relative_times = time_sums / timed
    grid = (size, size)
    return Replacement(
        kind.choices,
        kind.names,
        counts.reshape(grid),
        means.reshape(grid),
        errors.reshape(grid),
        relative_times.reshape(grid),
    )


def _squares_by_row(
    ends: list[NDArray[np.int64]], differences: list[NDArray[np.float64]], means: NDArray[np.float64], rows: int
) -> NDArray[np.float64]:
    """For each kind of replacement, the squared sum of the deviations that one row takes part in, over all rows."""
    if not ends:
        return np.zeros(len(means))
    place, owner = np.unique(np.concatenate(ends), return_inverse=True)
    kind = place // rows
    sums = np.bincount(owner, np.concatenate(differences)) - means[kind] * np.bincount(owner)
    squares: NDArray[np.float64] = np.bincount(kind, sums**2, minlength=len(means)).astype(np.float64)
    return squares
