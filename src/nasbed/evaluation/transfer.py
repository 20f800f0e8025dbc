"""Whether one set of hyperparameters is enough for all architectures (NAS-Bench-101, section 5.1)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nasbed.core.errors import InvalidOption
from nasbed.core.metric import Direction
from nasbed.evaluation.landscape.relations import spearman


@dataclass(frozen=True, slots=True)
class Transfer:
    """``tuned`` is the paper's f*(A), each architecture with its own best hyperparameters; ``fixed`` is f†(A), each
    with the same ones, H†."""

    tuned: NDArray[np.float64]
    fixed: NDArray[np.float64]
    chosen: int  # the column of H†
    spearman: float


def hyperparameter_transfer(performance: ArrayLike, *, direction: Direction) -> Transfer:
    """Compare tuning each architecture with tuning once for all, on ``performance [architectures, hyperparameters]``.

    H† is the column of the best mean over all architectures. Missing values are refused: which column is best would
    depend on where they are.

    >>> result = hyperparameter_transfer([[1.0, 2.0], [3.0, 2.5], [9.0, 3.0]], direction="minimize")
    >>> result.tuned.tolist(), result.fixed.tolist(), result.chosen, result.spearman
    ([1.0, 2.5, 3.0], [2.0, 2.5, 3.0], 1, 1.0)
    """
    table = np.asarray(performance, dtype=np.float64)
    if table.ndim != 2 or np.isnan(table).any():
        raise InvalidOption(
            f"transfer needs a full array [architectures, hyperparameters], got shape {table.shape} with "
            f"{int(np.isnan(table).sum())} missing values; leave incomplete ones out"
        )
    losses = -table if direction == "maximize" else table
    column = int(losses.mean(axis=0).argmin())
    tuned = table.max(axis=1) if direction == "maximize" else table.min(axis=1)
    return Transfer(tuned, table[:, column], column, spearman(tuned, table[:, column]))
