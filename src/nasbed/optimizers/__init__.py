"""Search methods, one file each. They see a space and validation observations, never a benchmark."""

from __future__ import annotations

from nasbed.core.registry import Registry
from nasbed.optimizers.base import Optimizer, Problem, Proposal

OPTIMIZERS = Registry[type[Optimizer]]("optimizer", group="nasbed.optimizers")
OPTIMIZERS.add("rs", "nasbed.optimizers.random_search:RandomSearch")
OPTIMIZERS.add("re", "nasbed.optimizers.evolution:RegularizedEvolution")
OPTIMIZERS.add("nre", "nasbed.optimizers.evolution:NonRegularizedEvolution")
OPTIMIZERS.add("ls", "nasbed.optimizers.local_search:LocalSearch")
OPTIMIZERS.add("de", "nasbed.optimizers.differential_evolution:DifferentialEvolution")
OPTIMIZERS.add("rl", "nasbed.optimizers.reinforce:Reinforce")
OPTIMIZERS.add("nsga2", "nasbed.optimizers.nsga2:NSGA2")
OPTIMIZERS.add("hb", "nasbed.optimizers.hyperband:Hyperband")
OPTIMIZERS.add("kde", "nasbed.optimizers.kde:KDE")
OPTIMIZERS.add("bohb", "nasbed.optimizers.bohb:BOHB")
OPTIMIZERS.add("bananas", "nasbed.optimizers.bananas:Bananas")
OPTIMIZERS.add("tpe", "nasbed.optimizers.tpe:TPE")
OPTIMIZERS.add("smac", "nasbed.optimizers.smac:SMAC")
OPTIMIZERS.add("hebo", "nasbed.optimizers.hebo:HEBO")
OPTIMIZERS.add("combo", "nasbed.optimizers.combo:COMBO")

__all__ = ["OPTIMIZERS", "Optimizer", "Problem", "Proposal"]
