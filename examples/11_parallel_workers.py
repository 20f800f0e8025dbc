"""Cells that Optuna asks for, trained by worker processes; what is no cell is told to Optuna at once."""

import functools
import multiprocessing
from concurrent.futures import ProcessPoolExecutor

import optuna

import nasbed
from nasbed.optimizers import suggest_architecture

NAME = "snb-nb101-cifar10-16-lgb-mf-v1.0"
WORKERS = 2
load = functools.cache(nasbed.load)  # once in each worker


def accuracy(arch: nasbed.Architecture) -> float:
    return load(NAME).query(arch, seed=0).values[load(NAME).objective]


def ask(study: optuna.Study, space: nasbed.SearchSpace) -> tuple[optuna.Trial, nasbed.Architecture]:
    """The next trial that is an architecture; the others have failed."""
    while True:
        trial = study.ask()
        try:
            return trial, suggest_architecture(trial, space)
        except nasbed.NasbedError:
            study.tell(trial, state=optuna.trial.TrialState.FAIL)


def main() -> None:
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    space = nasbed.space("nb101")
    study = optuna.create_study(direction="maximize", sampler=optuna.samplers.TPESampler(seed=0, constant_liar=True))
    with ProcessPoolExecutor(WORKERS, multiprocessing.get_context("spawn")) as pool:
        for _ in range(5):
            trials, archs = zip(*(ask(study, space) for _ in range(WORKERS)), strict=True)
            for trial, arch, value in zip(trials, archs, pool.map(accuracy, archs), strict=True):
                trial.set_user_attr("cell", space.format(arch))
                study.tell(trial, value)
    print(f"{study.best_value:.2f} % of {len(study.trials)} trials: {study.best_trial.user_attrs['cell']}")


if __name__ == "__main__":  # a spawned worker imports this file
    main()
