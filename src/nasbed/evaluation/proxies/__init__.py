"""How good zero-cost proxies are: over all architectures, among the best, and in what a search would pick."""

from nasbed.core.former_names import former
from nasbed.evaluation.proxies.measures import HEADLINES, MEASURES, Yardstick
from nasbed.evaluation.proxies.noise_ceiling import NoiseCeiling, noise_ceiling
from nasbed.evaluation.proxies.proxy_evaluation import (
    BaselineComparison,
    JudgedProxy,
    JudgedTask,
    MeasureEstimate,
    judge_proxies,
)
from nasbed.evaluation.proxies.tasks import RankedTask, task_of

__all__ = [
    "HEADLINES",
    "MEASURES",
    "BaselineComparison",
    "JudgedProxy",
    "JudgedTask",
    "MeasureEstimate",
    "NoiseCeiling",
    "RankedTask",
    "Yardstick",
    "judge_proxies",
    "noise_ceiling",
    "task_of",
]

__getattr__ = former(
    __name__,
    {
        "Against": "nasbed.evaluation.proxies:BaselineComparison",
        "Measured": "nasbed.evaluation.proxies:MeasureEstimate",
    },
    until="0.3",
)
