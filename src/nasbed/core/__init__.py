"""The words that everything else speaks."""

from nasbed.core.architecture import Architecture
from nasbed.core.metric import Metric
from nasbed.core.observation import Observation
from nasbed.core.registry import Registry
from nasbed.core.status import Status

__all__ = ["Architecture", "Metric", "Observation", "Registry", "Status"]
