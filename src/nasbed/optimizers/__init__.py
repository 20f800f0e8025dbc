"""Search methods, one file each. They see a space and validation observations, never a benchmark."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from nasbed.core.registry import Registry
from nasbed.optimizers.base import Optimizer, Problem, Proposal

if TYPE_CHECKING:
    from nasbed.optimizers.adapters.optuna_sampler import from_optuna, suggest_architecture
    from nasbed.optimizers.adapters.smac_facade import from_smac

OPTIMIZERS = Registry[type[Optimizer]]("optimizer", group="nasbed.optimizers")
OPTIMIZERS.add_entries(
    "nasbed.optimizers",
    {
        "rs": "random_search:RandomSearch",
        "re": "evolution:RegularizedEvolution",
        "nre": "evolution:NonRegularizedEvolution",
        "ls": "local_search:LocalSearch",
        "de": "differential_evolution:DifferentialEvolution",
        "rl": "reinforce:Reinforce",
        "nsga2": "nsga2:NSGA2",
        "hb": "hyperband:Hyperband",
        "kde": "kde:KDE",
        "bohb": "bohb:BOHB",
        "dehb": "dehb:DEHB",
        "asha": "asha:ASHA",
        "bananas": "bananas:Bananas",
        "tpe": "tpe:TPE",
        "smac": "smac:SMAC",
        "hebo": "hebo:HEBO",
        "combo": "combo:COMBO",
    },
)

_ADAPTERS = {
    "from_optuna": "nasbed.optimizers.adapters.optuna_sampler",
    "from_smac": "nasbed.optimizers.adapters.smac_facade",
    "suggest_architecture": "nasbed.optimizers.adapters.optuna_sampler",
}
"""Functions for other libraries, imported when they are first used."""

__all__ = ["OPTIMIZERS", "Optimizer", "Problem", "Proposal", "from_optuna", "from_smac", "suggest_architecture"]


def __getattr__(name: str) -> Any:
    if name not in _ADAPTERS:
        raise AttributeError(f"module 'nasbed.optimizers' has no attribute {name!r}; it offers {', '.join(__all__)}")
    return getattr(import_module(_ADAPTERS[name]), name)
