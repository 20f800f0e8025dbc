"""What one evaluation of an architecture gave."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from nasbed.core.architecture import Architecture
from nasbed.core.errors import InvalidMeasurement
from nasbed.core.metric import Metric
from nasbed.core.metric_values import MetricValues
from nasbed.core.status import Status


@dataclass(frozen=True, slots=True)
class Observation:
    """One evaluation: the architecture, how it was evaluated, and what was measured. Checked when it is made.

    ``fidelity`` is the budget it was trained for (epochs, usually), ``seed`` the repeat, ``cost_s`` the simulated or
    real seconds that it took. A value is looked up by its metric or by the metric's key.

    >>> accuracy = Metric("accuracy", split="validation", unit="%", bounds=(0, 100))
    >>> best = Architecture("nb201", (3,) * 6)
    >>> observation = Observation(best, {accuracy: 91.5}, fidelity=200, seed=777, cost_s=2130.0)
    >>> observation["validation_accuracy"]
    91.5
    """

    architecture: Architecture
    values: Mapping[Metric, float] = field(default_factory=dict, hash=False)
    fidelity: int | None = None
    seed: int | None = None
    cost_s: float | None = None
    status: Status = Status.OK

    def __post_init__(self) -> None:
        for metric, value in self.values.items():
            low, high = metric.bounds
            if not low <= value <= high:
                metric.check(value)
        if self.cost_s is not None and not 0 <= self.cost_s < math.inf:
            raise InvalidMeasurement(f"a cost is a finite number of seconds, not negative, got {self.cost_s!r}")
        if self.status is Status.OK and not self.values:
            raise InvalidMeasurement(
                "an ok observation carries at least one metric; use status diverged or failed for none"
            )
        object.__setattr__(self, "values", MappingProxyType(MetricValues(self.values)))

    def __getitem__(self, metric: Metric | str) -> float:
        return self.values[metric]  # type: ignore[index]

    def __reduce__(self) -> tuple[type[Observation], tuple[Any, ...]]:
        """Pickled as what it was constructed from: the read-only view of the values cannot be."""
        values = dict(self.values)
        return type(self), (self.architecture, values, self.fidelity, self.seed, self.cost_s, self.status)
