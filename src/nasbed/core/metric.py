"""What is measured: a metric owns its split, direction, unit and bounds, so that nothing else has to guess them."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from nasbed.core.errors import InvalidMeasurement, InvalidOption, ParseError, shorten

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

Split = Literal["train", "validation", "test"]
Direction = Literal["maximize", "minimize"]

_JSON_FIELDS = ("name", "split", "direction", "unit", "bounds")


@dataclass(frozen=True, slots=True)
class Metric:
    """One measured quantity. ``split`` is ``None`` for what belongs to the architecture alone (parameters, latency).

    >>> accuracy = Metric("accuracy", split="validation", unit="%", bounds=(0, 100))
    >>> accuracy.key
    'validation_accuracy'
    >>> accuracy.regret(93.0, best=94.5)
    1.5
    """

    name: str
    split: Split | None = None
    direction: Direction = "maximize"
    unit: str = ""
    bounds: tuple[float, float] = (-math.inf, math.inf)
    key: str = field(init=False, repr=False, compare=False)
    """The metric's column name, unique within a benchmark."""

    def __post_init__(self) -> None:
        if not self.name.isidentifier():
            raise InvalidOption(
                f"a metric's name is an identifier, got {shorten(self.name)}; use letters, digits and _"
            )
        if self.split not in (None, "train", "validation", "test"):
            raise InvalidOption(f"a metric's split is train, validation, test or None, got {shorten(self.split)}")
        if self.direction not in ("maximize", "minimize"):
            raise InvalidOption(f"a metric's direction is maximize or minimize, got {shorten(self.direction)}")
        low, high = self.bounds
        if not low < high:
            raise InvalidOption(f"a metric's bounds rise, got {shorten(self.bounds)} for {self.name}")
        object.__setattr__(self, "key", self.name if self.split is None else f"{self.split}_{self.name}")

    def __hash__(self) -> int:
        return hash(self.key)

    @property
    def best_bound(self) -> float:
        return self.bounds[1] if self.direction == "maximize" else self.bounds[0]

    def to_json(self) -> dict[str, Any]:
        """What a JSON file holds of the metric, with null for an infinite bound.

        >>> Metric("loss", direction="minimize", bounds=(0, math.inf)).to_json()
        {'name': 'loss', 'split': None, 'direction': 'minimize', 'unit': '', 'bounds': [0, None]}
        """
        bounds = [None if math.isinf(bound) else bound for bound in self.bounds]
        return {name: getattr(self, name) for name in _JSON_FIELDS} | {"bounds": bounds}

    @classmethod
    def from_json(cls, data: Any) -> Metric:
        """The inverse of :meth:`to_json`. Fields other than ``name`` and ``bounds`` may be missing."""
        if not isinstance(data, dict) or "name" not in data:
            raise ParseError(f"a metric is a JSON object with a name, got {shorten(data)}")
        for name in data:
            if name not in _JSON_FIELDS:
                raise ParseError(f"a metric has no field {shorten(name)}")
        for name in ("name", "direction", "unit"):
            if not isinstance(data.get(name, ""), str):
                raise ParseError(f"the {name} of a metric is a text, got {shorten(data[name])}")
        bounds = data.get("bounds")
        if not isinstance(bounds, list) or len(bounds) != 2 or not all(map(_is_json_bound, bounds)):
            raise ParseError(f"the bounds of a metric are two numbers, got {shorten(bounds)}")
        low, high = bounds
        limits = (-math.inf if low is None else low, math.inf if high is None else high)
        return cls(**(data | {"bounds": limits}))

    def better(self, value: float, reference: float) -> bool:
        """Whether ``value`` is strictly better than ``reference``."""
        return value > reference if self.direction == "maximize" else value < reference

    def best_of(self, columns: Sequence[NDArray[np.floating]]) -> float:
        """The best value in some arrays, NaN if there is none.

        >>> import numpy as np
        >>> Metric("loss", direction="minimize").best_of([np.array([3.0, np.nan]), np.array([2.0])])
        2.0
        """
        import numpy as np

        values = np.concatenate([*map(np.ravel, columns), np.empty(0)])
        present = values[~np.isnan(values)]
        if not len(present):
            return float("nan")
        return float(present.max() if self.direction == "maximize" else present.min())

    def regret(self, value: float, *, best: float) -> float:
        """How much worse ``value`` is than ``best``: never negative when ``best`` is the optimum."""
        return best - value if self.direction == "maximize" else value - best

    def check(self, value: float) -> None:
        """Raise unless ``value`` is a number within the bounds. A missing value is left out, never given as NaN."""
        low, high = self.bounds
        if not low <= value <= high:
            raise InvalidMeasurement(
                f"{self.key} lies in [{low:g}, {high:g}] {self.unit}".rstrip()
                + f", got {value!r}; leave a missing value out and mark a diverged run by its status"
            )


def _is_json_bound(bound: Any) -> bool:
    """Whether it is a finite number or null."""
    number = isinstance(bound, int | float) and not isinstance(bound, bool) and -math.inf < bound < math.inf
    return bound is None or number
