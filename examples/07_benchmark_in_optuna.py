"""A benchmark of nasbed as the objective of an Optuna study."""

import optuna

import nasbed
from nasbed.optimizers import suggest_architecture

optuna.logging.set_verbosity(optuna.logging.WARNING)
benchmark = nasbed.load("snb-darts-cifar10-16-lgb-v2.0")


def objective(trial: optuna.Trial) -> float:
    arch = suggest_architecture(trial, benchmark.space)
    observation = benchmark.query(arch, seed=0)
    trial.set_user_attr("architecture", benchmark.space.format(arch))
    trial.set_user_attr("training_time_s", observation.cost_s)
    return observation.values[benchmark.objective]


study = optuna.create_study(direction=benchmark.objective.direction, sampler=optuna.samplers.TPESampler(seed=0))
study.optimize(objective, n_trials=20, catch=nasbed.NasbedError)
spent_s = sum(trial.user_attrs.get("training_time_s", 0) for trial in study.trials)
print(f"{study.best_value:.2f} % after {spent_s:.0f} s of training: {study.best_trial.user_attrs['architecture']}")
