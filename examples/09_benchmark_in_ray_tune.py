"""A benchmark of nasbed as a trainable of Ray Tune, whose scheduler stops it between epochs."""

from pathlib import Path
from typing import Any

import ray
from ray import tune
from ray.tune.schedulers import ASHAScheduler

import nasbed

NAME = "snb-nb101-cifar10-16-lgb-mf-v1.0"
space = nasbed.space("nb101")


def architecture(config: dict[str, Any]) -> nasbed.Architecture:
    return space.from_choices(lambda parameter: config[parameter.name])


def trainable(config: dict[str, Any]) -> None:
    benchmark, arch = nasbed.load(NAME), architecture(config)
    for fidelity in benchmark.fidelities:
        observation = benchmark.query(arch, fidelity=fidelity, seed=0)
        accuracy = observation.values[benchmark.objective]
        tune.report({"validation_accuracy": accuracy, "epochs": fidelity, "training_time_s": observation.cost_s})


ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
tuner = tune.Tuner(
    trainable,
    param_space={parameter.name: tune.choice(parameter.options) for parameter in space.config_parameters()},
    tune_config=tune.TuneConfig(
        metric="validation_accuracy", mode="max", num_samples=8, scheduler=ASHAScheduler(time_attr="epochs", max_t=9)
    ),
    run_config=tune.RunConfig(storage_path=str(Path("ray-results").resolve()), verbose=0),
)
best = tuner.fit().get_best_result()
assert best.config is not None and best.metrics is not None
print(f"{best.metrics['validation_accuracy']:.2f} %: {space.format(architecture(best.config))}")
ray.shutdown()
