"""Optuna's samplers as methods, and spaces for Optuna's trials."""

from __future__ import annotations

import logging
import sys
import warnings
from abc import abstractmethod
from collections import deque
from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from nasbed.core.architecture import Architecture
from nasbed.core.errors import InvalidOption, shorten
from nasbed.core.observation import Observation
from nasbed.optimizers.adapters.classes import import_library, named_method, takes_argument
from nasbed.optimizers.adapters.reseeding import reseeded_copy
from nasbed.optimizers.base import Optimizer, Proposal
from nasbed.optimizers.parameters import Parameters
from nasbed.spaces.base import SearchSpace
from nasbed.spaces.parameters import Parameter

if TYPE_CHECKING:
    from optuna import Trial
    from optuna.samplers import BaseSampler


@dataclass(eq=False, kw_only=True)
class OptunaMethod(Optimizer):
    """A method whose proposals come from a sampler of Optuna, one trial each, parameters chosen parents first.

    What Optuna proposes is evaluated, repeated or not. Invalid configurations and failed evaluations are reported to it
    as failed trials, and it is asked again. After ``tries`` invalid ones in a row an architecture is drawn from the
    space, which becomes a trial like those of a warm start. When a sampler has ended its study, as one on a grid does,
    all further architectures are drawn from the space.
    """

    name = "optuna"
    summary = "a sampler of Optuna"
    draws_from_space = False
    filtered = "never"
    tries: ClassVar[int] = 20
    """How often the sampler is asked for a valid architecture before one is drawn from the space; ours."""

    def __post_init__(self) -> None:
        super().__post_init__()
        optuna = import_library("optuna", user=self.name)
        logging.getLogger("optuna").setLevel(logging.ERROR)
        self._failed = optuna.trial.TrialState.FAIL
        self._parameters = Parameters(self.space)
        self._pending: dict[Architecture, deque[Trial]] = {}
        self._is_complete = False
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self._study = optuna.create_study(sampler=self.make_sampler(int(self.rng.integers(2**31))))
        self._study.stop = self._complete

    @abstractmethod
    def make_sampler(self, seed: int) -> BaseSampler:
        """The sampler of a run."""

    def begin_with(self, arch: Architecture) -> Proposal:
        """The architecture becomes a trial that Optuna starts with these values."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self._study.enqueue_trial(self._trial_values(arch))
            trial = self._study.ask()
            self._parameters.build(partial(_suggest, trial))
        self._pending.setdefault(self.space.canonical(arch), deque()).append(trial)
        return Proposal(arch)

    def ask(self, n: int = 1) -> list[Proposal]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return [self._next() for _ in range(n)]

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

    def _next(self) -> Proposal:
        for _ in range(0 if self._is_complete else self.tries):
            trial = self._study.ask()
            arch = self._parameters.build(partial(_suggest, trial))
            if arch is not None:
                self._pending.setdefault(self.space.canonical(arch), deque()).append(trial)
                return Proposal(arch)
            self._study.tell(trial, state=self._failed)
        return self._drawn()

    def _drawn(self) -> Proposal:
        """An architecture from the space. It becomes a trial, from which the sampler learns where valid ones are."""
        arch = self.space.sample(self.rng)
        return Proposal(arch) if self._is_complete else self.begin_with(arch)

    def _complete(self) -> None:
        """Called by a sampler that has nothing left to propose, instead of the end of Optuna's own loop."""
        self._is_complete = True

    def _trial_values(self, arch: Architecture) -> dict[str, Any]:
        """The values of an architecture's parameters as :func:`_suggest` asks Optuna for them."""
        values = dict(self.space.to_config(arch))
        return {
            parameter.name: parameter.options.index(values[parameter.name])
            if parameter.options and parameter.ordered
            else values[parameter.name]
            for parameter in self.space.config_parameters()
            if parameter.name in values
        }


