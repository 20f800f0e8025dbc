"""A benchmark of nasbed as a trainable of Ray Tune, whose scheduler stops it between epochs."""

from pathlib import Path
from typing import Any

import numpy as np
import ray
from ray import tune
from ray.tune.schedulers import ASHAScheduler

import nasbed

NAME = "snb-nb101-cifar10-16-lgb-mf-v1.0"
space, rng = nasbed.space("nb101"), np.random.default_rng(0)


def trainable(config: dict[str, Any]) -> None:
    benchmark = nasbed.load(NAME)
    for fidelity in benchmark.fidelities:
        observation = benchmark.query(config["cell"], fidelity=fidelity, seed=0)
        accuracy = observation.values[benchmark.objective]
        tune.report({"validation_accuracy": accuracy, "epochs": fidelity, "training_time_s": observation.cost_s})


ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
tuner = tune.Tuner(
    trainable,
    param_space={"cell": tune.sample_from(lambda _: space.sample_config(rng))},
    tune_config=tune.TuneConfig(
        metric="validation_accuracy", mode="max", num_samples=8, scheduler=ASHAScheduler(time_attr="epochs", max_t=9)
    ),
    run_config=tune.RunConfig(storage_path=str(Path("ray-results").resolve()), verbose=0),
)
best = tuner.fit().get_best_result()
assert best.config is not None and best.metrics is not None
print(f"{best.metrics['validation_accuracy']:.2f} %: {space.format(space.from_config(best.config['cell']))}")
ray.shutdown()
