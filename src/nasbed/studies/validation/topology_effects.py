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
from nasbed.evaluation.two_way import TwoWaySpread, two_way
from nasbed.results.store import Results
from nasbed.spaces.base import Codes, SearchSpace
from nasbed.spaces.facts import CrossedList
from nasbed.studies.validation.data import ValidationData
from nasbed.studies.validation.evaluations.cell_depths import cell_depths
from nasbed.surrogates.base import Floats
from nasbed.surrogates.examples import examples

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
    """The codes of the list of a space, drawn with a seed; raises for a space without one."""
    return _list_of(space).draw(np.random.default_rng(seed))


def topology_effects(
    data: ValidationData, results: Results, design: Codes, predicted: Mapping[str, Floats]
) -> TopologyEffects:
    """The effects in the predictions for a design, by label, and in the table's own evaluations."""
    blocks = {label: _block(data.space, design, values) for label, values in predicted.items()}
    blocks[EVALUATED] = _block(data.space, *_evaluations(data, results))
    return TopologyEffects(tuple(_effect(label, *block) for label, block in blocks.items() if block is not None))


def _list_of(space: SearchSpace) -> CrossedList:
    if DESIGN not in space.designs:
        raise InvalidOption(f"the space {space.name} has no list of topologies with sets of operations; darts has one")
    return space.designs[DESIGN]


def _evaluations(data: ValidationData, results: Results) -> tuple[Codes, Floats]:
    """The evaluations of a table with the codes that were trained: a canonical form may number nodes otherwise."""
    rows = examples(results, metric=data.metric, fidelity=data.rows.fidelity)
    return rows.codes, rows.y


def _block(space: SearchSpace, codes: Codes, values: Floats) -> tuple[Floats, NDArray[np.int64]] | None:
    """The mean values ``[topologies, sets of operations]`` and the depths of the topologies; ``None`` where no two
    topologies meet the same two sets.

    Sets with less than half as many topologies as the fullest one do not count, nor then topologies that miss a set.
    """
    rows, sources, operations = _list_of(space).levels(codes)
    if not len(rows):
        return None
    topologies, first, topology = np.unique(sources, axis=0, return_index=True, return_inverse=True)
    sets, owner = np.unique(operations, axis=0, return_inverse=True)
    sums, counts = np.zeros((2, len(topologies), len(sets)))
    places = topology.reshape(-1), owner.reshape(-1)
    np.add.at(sums, places, values[rows])
    np.add.at(counts, places, 1)
    coverage = (counts > 0).sum(axis=0)
    full_sets = np.flatnonzero(2 * coverage >= coverage.max())
    complete = np.flatnonzero((counts[:, full_sets] > 0).all(axis=1))
    if min(len(full_sets), len(complete)) < 2:
        return None
    block = np.ix_(complete, full_sets)
    return sums[block] / counts[block], cell_depths(space, codes[rows[first[complete]]])


def _effect(label: str, values: Floats, depth: NDArray[np.int64]) -> TopologyEffect:
    means = values.mean(axis=1) - values.mean()
    by_depth = {int(level): float(means[depth == level].mean()) for level in np.unique(depth)}
    topologies, sets = values.shape
    return TopologyEffect(label, topologies, sets, two_way(values), by_depth)
