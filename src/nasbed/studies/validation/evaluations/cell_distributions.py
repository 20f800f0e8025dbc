"""How the metric is distributed by cell depth and by the number of parameter-free operations (appendix C.5, figures 9,
14 and 21a)."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nasbed.core.errors import InvalidOption
from nasbed.evaluation.landscape import ValueGroup, value_groups
from nasbed.spaces.base import Codes, SearchSpace
from nasbed.studies.validation.data import ValidationData
from nasbed.studies.validation.evaluations.cell_depths import ONLY_CELL, cell_names, depths_by_cell

DEPTH = "depth"
ALL_FREE = "parameter-free operations"


@dataclass(frozen=True, slots=True)
class CellDistribution:
    """The means of architectures by one whole-number ``property`` of one ``cell``: its depth, or how many operations of
    a kind it has."""

    cell: str
    property: str
    groups: tuple[ValueGroup, ...]


@dataclass(frozen=True, slots=True)
class CellDistributions:
    """The distributions of all cells and properties."""

    distributions: tuple[CellDistribution, ...]


def check_cells(data: ValidationData) -> None:
    """Raise unless architectures of the space have a depth or parameter-free operations."""
    _properties(data.space, data.rows.codes[:1])


def cell_distributions(data: ValidationData) -> CellDistributions:
    """The distributions over all architectures of a table, by the properties in which these differ."""
    codes, mean = data.architectures()
    varied = {name: keys for name, keys in _properties(data.space, codes).items() if np.ptp(keys) > 0}
    if not varied:
        raise InvalidOption(f"the architectures of {data.name} all have the same depth and parameter-free operations")
    return CellDistributions(
        tuple(CellDistribution(cell, name, value_groups(keys, mean)) for (cell, name), keys in varied.items())
    )


def parameter_free_counts(space: SearchSpace, codes: Codes) -> dict[tuple[str, str], NDArray[np.int64]]:
    """How many operations of each parameter-free kind, and of all, each cell has, by the cell and the kind.

    Empty for a space without such operations. Places of operations that an architecture does not use do not count.
    """
    operations = space.operations
    if operations is None or not operations.parameter_free:
        return {}
    names = cell_names(space)
    names = names if len(operations.places) % len(names) == 0 else (ONLY_CELL,)
    used, chosen = space.operations_present(codes), codes[:, operations.places]
    kinds = {kind: used & (chosen == operations.names.index(kind)) for kind in operations.parameter_free}
    if len(kinds) > 1:
        kinds[ALL_FREE] = np.logical_or.reduce(list(kinds.values()))
    return {
        (name, kind): part.sum(axis=1)
        for kind, present in kinds.items()
        for name, part in zip(names, np.split(present, len(names), axis=1), strict=True)
    }


def _properties(space: SearchSpace, codes: Codes) -> dict[tuple[str, str], NDArray[np.int64]]:
    """The properties of architectures by cell and name; raises where there is none."""
    properties: dict[tuple[str, str], NDArray[np.int64]] = {}
    with suppress(InvalidOption):  # it has no cells
        properties |= {(cell, DEPTH): values for cell, values in depths_by_cell(space, codes).items()}
    properties |= parameter_free_counts(space, codes)
    if not properties:
        raise InvalidOption(f"architectures of {space.name} have neither a depth nor parameter-free operations")
    order = list(dict.fromkeys(cell for cell, _ in properties))
    return dict(sorted(properties.items(), key=lambda item: order.index(item[0][0])))
