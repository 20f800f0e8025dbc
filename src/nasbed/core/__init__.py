"""The words that everything else speaks."""

from nasbed.core.architecture import Architecture
from nasbed.core.metric import Metric
from nasbed.core.observation import Observation, Status
from nasbed.core.registry import Registry

__all__ = ["Architecture", "Metric", "Observation", "Registry", "Status"]