def from_optuna(
    sampler: BaseSampler | type[BaseSampler] | Callable[[int], BaseSampler], *, name: str = "", summary: str = ""
) -> type[OptunaMethod]:
    """A method whose proposals come from a sampler of Optuna, to be used wherever methods are.

    ::

        from optuna.samplers import NSGAIISampler
        from nasbed.optimizers import from_optuna

        Genetic = from_optuna(lambda seed: NSGAIISampler(population_size=20, seed=seed))

    in a file ``my.py`` is run by ``nasbed run nb201/cifar10 --optimizers rs,my.py:Genetic``. The sampler may be
    Optuna's or your own subclass of its ``BaseSampler``.

    Args:
        sampler: a function that takes a seed and returns the sampler of a run; a class with the argument ``seed``; or
            a sampler, which every run copies and seeds anew.
        name: of its runs; without it, the name of the variable in your file.
        summary: one line that says what it is.
    """
    make = _factory(sampler)
    base: type[BaseSampler] = import_library("optuna", user="from_optuna").samplers.BaseSampler
    kind = sampler if isinstance(sampler, type) else type(sampler)

    class AdaptedSampler(OptunaMethod):
        def make_sampler(self, seed: int) -> BaseSampler:
            result = make(seed)
            if not isinstance(result, base):
                raise InvalidOption(
                    f"a sampler is a subclass of optuna's BaseSampler, got {shorten(result)}; return one"
                )
            return result

    return named_method(
        AdaptedSampler,
        name=name,
        summary=summary or (f"Optuna's {kind.__name__}" if issubclass(kind, base) else ""),
        module=sys._getframe(1).f_globals["__name__"],
    )


def suggest_architecture(trial: Trial, space: SearchSpace) -> Architecture:
    """The architecture that a trial of Optuna proposes, for an objective of your own.

    Each active parameter of the space's ConfigSpace is suggested under its name, parents first. Raises a
    :class:`~nasbed.core.errors.NasbedError` that says why where the values are not an architecture, as in nb101; with
    ``study.optimize(…, catch=nasbed.NasbedError)`` such a trial has failed.
    """
    if not isinstance(space, SearchSpace):
        raise InvalidOption(f"an architecture is of a search space, got {shorten(space)}; pass nasbed.space(…)")
    return space.from_choices(partial(_suggest, trial))


def _factory(sampler: Any) -> Callable[[int], Any]:
    """A function from a seed to a sampler."""
    if isinstance(sampler, import_library("optuna", user="from_optuna").samplers.BaseSampler):

        def copied(seed: int) -> Any:
            fresh = deepcopy(sampler)
            fresh.reseed_rng()  # Optuna makes generators when they are first used; this makes them all
            return reseeded_copy(fresh, seed)

        return copied
    if not callable(sampler):
        raise InvalidOption(
            f"from_optuna takes a sampler, or a function from a seed to one, got {shorten(sampler)}; write "
            "lambda seed: TPESampler(seed=seed)"
        )
    if takes_argument(sampler, "seed", remedy="write lambda seed: …, so that runs differ"):
        return lambda seed: sampler(seed=seed)
    if isinstance(sampler, type):
        raise InvalidOption(f"{sampler.__name__} has no argument seed; write lambda seed: {sampler.__name__}(…)")
    return sampler  # type: ignore[no-any-return]


def _suggest(trial: Trial, parameter: Parameter) -> Any:
    """Optuna's value for a parameter; an option is a category or, where options are ordered, an integer."""
    name, options = parameter.name, parameter.options
    if options:
        if parameter.ordered:
            return options[trial.suggest_int(name, 0, len(options) - 1)]
        return trial.suggest_categorical(name, options) if len(options) > 1 else options[0]
    suggest: Callable[..., Any] = trial.suggest_int if parameter.is_integer else trial.suggest_float
    return suggest(name, *parameter.bounds, log=parameter.is_logarithmic)
