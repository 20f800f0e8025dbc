"""Features as integers whose order decides at each split, so that libraries differ in the keys and not in the walk."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Words = NDArray[np.uint32]

NAN_LEFT, NAN_RIGHT, NAN_ZERO, ZERO_LEFT, ZERO_RIGHT, CATEGORY, CATEGORY_CUT = range(7)
"""How a value of a feature becomes the key that a split compares. ``NAN_…``: a missing value goes left, goes right or
counts as zero. ``ZERO_…``: a zero or missing value goes left or right. ``CATEGORY``: the value is a category, and a
negative one is unknown. ``CATEGORY_CUT``: it is a category after its decimals are cut off."""

TOP = 1 << 31
"""Marks a leaf among children and a set of categories among columns."""


def keys(values: NDArray[np.float32]) -> Words:
    """Numbers, none missing, as unsigned integers in their order; both zeros are one.

    >>> keys(np.array([-np.inf, -1.0, -0.0, 0.0, 1e-45, 1.0, np.inf], dtype=np.float32)).tolist()
    [8388607, 1082130431, 2147483648, 2147483648, 2147483649, 3212836864, 4286578688]
    """
    bits = (np.asarray(values, dtype=np.float32) + np.float32(0)).view(np.uint32)
    ordered: Words = np.where(bits >= TOP, ~bits, bits | np.uint32(TOP))
    return ordered


def highest_at_most(thresholds: Floats) -> NDArray[np.float32]:
    """The largest float32 that is not above each threshold: a float32 is at most the one where it is at most the other.

    >>> highest_at_most(np.array([0.5, 0.1])).astype(float).tolist()
    [0.5, 0.09999999403953552]
    """
    with np.errstate(over="ignore"):
        near = thresholds.astype(np.float32)
    above = near.astype(np.float64) > thresholds
    return np.where(above, np.nextafter(near, np.float32(-np.inf)), near).astype(np.float32)


NEARLY_ZERO = np.float32(1e-35)
"""LightGBM takes smaller magnitudes for zero."""

CATEGORIES, CUT_CATEGORIES = 2.0**24, 2.0**31
"""Where XGBoost's and LightGBM's categories end."""

ALL = np.uint32(0xFFFFFFFF)
FALLBACK = np.array([0, ALL, TOP, 0, ALL, 0, 0], dtype=np.uint32)
"""The key of a missing value, by rule: below all numbers, above them, or that of zero."""


def column_keys(rows: NDArray[np.float32], columns: NDArray[np.int32]) -> Words:
    """What the splits of a forest compare, ``[n, columns]``: each column is a feature under a rule."""
    values, rule = rows[:, columns[:, 0]], columns[:, 1]
    missing = np.isnan(values)
    category = rule >= CATEGORY
    uses_fallback = missing | ((rule >= ZERO_LEFT) & ~category & (np.abs(values) <= NEARLY_ZERO))
    column_key = np.where(uses_fallback, FALLBACK[rule], keys(np.where(missing, np.float32(0), values)))
    if category.any():
        cut = rule == CATEGORY_CUT
        is_category = np.where(cut, (values > -1) & (values < CUT_CATEGORIES), (values >= 0) & (values < CATEGORIES))
        number = np.where(is_category, values, 0).astype(np.int64) + 2
        column_key = np.where(category & ~missing, np.where(is_category, number, 1), column_key)
    return column_key.astype(np.uint32)
