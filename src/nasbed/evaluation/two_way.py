"""A table with two factors and one value a cell: how much of its spread each factor accounts for."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from nasbed.core.errors import InvalidOption


@dataclass(frozen=True, slots=True)
class TwoWaySpread:
    """Standard deviations of the effects of rows and of columns, and of what is left: interaction and noise."""

    rows: float
    columns: float
    rest: float


def two_way(values: ArrayLike) -> TwoWaySpread:
    """The components of variance of ``values [rows, columns]``, as standard deviations.

    The estimates are those of the analysis of variance with random effects: unbiased as variances, so that a factor
    without effect does not gain from having many levels. A negative estimate becomes 0.

    >>> two_way([[1.0, 2.0], [1.0, 2.0]]).columns.__round__(4), two_way([[1.0, 2.0], [1.0, 2.0]]).rows
    (0.7071, 0.0)
    """
    table = np.asarray(values, dtype=np.float64)
    if table.ndim != 2 or min(table.shape) < 2 or not np.isfinite(table).all():
        raise InvalidOption(f"two factors need a complete table of at least 2 × 2 values, got the shape {table.shape}")
    height, width = table.shape
    of_rows, of_columns = table.mean(axis=1), table.mean(axis=0)
    rest = table - of_rows[:, None] - of_columns[None, :] + table.mean()
    left = float((rest**2).sum()) / ((height - 1) * (width - 1))
    rows = max(float(of_rows.var(ddof=1)) - left / width, 0.0)
    columns = max(float(of_columns.var(ddof=1)) - left / height, 0.0)
    return TwoWaySpread(float(np.sqrt(rows)), float(np.sqrt(columns)), float(np.sqrt(left)))
