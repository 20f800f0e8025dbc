"""Values by metric, which a metric's key finds too."""

from __future__ import annotations

from typing import Any, TypeVar

from nasbed.core.errors import UnknownName, nearest, shorten
from nasbed.core.metric import Metric

V = TypeVar("V")


class MetricValues(dict[Metric, V]):
    """A dictionary by metric in which lookups take the key of a metric as well.

    >>> accuracy = Metric("accuracy", split="validation")
    >>> values = MetricValues({accuracy: 91.5})
    >>> values[accuracy] == values["validation_accuracy"] == 91.5
    True
    """

    def __missing__(self, wanted: Metric | str) -> V:
        """Called where no metric equals ``wanted``."""
        key = wanted.key if isinstance(wanted, Metric) else wanted
        for metric, value in self.items():
            if metric.key == key:
                if wanted == key:
                    return value
                raise UnknownName(f"the metric {key} here is {shorten(metric, 150)}, got {shorten(wanted, 150)}")
        raise UnknownName(f"no metric {shorten(key)}; {nearest(str(key), (metric.key for metric in self))}")

    def __contains__(self, wanted: object) -> bool:
        return super().__contains__(wanted) or any(metric.key == wanted for metric in self)

    def get(self, metric: Any, default: Any = None) -> Any:
        try:
            return self[metric]
        except UnknownName:
            return default
