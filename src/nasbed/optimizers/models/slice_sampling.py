"""Slice sampling of one number within bounds (Neal 2003)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np


def slice_sample(
    log_density: Callable[[float], float], start: float, *, low: float, high: float, rng: np.random.Generator
) -> float:
    """The next state of a chain whose stationary density on [low, high] is ``exp(log_density)``, up to a factor.

    The first interval is all of [low, high], so stepping out and doubling are not needed. It shrinks towards ``start``
    with each value drawn from outside the slice.

    Args:
        log_density: The logarithm of the density, up to a constant.
        start: The current state.
        low: The lower bound.
        high: The upper bound.
        rng: Draws the level and the values.
    """
    level = log_density(start) - rng.exponential()
    while high - low > 1e-9:
        value = float(rng.uniform(low, high))
        if log_density(value) > level:
            return value
        if value < start:
            low = value
        else:
            high = value
    return start
