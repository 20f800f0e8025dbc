"""How far architectures are from the best one, and what that says of their quality (section 3.3)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nasbed.core.architecture import Architecture
from nasbed.core.errors import InvalidOption
from nasbed.core.metric import Direction
from nasbed.evaluation.landscape.choices import choices_of
from nasbed.evaluation.landscape.distribution import GroupMeans, mean_by
from nasbed.evaluation.landscape.relations import pearson
from nasbed.spaces import SearchSpace
from nasbed.spaces.base import Codes
from nasbed.spaces.nb101 import NB101
from nasbed.spaces.nb101.canonical import interior_orders, kept_batch
from nasbed.spaces.nb101.cell import FIRST_BIT, LAST, MAX_VERTICES


@dataclass(frozen=True, slots=True)
class FitnessDistance:
    """``distances`` to the best row of a table, the mean metric at each distance, and the correlation of the two."""

    best: int
    distances: NDArray[np.int64]
    by_distance: GroupMeans
    correlation: float

    def fraction_within(self, distance: int) -> float:
        """The fraction of the table that is at most so many edits from the best."""
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

    Elsewhere than in NAS-Bench-101: the number of choices that differ. In NAS-Bench-101: the number of labels and
    edges that differ, minimised over all numberings of the architecture's vertices, which are its isomorphic
    encodings and more; so it is the same for isomorphic cells and the same both ways. The vertices that a smaller cell
    lacks count as isolated vertices with whatever label is wanted.

    >>> from nasbed import space
    >>> nb201 = space("nb201")
    >>> edit_distances(nb201, np.array([[0, 1, 2, 3, 4, 0], [0, 0, 0, 0, 0, 0]]), nb201.architectures(
    ...     np.array([[0, 1, 2, 3, 0, 0]]))[0]).tolist()
    [1, 3]
    """
    if isinstance(space, NB101):
        return _nb101_distances(space.canonical_codes(codes), space.canonical(arch))
    values = choices_of(space, np.concatenate([codes, space.codes([arch])])).values
    differing: NDArray[np.int64] = (values[:-1] != values[-1]).sum(axis=1)
    return differing


def _nb101_distances(codes: Codes, arch: Architecture) -> NDArray[np.int64]:
    """Over every numbering of the interior of ``arch``. An edge that a numbering turns backward is in none of the
    rows, so it counts as one to remove beside one to add."""
    edges, ops = arch.code[0], arch.code[1:]
    arch_vertices = int(kept_batch(np.array([edges]))[0])
    vertices = kept_batch(codes[:, 0])
    live = vertices[:, None] >> np.arange(1, LAST) & 1 == 1
    nearest = np.full(len(codes), np.iinfo(np.int64).max)
    for order in interior_orders(MAX_VERTICES):
        forward, backward = 0, 0
        for target in range(1, MAX_VERTICES):
            for source in range(target):
                if edges >> (FIRST_BIT[target] + source) & 1:
                    if order[source] < order[target]:
                        forward |= 1 << (FIRST_BIT[order[target]] + order[source])
                    else:
                        backward += 1
        distance = np.bitwise_count(codes[:, 0] ^ forward).astype(np.int64) + backward
        for vertex in range(1, LAST):
            if arch_vertices >> vertex & 1:
                place = order[vertex]
                distance += live[:, place - 1] & (codes[:, place] != ops[vertex - 1])
        nearest = np.minimum(nearest, distance)
    return nearest
