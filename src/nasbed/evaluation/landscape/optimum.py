"""The distances of architectures to the best one, and their relation to quality (section 3.3)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nasbed.core.architecture import Architecture
from nasbed.core.errors import InvalidOption
from nasbed.core.metric import Direction
from nasbed.evaluation.landscape.distribution import GroupMeans, mean_by
from nasbed.evaluation.landscape.relations import pearson
from nasbed.spaces import SearchSpace
from nasbed.spaces.base import Codes


@dataclass(frozen=True, slots=True)
class FitnessDistance:
    """``distances`` to the best row of a table, the mean metric at each distance, and the correlation of the two."""

    best: int
    distances: NDArray[np.int64]
    by_distance: GroupMeans
    correlation: float

    def fraction_within(self, distance: int) -> float:
        """The fraction of the table that is at most this many edits from the best."""
        return float((self.distances <= distance).mean())


def fitness_distance_correlation(
    space: SearchSpace, codes: Codes, values: ArrayLike, *, direction: Direction
) -> FitnessDistance:
    """Pearson's correlation between a metric and the distance to its global optimum (FDC; Jones, 1995).

    Near -1 for a metric to be maximised, near +1 for one to be minimised: the closer, the better. The best row itself
    takes part, as in the definition.

    >>> from nasbed import space
    >>> nb201 = space("nb201")
    >>> codes = nb201.codes(list(nb201.enumerate()))
    >>> result = fitness_distance_correlation(nb201, codes, (codes == 3).sum(axis=1), direction="maximize")
    >>> codes[result.best].tolist(), round(result.correlation, 9), result.by_distance.means.tolist()
    ([3, 3, 3, 3, 3, 3], -1.0, [6.0, 5.0, 4.0, 3.0, 2.0, 1.0, 0.0])
    """
    column = np.asarray(values, dtype=np.float64)
    if np.isnan(column).all():
        raise InvalidOption(
            f"an optimum needs a value, all {len(column)} architectures lack one; choose another metric"
        )
    best = int(np.nanargmax(column) if direction == "maximize" else np.nanargmin(column))
    distances = edit_distances(space, codes, space.architectures(codes[best : best + 1])[0])
    return FitnessDistance(best, distances, mean_by(distances, column), pearson(distances, column))


def edit_distances(space: SearchSpace, codes: Codes, arch: Architecture) -> NDArray[np.int64]:
    """The smallest number of single edits between one architecture and each row of ``codes``.

    The space decides what an edit is: the number of choices that differ, or in NAS-Bench-101 the number of labels and
    edges that differ, minimised over all numberings of the vertices.

    >>> from nasbed import space
    >>> nb201 = space("nb201")
    >>> edit_distances(nb201, np.array([[0, 1, 2, 3, 4, 0], [0, 0, 0, 0, 0, 0]]), nb201.architectures(
    ...     np.array([[0, 1, 2, 3, 0, 0]]))[0]).tolist()
    [1, 3]
    """
    return space.edit_distances(codes, arch)
