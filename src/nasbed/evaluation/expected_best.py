"""Random search in closed form: the best of n draws with replacement from a finite table.

The best of n draws from the distribution function F has the distribution function F^n. So the whole curve of random
search on a table is known exactly, without running it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nasbed.core.errors import InvalidOption
from nasbed.core.metric import Direction

CHUNK = 1 << 22


@dataclass(frozen=True, slots=True)
class ExpectedBest:
    """The mean and standard deviation, over all random searches, of the best after each number of draws."""

    draws: NDArray[np.int64]
    mean: NDArray[np.float64]
    deviation: NDArray[np.float64]


def repeat_weights(present: ArrayLike) -> NDArray[np.float64]:
    """The probability of each cell of a table ``[architectures, repeats]`` when an architecture is drawn uniformly,
    then one of its existing repeats: as a query does.

    >>> repeat_weights([[True, True], [True, False]]).tolist()
    [[0.25, 0.25], [0.5, 0.0]]
    """
    mask = np.asarray(present, dtype=np.bool_)
    counts = mask.sum(axis=1, keepdims=True)
    return np.where(mask, 1 / np.maximum(counts, 1), 0.0) / max(int((counts > 0).sum()), 1)


def expected_best(
    values: ArrayLike,
    draws: ArrayLike,
    *,
    direction: Direction,
    weights: ArrayLike | None = None,
    judged: ArrayLike | None = None,
) -> ExpectedBest:
    """The best value that random search has after each number of ``draws``.

    With ``judged``, the judged value of that best, such as the mean test metric of its architecture. Of equal values
    the first drawn is the incumbent. A missing value is a draw that finds nothing; the result then covers only searches
    that have found something.

    Args:
        values: What each draw can give.
        draws: The numbers of draws after which the best is wanted.
        direction: Whether a high or a low value is best.
        weights: The probabilities of the values, of the same shape; uniform by default.
        judged: What the incumbent is judged by, one for each value; the value itself by default.

    >>> expected_best([1.0, 2.0, 3.0], [1, 2], direction="maximize").mean.round(4).tolist()
    [2.0, 2.4444]
    >>> expected_best([1.0, 2.0, 3.0], 2, direction="maximize", judged=[0.0, 9.0, 0.0]).mean.round(4).tolist()
    [3.0]
    """
    table = _Distribution.of(values, direction, weights)
    numbers = _numbers(draws)
    judgement = np.asarray(values if judged is None else judged, dtype=np.float64)
    mean = table.group_means(judgement)
    centre = mean[-1]
    columns = np.stack([mean - centre, table.group_means((judgement - centre) ** 2)], axis=1)
    moments = columns[-1] - table.powers(numbers, np.diff(columns, axis=0, prepend=0.0))
    first, second = (moments / (1 - table.below[0] ** numbers)[:, None]).T
    return ExpectedBest(numbers, centre + first, np.sqrt(np.maximum(second - first**2, 0.0)))


def best_quantile(
    values: ArrayLike, draws: ArrayLike, *, direction: Direction, fraction: float, weights: ArrayLike | None = None
) -> NDArray[np.float64]:
    """An exact quantile of the best of each number of draws, over all random searches.

    It is the first value of the table, from the worst, that the best does not exceed in a ``fraction`` of the searches.
    NaN where that many searches have found nothing.

    Args:
        values: What each draw can give.
        draws: The numbers of draws.
        direction: Whether a high or a low value is best.
        fraction: The fraction of searches, in (0, 1].
        weights: The probabilities of the values, of the same shape; uniform by default.

    >>> best_quantile([1.0, 2.0, 3.0, 4.0], [1, 2, 8], direction="maximize", fraction=0.5).tolist()
    [2.0, 3.0, 4.0]
    """
    if not 0 < fraction <= 1:
        raise InvalidOption(f"a quantile is of a fraction in (0, 1], got {fraction}")
    table = _Distribution.of(values, direction, weights)
    levels = np.append(table.below, 1.0)
    position = np.searchsorted(levels, fraction ** (1 / _numbers(draws)) * (1 - 1e-12)) - 1
    return np.where(position < 0, np.nan, table.values[np.clip(position, 0, None)])


@dataclass(frozen=True, slots=True)
class _Distribution:
    """The distinct values from worst to best, each with the probability that a draw is worse or finds nothing."""

    values: NDArray[np.float64]
    below: NDArray[np.float64]
    masses: NDArray[np.float64]
    weights: NDArray[np.float64]  # as given, of the draws that find something
    owner: NDArray[np.int64]  # which distinct value each of those has
    mask: NDArray[np.bool_]
    shape: tuple[int, ...]

    @classmethod
    def of(cls, values: ArrayLike, direction: Direction, weights: ArrayLike | None) -> _Distribution:
        table = np.asarray(values, dtype=np.float64)
        chances = np.ones(table.shape) if weights is None else np.asarray(weights, dtype=np.float64)
        if chances.shape != table.shape or (chances < 0).any():
            raise InvalidOption(f"weights are one chance a value, got {chances.shape} for {table.shape}")
        mask = (~np.isnan(table) & (chances > 0)).ravel()
        if not mask.any():
            raise InvalidOption(f"the best of a table needs a value, got {table.size} without any")
        worth = table.ravel()[mask]
        probabilities = chances.ravel()[mask] / chances.sum()
        distinct, owner = np.unique(-worth if direction == "minimize" else worth, return_inverse=True)
        masses = np.bincount(owner, probabilities).astype(np.float64)
        missing = float(chances.ravel()[~mask].sum() / chances.sum())
        below = np.clip(missing + np.concatenate([[0.0], np.cumsum(masses[:-1])]), 0.0, 1.0)
        signed = -distinct if direction == "minimize" else distinct
        return cls(signed, below, masses, probabilities, owner, mask, table.shape)

    def group_means(self, judged: NDArray[np.float64]) -> NDArray[np.float64]:
        """The mean judgement of the draws that have each distinct value."""
        spread = np.broadcast_to(judged, self.shape).ravel()[self.mask]
        means: NDArray[np.float64] = np.bincount(self.owner, self.weights * spread) / self.masses
        return means

    def powers(self, numbers: NDArray[np.int64], steps: NDArray[np.float64]) -> NDArray[np.float64]:
        """``below ** n @ steps`` for each n, a bounded piece at a time."""
        with np.errstate(divide="ignore"):
            logarithms = np.log(self.below)
        size = max(1, CHUNK // len(self.below))
        pieces = [numbers[first : first + size, None] for first in range(0, len(numbers), size)]
        return np.concatenate([np.exp(piece * logarithms) @ steps for piece in pieces])


def _numbers(draws: ArrayLike) -> NDArray[np.int64]:
    numbers = np.atleast_1d(np.asarray(draws, dtype=np.int64))
    if numbers.ndim != 1 or not len(numbers) or numbers.min() < 1:
        raise InvalidOption(f"the best is of 1 draw or more, got {np.asarray(draws).tolist()}")
    return numbers
