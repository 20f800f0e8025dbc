"""Optuna's tree Parzen estimator."""

from __future__ import annotations

import logging
import warnings
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from ConfigSpace import UniformIntegerHyperparameter

from nasbed.core.architecture import Architecture
from nasbed.core.errors import MissingDependency
from nasbed.core.observation import Observation
from nasbed.optimizers.base import Optimizer, Proposal
from nasbed.optimizers.parameters import Parameter, Parameters
from nasbed.optimizers.settings import flag, integer

if TYPE_CHECKING:
    import optuna

TRIES = 100
"""How often Optuna is asked for a valid architecture before one is drawn from the space; ours."""


@dataclass(eq=False, kw_only=True)
class TPE(Optimizer):
    """The sampler of Optuna with its own defaults (Bergstra et al. 2011; Akiba et al. 2019), parameters chosen
    parents first.

    ``n_startup_trials`` 10 random architectures, ``n_ei_candidates`` 24, densities over all parameters together
    (``multivariate``) and a liar for what is still being evaluated are the defaults of Optuna 5. Before that, and in
    the paper of 2011, each parameter had densities of its own. What Optuna proposes is evaluated, repeated or not.
    Invalid configurations and failed evaluations are reported to it as failed; its model ignores them.
    """

    name = "tpe"
    summary = "Optuna's tree Parzen estimator"
    draws_from_space = False
    filtered = "never"

    n_startup_trials: int = integer(10, low=0)
    n_ei_candidates: int = integer(24, low=1)
    multivariate: bool = flag(True)

    def __post_init__(self) -> None:
        super().__post_init__()
        try:
            import optuna
        except ImportError:
            raise MissingDependency("tpe needs optuna; install it with: pip install 'nasbed[optimizers]'") from None
        logging.getLogger("optuna").setLevel(logging.ERROR)
        self._failed = optuna.trial.TrialState.FAIL
        self._parameters = Parameters(self.space)
        self._pending: dict[Architecture, deque[optuna.Trial]] = {}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            sampler = optuna.samplers.TPESampler(
                n_startup_trials=self.n_startup_trials,
                n_ei_candidates=self.n_ei_candidates,
                multivariate=self.multivariate,
                constant_liar=True,
                seed=int(self.rng.integers(2**31)),
            )
            self._study = optuna.create_study(sampler=sampler)

    @property
    def start_size(self) -> int:
        return self.n_startup_trials

    def begin_with(self, arch: Architecture) -> Proposal:
        """The architecture becomes a trial that Optuna starts with these values."""
        values = dict(self.space.to_config(arch))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self._study.enqueue_trial(self._parameters.option_numbers(values))
            trial = self._study.ask()
            self._parameters.build(partial(_suggest, trial))
        self._pending.setdefault(self.space.canonical(arch), deque()).append(trial)
        return Proposal(arch)

    def ask(self, n: int = 1) -> list[Proposal]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return [Proposal(self._next()) for _ in range(n)]

    def tell(self, observations: Sequence[Observation]) -> None:
        for observation in observations:
            waiting = self._pending.get(self.space.canonical(observation.architecture))
            if not waiting:
                continue
            loss = self.problem.loss(observation)
            if np.isfinite(loss):
                self._study.tell(waiting.popleft(), loss)
            else:
                self._study.tell(waiting.popleft(), state=self._failed)

    def _next(self) -> Architecture:
        for _ in range(TRIES):
            trial = self._study.ask()
            arch = self._parameters.build(partial(_suggest, trial))
            if arch is not None:
                self._pending.setdefault(self.space.canonical(arch), deque()).append(trial)
                return arch
            self._study.tell(trial, state=self._failed)
        return self.space.sample(self.rng)


def _suggest(trial: optuna.Trial, parameter: Parameter) -> Any:
    """Optuna's value for a parameter; options go by number, which is a category or, where they are ordered, an
    integer."""
    name, options, source = parameter.name, parameter.options, parameter.source
    if options:
        if parameter.ordered:
            return options[trial.suggest_int(name, 0, len(options) - 1)]
        return options[trial.suggest_categorical(name, range(len(options))) if len(options) > 1 else 0]
    suggest: Callable[..., Any] = (
        trial.suggest_int if isinstance(source, UniformIntegerHyperparameter) else trial.suggest_float
    )
    return suggest(name, source.lower, source.upper, log=bool(getattr(source, "log", False)))
