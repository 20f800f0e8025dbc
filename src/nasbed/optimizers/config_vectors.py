"""A space's ConfigSpace parameters as a vector in the unit cube, for methods that work on one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from nasbed.core.architecture import Architecture
from nasbed.core.errors import NasbedError
from nasbed.spaces.base import SearchSpace

if TYPE_CHECKING:
    from ConfigSpace.hyperparameters import Hyperparameter

NUMBER_LEVELS = 10
"""How many levels stand for an integer or float with more values than that, where a method needs levels; ours."""


@dataclass(frozen=True, slots=True)
class _Parameter:
    """``options`` are the values of a choice, none for a number. It is active where all ``conditions`` hold."""

    name: str
    options: tuple[Any, ...]
    conditions: tuple[Any, ...]
    foreign: Hyperparameter[Any, Any]

    @property
    def levels(self) -> int:
        if self.options:
            return len(self.options)
        return int(min(float(self.foreign.size), NUMBER_LEVELS))

    def value(self, place: float) -> Any:
        if self.options:
            return self.options[round(place * (len(self.options) - 1))]
        foreign: Any = self.foreign
        return min(max(foreign.to_value(place), foreign.lower), foreign.upper)


class ConfigVectors:
    """Architectures as vectors in the order of the ConfigSpace, and back, by the nearest value of each parameter.

    A vector has a place in [0, 1] for every parameter; that of a parameter whose condition does not hold is not looked
    at. ``levels`` are how many values each parameter is seen to have: a choice its options, a number at most
    ``NUMBER_LEVELS``. Level ``i`` of ``n`` stands at ``i / (n - 1)``.
    """

    def __init__(self, space: SearchSpace) -> None:
        self._space = space
        source = space.configspace()
        self._parameters = tuple(
            _Parameter(name, _options(foreign), tuple(source.parent_conditions_of[name]), foreign)
            for name, foreign in source.items()
        )
        self.levels: NDArray[np.int64] = np.array([one.levels for one in self._parameters], dtype=np.int64)
        self._units = np.array(
            [len(one.options) - 1 if one.options else 1 for one in self._parameters], dtype=np.float64
        )
        self._units[self.levels == 1] = np.inf  # a constant's only place is 0, whatever ConfigSpace's vector holds

    def __len__(self) -> int:
        return len(self._parameters)

    def encode(self, arch: Architecture) -> NDArray[np.float64]:
        """The places of an architecture's parameters, NaN where one is inactive."""
        vector: NDArray[np.float64] = self._space.to_config(arch).get_array() / self._units
        return vector

    def decode(self, places: Sequence[float]) -> Architecture | None:
        """The architecture nearest to these places, or ``None`` where they describe none."""
        from ConfigSpace.types import NotSet

        values: dict[str, Any] = {}
        for parameter, place in zip(self._parameters, places, strict=True):
            active = all(condition.satisfied_by_value(values) for condition in parameter.conditions)
            values[parameter.name] = parameter.value(place) if active else NotSet
        try:
            return self._space.from_config({name: value for name, value in values.items() if value is not NotSet})
        except NasbedError:
            return None


def _options(foreign: Hyperparameter[Any, Any]) -> tuple[Any, ...]:
    from ConfigSpace.hyperparameters import CategoricalHyperparameter, Constant, OrdinalHyperparameter

    if isinstance(foreign, CategoricalHyperparameter):
        return tuple(foreign.choices)
    if isinstance(foreign, OrdinalHyperparameter):
        return tuple(foreign.sequence)
    return (foreign.value,) if isinstance(foreign, Constant) else ()
