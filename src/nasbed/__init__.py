"""nasbed: a test bed for neural architecture search.

The names below load what they need when they are first used, so that ``import nasbed`` costs almost nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from nasbed.benchmarks import Benchmark, Observations, load
    from nasbed.core.architecture import Architecture
    from nasbed.core.errors import NasbedError
    from nasbed.core.metric import Metric
    from nasbed.core.observation import Observation
    from nasbed.core.status import Status
    from nasbed.experiments.runs import Runs, load_runs
    from nasbed.facade.collecting import collect
    from nasbed.facade.comparing import compare
    from nasbed.facade.fitting import fit
    from nasbed.facade.scoring import score
    from nasbed.facade.suites import suite
    from nasbed.optimizers import Optimizer, Proposal
    from nasbed.results import Results
    from nasbed.spaces import SearchSpace, list_spaces, space
    from nasbed.spaces.from_configspace import space_from_configspace

__version__ = "0.2.0"

_HOMES = {
    "Architecture": "nasbed.core.architecture",
    "Benchmark": "nasbed.benchmarks",
    "Metric": "nasbed.core.metric",
    "NasbedError": "nasbed.core.errors",
    "Observation": "nasbed.core.observation",
    "Observations": "nasbed.benchmarks",
    "Optimizer": "nasbed.optimizers",
    "Proposal": "nasbed.optimizers",
    "Results": "nasbed.results",
    "Runs": "nasbed.experiments.runs",
    "SearchSpace": "nasbed.spaces",
    "Status": "nasbed.core.status",
    "collect": "nasbed.facade.collecting",
    "compare": "nasbed.facade.comparing",
    "fit": "nasbed.facade.fitting",
    "list_spaces": "nasbed.spaces",
    "load": "nasbed.benchmarks",
    "load_runs": "nasbed.experiments.runs",
    "score": "nasbed.facade.scoring",
    "suite": "nasbed.facade.suites",
    "space": "nasbed.spaces",
    "space_from_configspace": "nasbed.spaces.from_configspace",
}

__all__ = [
    "Architecture",
    "Benchmark",
    "Metric",
    "NasbedError",
    "Observation",
    "Observations",
    "Optimizer",
    "Proposal",
    "Results",
    "Runs",
    "SearchSpace",
    "Status",
    "__version__",
    "collect",
    "compare",
    "fit",
    "list_spaces",
    "load",
    "load_runs",
    "score",
    "space",
    "space_from_configspace",
    "suite",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'nasbed' has no attribute {name!r}; it offers {', '.join(sorted(_HOMES))}")
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
