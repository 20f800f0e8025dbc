"""A benchmark of nasbed as the target function of SMAC3, evaluated at several budgets."""

from pathlib import Path

from ConfigSpace import Configuration
from smac import MultiFidelityFacade, Scenario

import nasbed

benchmark = nasbed.load("snb-nb101-cifar10-16-lgb-mf-v1.0")
space, fidelities = benchmark.space, benchmark.fidelities  # 1, 2, 4 and 8 epochs


def target_function(config: Configuration, seed: int, budget: float) -> float:
    accuracy = benchmark.query(config, fidelity=round(budget), seed=seed).values[benchmark.objective]
    return 100 - accuracy


scenario = Scenario(
    space.configspace(),
    deterministic=True,
    n_trials=40,
    min_budget=fidelities[0],
    max_budget=fidelities[-1],
    crash_cost=100.0,
    output_directory=Path("smac"),
    seed=0,
)
intensifier = MultiFidelityFacade.get_intensifier(scenario, eta=2)
smac = MultiFidelityFacade(scenario, target_function, intensifier=intensifier, logging_level=False, overwrite=True)
best = smac.optimize()
assert isinstance(best, Configuration)
crashed = sum(value.status.name == "CRASHED" for value in smac.runhistory.values())
print(f"{crashed} of {len(smac.runhistory)} trials were no cells; best: {space.format(space.from_config(best))}")
