"""Samplers of Optuna and facades of SMAC3 as methods: docs/reference/methods.md compares the samplers."""

import numpy as np
from optuna.samplers import NSGAIISampler, RandomSampler, TPESampler
from smac import RandomFacade

import nasbed
from nasbed.experiments.budget import Budget
from nasbed.experiments.simulate import problem_of, simulate
from nasbed.optimizers import from_optuna, from_smac

Random = from_optuna(RandomSampler, name="optuna-random")
Parzen = from_optuna(lambda seed: TPESampler(n_startup_trials=20, seed=seed), name="optuna-tpe")
Genetic = from_optuna(lambda seed: NSGAIISampler(population_size=20, seed=seed), name="optuna-nsga2")
Uniform = from_smac(RandomFacade, name="smac-random")

if __name__ == "__main__":
    benchmark = nasbed.load("nb201-cifar10-16-v1.0")
    for kind in (Random, Parzen, Genetic, Uniform):
        method = kind(problem_of(benchmark), np.random.default_rng(0))
        run = simulate(method, benchmark, seed=0, budget=Budget.parse("60ev"))
        print(f"{kind.name}: {run.value.max():.2f} % after {len(run.value)} evaluations ({kind.summary})")
