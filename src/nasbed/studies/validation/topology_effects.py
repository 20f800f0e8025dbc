"""What the topology of a cell does to the metric and what its operations do (appendix E.7).

Every topology meets the same sets of operations, so both effects can be told apart. Models predict a list of such
architectures for any table of the space. Where the table holds such a list, its evaluations are decomposed too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nasbed.core.errors import InvalidOption
from nasbed.core.status import OK
from nasbed.evaluation.two_way import TwoWaySpread, two_way
from nasbed.results.store import Results
from nasbed.spaces.base import Codes, SearchSpace
from nasbed.spaces.darts.topologies import cell_topologies, same_cells
from nasbed.studies.validation.cell_depths import cell_depths
from nasbed.studies.validation.data import ValidationData
from nasbed.surrogates.base import Floats

DESIGN = "topologies"
EVALUATED = "evaluated"


@dataclass(frozen=True, slots=True)
class TopologyEffect:
    """The spread of one model's predictions, or of evaluations, over topologies (rows) and sets of operations.

    ``by_depth`` has the mean over the topologies of each depth, less the mean over all.
    """

    label: str  # a model, or EVALUATED
    topologies: int
    operation_sets: int
    spread: TwoWaySpread
    by_depth: dict[int, float]


@dataclass(frozen=True, slots=True)
class TopologyEffects:
    """The effects by model; those of evaluations are last, where the table holds a list of topologies."""

    effects: tuple[TopologyEffect, ...]


def topology_design(space: SearchSpace, seed: int) -> Codes:
    """The codes of the list of a space, drawn with a seed, set by set; raises for a space without one."""
    if DESIGN not in space.designs:
        raise InvalidOption(f"the space {space.name} has no list of topologies with sets of operations; darts has one")
    return space.designs[DESIGN](np.random.default_rng(seed))


def topology_effects(
    data: ValidationData, results: Results, design: Codes, predicted: Mapping[str, Floats]
) -> TopologyEffects:
    """The effects in the predictions for a design, by label, and in the table's own evaluations."""
    topologies = len(cell_topologies())
    depth = cell_depths(data.space, design[:topologies])
    effects = [_effect(label, values.reshape(-1, topologies).T, depth) for label, values in predicted.items()]
    block = evaluated_block(data, results)
    if block is not None:
        effects.append(_effect(EVALUATED, *block))
    return TopologyEffects(tuple(effects))


def evaluated_block(data: ValidationData, results: Results) -> tuple[Floats, NDArray[np.int64]] | None:
    """The means of a table's architectures with two equal cells, ``[topologies, sets of operations]``, and the depths
    of the topologies; ``None`` where no two topologies meet the same two sets.

    Sets with less than half as many topologies as the fullest one do not count, nor then topologies that miss a set.
    """
    parts = []
    for rows in results.batches():
        column = rows.values[data.metric.key]
        used = (rows.status == OK) & np.isfinite(column) & (rows.fidelity == data.rows.fidelity)
        parts.append((rows.codes[used], column[used]))
    codes, y = (np.concatenate(column) for column in zip(*parts, strict=True))
    rows_of_same, sources, operations = same_cells(codes)
    if not len(rows_of_same):
        return None
    topologies, topology = np.unique(sources, axis=0, return_inverse=True)
    sets, owner = np.unique(operations, axis=0, return_inverse=True)
    sums, counts = np.zeros((2, len(topologies), len(sets)))
    place = topology.reshape(-1), owner.reshape(-1)
    np.add.at(sums, place, y[rows_of_same])
    np.add.at(counts, place, 1)
    coverage = (counts > 0).sum(axis=0)
    full_sets = np.flatnonzero(2 * coverage >= coverage.max())
    complete = np.flatnonzero((counts[:, full_sets] > 0).all(axis=1))
    if min(len(full_sets), len(complete)) < 2:
        return None
    block = np.ix_(complete, full_sets)
    first = rows_of_same[[int(np.flatnonzero(place[0] == number)[0]) for number in complete]]
    return sums[block] / counts[block], cell_depths(data.space, codes[first])


def _effect(label: str, values: Floats, depth: NDArray[np.int64]) -> TopologyEffect:
    means = values.mean(axis=1) - values.mean()
    by_depth = {int(level): float(means[depth == level].mean()) for level in np.unique(depth)}
    topologies, sets = values.shape
    return TopologyEffect(label, topologies, sets, two_way(values), by_depth)
