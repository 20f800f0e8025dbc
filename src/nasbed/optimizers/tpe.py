"""Optuna's tree Parzen estimator."""

from __future__ import annotations

import logging
import warnings
from collections import deque
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from ConfigSpace import CategoricalHyperparameter, Constant, OrdinalHyperparameter, UniformIntegerHyperparameter

from nasbed.core.architecture import Architecture
from nasbed.core.errors import MissingDependency
from nasbed.core.observation import Observation
from nasbed.optimizers.base import Optimizer, Problem, Proposal
from nasbed.optimizers.parameters import Parameters
from nasbed.optimizers.seen import Seen

if TYPE_CHECKING:
    import optuna

TRIES = 20
"""How often Optuna is asked for a valid architecture before one is drawn from the space."""


class TPE(Optimizer):
    """The sampler of Optuna with its own defaults (Bergstra et al. 2011; Akiba et al. 2019), parameters chosen
    parents first.

    ``n_startup_trials`` 10 random architectures, ``n_ei_candidates`` 24 and univariate densities (``multivariate``
    false) are Optuna's defaults. A configuration that is no architecture is told to Optuna as failed, which its model
    leaves out; one that is already known is replaced by a mutant of it.
    """

    name = "tpe"
    summary = "Optuna's tree Parzen estimator"

    def __init__(
        self,
        problem: Problem,
        rng: np.random.Generator,
        *,
        n_startup_trials: int = 10,
        n_ei_candidates: int = 24,
        multivariate: bool = False,
    ) -> None:
        super().__init__(problem, rng)
        try:
            import optuna
        except ImportError:
            raise MissingDependency("tpe needs optuna; install it with: pip install 'nasbed[optimizers]'") from None
        logging.getLogger("optuna").setLevel(logging.ERROR)
        self._failed = optuna.trial.TrialState.FAIL
        self._parameters = Parameters(self.space)
        self._seen = Seen(self.space)
        self._pending: dict[Architecture, deque[optuna.Trial]] = {}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            sampler = optuna.samplers.TPESampler(
                n_startup_trials=n_startup_trials,
                n_ei_candidates=n_ei_candidates,
                multivariate=multivariate,
                group=multivariate,
                seed=int(rng.integers(2**31)),
            )
            self._study = optuna.create_study(sampler=sampler)

    def ask(self, n: int = 1) -> list[Proposal]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return [Proposal(self._next()) for _ in range(n)]

    def tell(self, observations: Sequence[Observation]) -> None:
        for observation in observations:
            self._seen.add(observation.architecture)
            waiting = self._pending.get(self.space.canonical(observation.architecture))
            if not waiting:
                continue
            loss = self.problem.loss(observation)
            if np.isfinite(loss):
                self._study.tell(waiting.popleft(), loss)
            else:
                self._study.tell(waiting.popleft(), state=self._failed)

    def _next(self) -> Architecture:
        trial, arch = self._offer()
        if arch is None or arch in self._seen:
            self._study.tell(trial, state=self._failed)
            arch = self._instead(arch)
            self._study.enqueue_trial(self._suggestions(arch))
            trial = self._study.ask()
            self._parameters.build(partial(_suggest, trial))
        self._seen.add(arch)
        self._pending.setdefault(self.space.canonical(arch), deque()).append(trial)
        return arch

    def _offer(self) -> tuple[optuna.Trial, Architecture | None]:
        """What Optuna proposes, if that is an architecture in ``TRIES`` attempts."""
        for attempt in range(TRIES):
            trial = self._study.ask()
            arch = self._parameters.build(partial(_suggest, trial))
            if arch is not None or attempt == TRIES - 1:
                break
            self._study.tell(trial, state=self._failed)
        return trial, arch

    def _instead(self, known: Architecture | None) -> Architecture:
        """A mutant of a known architecture that is not known, or one drawn from the space."""
        parents = [] if known is None else [known]
        new = self._seen.first_new(self._seen.mutants(parents, self.rng, tries=TRIES))
        return new or self._seen.sample(self.rng)

    def _suggestions(self, arch: Architecture) -> dict[str, Any]:
        """An architecture as what :func:`_suggest` would have been given."""
        config = self.space.to_config(arch)
        numbered = (CategoricalHyperparameter, OrdinalHyperparameter)
        return {
            name: int(one.to_vector(config[name])) if isinstance(one, numbered) else config[name]
            for name, one in self.space.configspace().items()
            if name in config and not isinstance(one, Constant)
        }


def _suggest(trial: optuna.Trial, parameter: Any) -> Any:
    """Optuna's value for a parameter; options go by number, which is a category or, where they are ordered, an
    integer."""
    name = parameter.name
    if isinstance(parameter, Constant):
        return parameter.value
    if isinstance(parameter, CategoricalHyperparameter):
        return parameter.to_value(trial.suggest_categorical(name, range(len(parameter.choices))))
    if isinstance(parameter, OrdinalHyperparameter):
        return parameter.to_value(trial.suggest_int(name, 0, len(parameter.sequence) - 1))
    log = bool(getattr(parameter, "log", False))
    suggest: Callable[..., Any] = (
        trial.suggest_int if isinstance(parameter, UniformIntegerHyperparameter) else trial.suggest_float
    )
    return suggest(name, parameter.lower, parameter.upper, log=log)
