"""The checks of the input of every ranking measure."""

from __future__ import annotations

from operator import index

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nasbed.core.errors import InvalidMeasurement, InvalidOption, shorten

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


def checked_columns(truth: ArrayLike, *scores: ArrayLike) -> list[Floats]:
    """The true values and the scores of 2 items or more as columns of one length, none of them NaN.

    Infinite values are ranked like others, so that -inf is a score for what failed and has to come last.

    >>> [column.tolist() for column in checked_columns([1, 2], [0.5, float("-inf")])]
    [[1.0, 2.0], [0.5, -inf]]
    """
    names = ["true values", *["scores"] * len(scores)]
    columns = [_column(values, name) for values, name in zip((truth, *scores), names, strict=True)]
    lengths = [len(column) for column in columns]
    if len(set(lengths)) > 1:
        raise InvalidOption(f"every item has a true value and a score, got {lengths[0]} and {lengths[1:]}; align them")
    if lengths[0] < 2:
        raise InvalidOption(f"a ranking has 2 items or more, got {lengths[0]}; give more items")
    for column, name in zip(columns, names, strict=True):
        missing = int(np.isnan(column).sum())
        if missing:
            raise InvalidMeasurement(
                f"a ranking needs a number for every item, got NaN among the {name} for {missing} of {len(column)}; "
                "leave those items out of all columns, or give -inf to what has to come last"
            )
    return columns


def checked_depth(depth: int, items: int, name: str) -> int:
    """A depth of a ranking, from 1 to the number of items.

    >>> checked_depth(3, 5, "k")
    3
    """
    try:
        number = index(depth)
    except TypeError:
        number = 0
    if not 1 <= number <= items:
        raise InvalidOption(f"{name} is a whole number from 1 to the {items} items, got {shorten(depth)}")
    return number


def _column(values: ArrayLike, name: str) -> Floats:
    try:
        column = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise InvalidMeasurement(f"{name} are a column of numbers, got {shorten(values)}") from None
    if column.ndim != 1:
        raise InvalidOption(f"{name} are a column of numbers, got an array of shape {column.shape}; give one column")
    return column
