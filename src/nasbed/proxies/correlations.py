"""Correlations between the rows of a matrix."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from nasbed.core.errors import InvalidMeasurement


def correlations(rows: Tensor) -> NDArray[np.float64]:
    """The correlations in double precision. A row that does not vary raises."""
    values = rows.detach().cpu().double().numpy()
    values = values - values.mean(axis=1, keepdims=True)
    lengths = np.linalg.norm(values, axis=1)
    if not lengths.all():
        raise InvalidMeasurement("correlations need rows that vary, one of the images has a constant gradient")
    values /= lengths[:, None]
    products: NDArray[np.float64] = values @ values.T
    return products
