"""A space's ConfigSpace parameters as rows of numbers, for methods that model parameters rather than cells."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from ConfigSpace import CategoricalHyperparameter, Constant, OrdinalHyperparameter
from ConfigSpace.types import NotSet
from numpy.typing import NDArray

from nasbed.core.architecture import Architecture
from nasbed.core.errors import NasbedError
from nasbed.spaces.base import SearchSpace


class Parameters:
    """``options`` counts the options of each parameter, 0 for one with a range; a row holds the number of an
    option or a place in [0, 1], NaN where the parameter is inactive."""

    def __init__(self, space: SearchSpace) -> None:
        self._space = space
        self._source = space.configspace()
        self.options: NDArray[np.int64] = np.array([_options(one) for one in self._source.values()], dtype=np.int64)

    def row(self, arch: Architecture) -> NDArray[np.float64]:
        vector: NDArray[np.float64] = np.array(self._space.to_config(arch).get_array(), dtype=np.float64)
        return vector

    def architecture(self, row: NDArray[np.float64]) -> Architecture | None:
        """What a row without gaps describes, its inactive parameters left out; ``None`` where that is no
        architecture."""
        places = iter(row.tolist())
        return self.build(lambda one: one.to_value(next(places)), skip=lambda: next(places))

    def build(self, choose: Callable[[Any], Any], *, skip: Callable[[], object] = lambda: None) -> Architecture | None:
        """Go through the parameters, parents first: ``choose`` gives the value of an active one, ``skip`` hears of
        an inactive one."""
        values: dict[str, Any] = {}
        for name, one in self._source.items():
            if all(rule.satisfied_by_value(values) for rule in self._source.parent_conditions_of[name]):
                values[name] = choose(one)
            else:
                values[name] = NotSet
                skip()
        try:
            return self._space.from_config({name: value for name, value in values.items() if value is not NotSet})
        except NasbedError:
            return None

    def filled(self, rows: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.float64]:
        """Rows whose gaps hold random values: another row's if one has the parameter, any value otherwise (as in
        BOHB)."""
        rows = rows.copy()
        for column in np.flatnonzero(np.isnan(rows).any(axis=0)):
            gaps = np.isnan(rows[:, column])
            known = rows[~gaps, column]
            if known.size:
                rows[gaps, column] = known[rng.integers(known.size, size=int(gaps.sum()))]
            elif self.options[column]:
                rows[gaps, column] = rng.integers(self.options[column], size=int(gaps.sum()))
            else:
                rows[gaps, column] = rng.random(int(gaps.sum()))
        return rows


def _options(parameter: Any) -> int:
    if isinstance(parameter, CategoricalHyperparameter):
        return len(parameter.choices)
    if isinstance(parameter, OrdinalHyperparameter):
        return len(parameter.sequence)
    return 1 if isinstance(parameter, Constant) else 0
