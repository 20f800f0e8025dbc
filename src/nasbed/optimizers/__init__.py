"""Search methods, one file each. They see a space and validation observations, never a benchmark."""

from __future__ import annotations

from nasbed.core.registry import Registry
from nasbed.optimizers.base import Optimizer, Problem, Proposal

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

__all__ = ["OPTIMIZERS", "Optimizer", "Problem", "Proposal"]
