"""A space's ConfigSpace parameters as rows of numbers, for methods that work on parameters rather than cells."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nasbed.core.architecture import Architecture
from nasbed.core.errors import NasbedError
from nasbed.spaces.base import SearchSpace
from nasbed.spaces.parameters import Parameter, chosen_values

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]

NUMBER_LEVELS = 10
"""How many levels stand for an integer or float with more values than that, where a method needs levels; ours."""


class Parameters:
    """Architectures as rows in the order of the ConfigSpace, and back.

    A row holds the number of an option or, for a range, a place in [0, 1]; NaN where the parameter is inactive.
    ``options`` counts the options of each parameter, 0 for a range. The same row in the unit cube, for methods that
    compute with it, has option ``i`` of ``n`` at ``i / (n - 1)``. ``levels`` are how many values each parameter is seen
    to have: a choice its options, a range at most ``NUMBER_LEVELS``.
    """

    def __init__(self, space: SearchSpace) -> None:
        self._space = space
        self._parameters = space.config_parameters()
        self.options: Counts = np.array([len(parameter.options) for parameter in self._parameters], dtype=np.int64)
        ranges = [min(float(parameter.source.size), NUMBER_LEVELS) for parameter in self._parameters]
        self.levels: Counts = np.where(self.options > 0, self.options, np.array(ranges, dtype=np.int64))
        self._steps = np.maximum(self.options - 1, 1)

    def __len__(self) -> int:
        return len(self._parameters)

    def row(self, arch: Architecture) -> Floats:
        row: Floats = np.array(self._space.to_config(arch).get_array(), dtype=np.float64)
        row[(self.options == 1) & ~np.isnan(row)] = 0  # whatever ConfigSpace's vector holds for a constant
        return row

    def architecture(self, row: Floats) -> Architecture | None:
        """The architecture of a row, inactive parameters ignored; ``None`` if it is invalid."""
        numbers = row.tolist()
        return self.build(lambda parameter: parameter.value(numbers[parameter.index]))

    def in_cube(self, arch: Architecture) -> Floats:
        """The row of an architecture, in the unit cube."""
        return self.row(arch) / self._steps

    def nearest(self, point: Floats) -> Architecture | None:
        """The architecture nearest to a point of the unit cube, parameter by parameter."""
        return self.architecture(np.where(self.options > 0, np.rint(point * self._steps), point))

    def build(self, choose: Callable[[Parameter], Any]) -> Architecture | None:
        """The architecture with a value chosen for each active parameter, parents first; ``None`` if it is invalid."""
        try:
            return self._space.from_config(chosen_values(self._parameters, choose))
        except NasbedError:
            return None
