"""How good a search was at each moment: the incumbent and its regret over time (NAS-Bench-101, section 2.6)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nasbed.core.errors import InvalidOption
from nasbed.core.metric import Direction
from nasbed.evaluation.ranks import ENDS, MeanBand

Scale = Literal["log", "linear"]
Centre = Literal["median", "mean"]
"""What stands for many seeds in a curve: the median with the quartiles, or the mean with its 95 % interval."""


@dataclass(frozen=True, slots=True)
class Bands:
    """Many seeds as one curve. NaN wherever some seed has no value yet: a median over the others would be of the
    fast ones."""

    median: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]


def incumbent_index(values: ArrayLike, direction: Direction, *, fidelity: ArrayLike | None = None) -> NDArray[np.int64]:
    """Which evaluation is the incumbent after each evaluation, -1 before the first that has a value (section 2.6).

    The first of equals stays. With ``fidelity``, only evaluations at the highest one so far compete, as a short
    training says little compared with a long one. The value of the incumbent may get worse when a higher fidelity is
    first reached.

    >>> incumbent_index([float("nan"), 3.0, 2.0, 3.0, 4.0], "maximize").tolist()
    [-1, 1, 1, 1, 4]
    >>> incumbent_index([5.0, 2.0, 9.0, 3.0], "maximize", fidelity=[1, 4, 1, 4]).tolist()
    [0, 1, 1, 3]
    """
    loss = _losses(values, direction)
    present = ~np.isnan(loss)
    levels = np.zeros(len(loss), dtype=np.int64) if fidelity is None else np.asarray(fidelity, dtype=np.int64)
    lowest = int(levels.min(initial=0)) - 1
    reached = np.maximum.accumulate(np.where(present, levels, lowest)) if len(loss) else levels
    index = np.full(len(loss), -1, dtype=np.int64)
    for level in np.unique(levels[present]):
        entered = np.where(present & (levels == level), loss, np.inf)
        best_so_far = np.concatenate([[np.inf], np.minimum.accumulate(entered)[:-1]])
        best = np.maximum.accumulate(np.where(entered < best_so_far, np.arange(len(loss)), -1))
        index = np.where(reached == level, best, index)
    return index


def incumbent(values: ArrayLike, direction: Direction) -> NDArray[np.float64]:
    """The best value so far after each evaluation; a missing one changes nothing, NaN before the first.

    >>> incumbent([float("nan"), 3.0, 2.0, float("nan"), 4.0], "maximize").tolist()
    [nan, 3.0, 3.0, 3.0, 4.0]
    """
    column = np.asarray(values, dtype=np.float64)
    if not len(column):
        return column
    best: NDArray[np.float64] = (np.fmax if direction == "maximize" else np.fmin).accumulate(column)
    return best


def regret(values: ArrayLike, direction: Direction, *, best: float) -> NDArray[np.float64]:
    """How much worse than ``best`` each value is: the immediate regret of section 2.6 when they are incumbents.

    >>> regret([90.0, 93.5], "maximize", best=94.0).tolist()
    [4.0, 0.5]
    """
    return _losses(values, direction) - (-best if direction == "maximize" else best)


def time_grid(first_s: float, last_s: float, *, points: int = 200, scale: Scale = "log") -> NDArray[np.float64]:
    """Times at which curves are compared, both ends included, evenly spread on the scale.

    >>> time_grid(1.0, 100.0, points=3).tolist()
    [1.0, 10.0, 100.0]
    """
    if not 0 < first_s <= last_s < np.inf or points < 2:
        raise InvalidOption(
            f"a time grid has 2 points or more in 0 < first <= last, got {points} in {first_s}, {last_s}"
        )
    if scale == "linear":
        return np.linspace(first_s, last_s, points)
    grid: NDArray[np.float64] = np.geomspace(first_s, last_s, points)
    grid[0], grid[-1] = first_s, last_s
    return grid


def at_times(times_s: ArrayLike, values: ArrayLike, *, grid_s: ArrayLike) -> NDArray[np.float64]:
    """A step function at the times of a grid: the last value at or before each, NaN before the first.

    >>> at_times([10.0, 20.0, 20.0], [5.0, 4.0, 3.0], grid_s=[5.0, 10.0, 19.0, 20.0, 99.0]).tolist()
    [nan, 5.0, 5.0, 3.0, 3.0]
    """
    times, steps = np.asarray(times_s, dtype=np.float64), np.asarray(values, dtype=np.float64)
    position = np.searchsorted(times, np.asarray(grid_s, dtype=np.float64), side="right")
    return np.concatenate([[np.nan], steps])[position]


def bands(curves: ArrayLike, *, level: float = 0.5) -> Bands:
    """The median and the middle ``level`` of curves ``[seeds, times]`` at each time.

    >>> result = bands([[4.0, 1.0], [6.0, 2.0], [5.0, float("nan")]])
    >>> result.median.tolist(), result.low.tolist(), result.high.tolist()
    ([5.0, nan], [4.5, nan], [5.5, nan])
    """
    table = np.asarray(curves, dtype=np.float64)
    if table.ndim != 2 or not len(table) or not 0 < level < 1:
        raise InvalidOption(f"bands take curves [seeds, times] and a level in (0, 1), got {table.shape} and {level}")
    low, median, high = np.quantile(table, [(1 - level) / 2, 0.5, (1 + level) / 2], axis=0)
    return Bands(median, low, high)


def mean_bands(curves: ArrayLike, rng: np.random.Generator, *, resamples: int = 300) -> MeanBand:
    """The mean of curves ``[seeds, times]`` at each time with its 95 % bootstrap interval over seeds, as NAS-Bench-101
    draws means (figure 7). NaN wherever some seed has no value yet.

    >>> result = mean_bands([[4.0, 1.0], [6.0, 1.0], [5.0, float("nan")]], np.random.default_rng(0))
    >>> result.mean.tolist(), bool(4 <= result.low[0] < 5 < result.high[0] <= 6)
    ([5.0, nan], True)
    """
    table = np.asarray(curves, dtype=np.float64)
    if table.ndim != 2 or not len(table):
        raise InvalidOption(f"bands take curves [seeds, times], got {table.shape}")
    shares = rng.multinomial(len(table), np.full(len(table), 1 / len(table)), size=resamples) / len(table)
    low, high = np.quantile(shares @ table, ENDS, axis=0)
    return MeanBand(table.mean(axis=0), low, high)


def area_under_curve(
    times_s: ArrayLike, values: ArrayLike, *, first_s: float, last_s: float, scale: Scale = "log"
) -> float:
    """The exact mean of a step function over a span of (logarithmic) time, in the unit of its values.

    It is the same for the same curve however often that is evaluated. NaN if the curve begins after ``first_s``.

    Args:
        times_s: When the values begin, rising.
        values: The values from those times on.
        first_s: The start of the span.
        last_s: The end of the span.
        scale: Whether time is logarithmic or linear.

    >>> area_under_curve([1.0, 10.0], [4.0, 2.0], first_s=1.0, last_s=100.0)
    3.0
    >>> area_under_curve([1.0, 10.0], [4.0, 2.0], first_s=1.0, last_s=19.0, scale="linear")
    3.0
    """
    times = np.asarray(times_s, dtype=np.float64)
    if not 0 < first_s < last_s < np.inf:
        raise InvalidOption(f"an area needs 0 < first < last, got {first_s} and {last_s}")
    corners = np.concatenate([[first_s], times[(times > first_s) & (times < last_s)], [last_s]])
    heights = at_times(times, values, grid_s=corners[:-1])
    widths = np.diff(np.log(corners) if scale == "log" else corners)
    return float(heights @ widths / widths.sum())


def _losses(values: ArrayLike, direction: Direction) -> NDArray[np.float64]:
    column = np.asarray(values, dtype=np.float64)
    return -column if direction == "maximize" else column
