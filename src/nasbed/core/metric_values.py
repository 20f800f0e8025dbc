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

    def __missing__(self, requested: Metric | str) -> V:
        """Called where no metric equals ``requested``."""
        key = requested.key if isinstance(requested, Metric) else requested
        for metric, value in self.items():
            if metric.key == key:
                if requested == key:
                    return value
                raise UnknownName(f"the metric {key} here is {shorten(metric, 150)}, got {shorten(requested, 150)}")
        raise UnknownName(f"no metric {shorten(key)}; {nearest(str(key), (metric.key for metric in self))}")

    def __contains__(self, requested: object) -> bool:
        return super().__contains__(requested) or any(metric.key == requested for metric in self)

    def get(self, metric: Any, default: Any = None) -> Any:
        try:
            return self[metric]
        except UnknownName:
            return default
