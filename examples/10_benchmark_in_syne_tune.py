"""A benchmark of nasbed, asked by a scheduler of syne-tune."""

from syne_tune.config_space import choice
from syne_tune.optimizer.baselines import REA
from syne_tune.optimizer.schedulers.ask_tell_scheduler import AskTellScheduler

import nasbed

benchmark = nasbed.load("snb-darts-cifar10-16-lgb-v2.0")
space = benchmark.space
config_space = {parameter.name: choice(list(parameter.options)) for parameter in space.config_parameters()}
evolution = REA(config_space, metric="error", random_seed=0, population_size=10, sample_size=5)
scheduler = AskTellScheduler(base_scheduler=evolution)
errors: dict[str, float] = {}
for _ in range(30):
    trial = scheduler.ask()
    arch = space.from_choices(trial.config)  # which looks at active parameters alone
    observation = benchmark.query(arch, seed=0)
    error = 100 - observation.values[benchmark.objective]
    scheduler.tell(trial, {"error": error, "training_time_s": observation.cost_s})
    errors[space.format(arch)] = error
best = min(errors, key=errors.__getitem__)
print(f"{errors[best]:.2f} % error: {best}")
