"""What is one edit apart in a table of any space: the ways that need to know nothing of the space."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from nasbed.spaces.facts import INACTIVE, Choices, Edit, OperationChanges
from nasbed.spaces.lookup import Lookup, Rows, single_changes

if TYPE_CHECKING:
    from nasbed.core.architecture import Architecture
    from nasbed.spaces.base import Codes, SearchSpace

Pairs = list[tuple[Rows, Rows]]
"""Rows of a table that are one edit apart, as arrays (row, other row)."""

CHUNK = 4096

SEVERAL = "several"
"""The choice of an edit that changes several parameters at once."""


def config_choices(space: SearchSpace, codes: Codes) -> Choices:
    """The parameters of the ConfigSpace as choices."""
    encoded = space.encode(codes, "config")
    values = np.full(encoded.shape, INACTIVE, dtype=np.int64)
    options = []
    names = tuple(space.configspace())
    for position, name in enumerate(names):
        active = np.flatnonzero(~np.isnan(encoded[:, position]))
        _, first, index = np.unique(encoded[active, position], return_index=True, return_inverse=True)
        values[active, position] = index
        examples = space.architectures(codes[active[first]])
        options.append(tuple(str(dict(space.to_config(arch))[name]) for arch in examples))
    return Choices(values, names, tuple(options))


def listed_pairs(space: SearchSpace, codes: Codes) -> Pairs:
    """Neighbours in a table, by listing those of every architecture."""
    lookup = Lookup(codes)
    pairs = []
    for start in range(0, len(codes), CHUNK):
        sources, near = [], []
        for row, arch in enumerate(space.architectures(codes[start : start + CHUNK]), start):
            neighbors = list(space.neighbors(arch))
            near += neighbors
            sources += [row] * len(neighbors)
        rows = lookup.find(space.canonical_codes(near))
        pairs.append((np.array(sources, dtype=np.int64)[rows >= 0], rows[rows >= 0]))
    return pairs


def differing_choices(space: SearchSpace, codes: Codes, code: Codes) -> NDArray[np.int64]:
    """In how many choices each row differs from a code ``[1, code_length]``."""
    values = space.choices_of(np.concatenate([codes, code])).values
    differing: NDArray[np.int64] = (values[:-1] != values[-1]).sum(axis=1)
    return differing


def option_changes(choices: Choices) -> Iterator[OperationChanges]:
    """Choices that offer the same options are taken together."""
    for options in dict.fromkeys(choices.options):
        positions = [position for position, available in enumerate(choices.options) if available == options]
        names = tuple(choices.names[position] for position in positions)
        yield OperationChanges(names, options, _rechosen(choices.values, positions))


def _rechosen(values: Codes, positions: list[int]) -> Iterator[tuple[Rows, Rows, Rows, Rows]]:
    for position in positions:
        for first, second in single_changes(values, position):
            before, after = values[first, position], values[second, position]
            active = (before != INACTIVE) & (after != INACTIVE)
            first, second, before, after = first[active], second[active], before[active], after[active]
            yield first, second, before, after
            yield second, first, after, before


def config_edits(space: SearchSpace, arch: Architecture) -> Iterator[Edit]:
    """The neighbours of an architecture, each with the parameter of the ConfigSpace that differs. A parameter that is
    active in both counts, as the others follow from it; where none or several differ, the choice is :data:`SEVERAL`."""
    before = {str(name): str(value) for name, value in dict(space.to_config(arch)).items()}
    for neighbor in space.neighbors(arch):
        after = {str(name): str(value) for name, value in dict(space.to_config(neighbor)).items()}
        differing = [name for name in before if name in after and before[name] != after[name]]
        if len(differing) == 1:
            name = differing[0]
            yield Edit(name, name.replace("_", " "), before[name], after[name], neighbor)
        else:
            yield Edit(SEVERAL, "several choices", space.format(arch), space.format(neighbor), neighbor)
