"""The trials of a tuning: proposals, fits, and results for the optimizer."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from time import perf_counter
from typing import Any, overload

import numpy as np

import nasbed
from nasbed.core.errors import BadFile, InvalidOption, first_line
from nasbed.core.metric import Metric
from nasbed.core.observation import Observation
from nasbed.core.status import Status
from nasbed.experiments.tuning.journal import TuningJournal, TuningTrial
from nasbed.optimizers.base import Optimizer, Problem
from nasbed.spaces.base import SearchSpace
from nasbed.spaces.from_configspace import FromConfigSpace, space_from_configspace
from nasbed.surrogates.base import Surrogate
from nasbed.surrogates.examples import Examples
from nasbed.surrogates.quality import figures_in_seconds
from nasbed.surrogates.scores import kendall, mae, r2, sparse_kendall

ONE_FIDELITY = 1
_OBJECTIVE = Metric("score", split="validation")


@dataclass(frozen=True, slots=True)
class TrialFit:
    """Fits a model with settings and returns its figures on the held-out part and the seconds of the fit. The held-out
    part is for scoring only; models stop early on a share of the train part.

    In a process of an engine it runs in one thread, unless ``OMP_NUM_THREADS`` says otherwise: the other cores have
    their own processes.
    """

    kind: type[Surrogate[Any]]
    space: SearchSpace
    train: Examples
    held_out: Examples
    seed: int
    precision: float
    logarithmic: bool = False
    """Whether targets are logarithms of seconds, so that figures in seconds are of use too."""

    def __call__(self, settings: Mapping[str, Any]) -> tuple[dict[str, float], float]:
        start = perf_counter()
        model = self.kind(self.space, seed=self.seed, settings=settings)
        model.fit(self.train)
        fit_s = perf_counter() - start
        truth, predictions = self.held_out.y, model.predict(self.held_out.codes)
        figures = {
            "skt": sparse_kendall(truth, predictions, precision=self.precision),
            "r2": r2(truth, predictions),
            "kendall": kendall(truth, predictions),
            "mae": mae(truth, predictions),
        }
        if self.logarithmic:
            figures |= figures_in_seconds(truth, predictions)
        undefined = [name for name, value in figures.items() if not math.isfinite(value)]
        if undefined:
            raise InvalidOption(f"predictions have no {', '.join(undefined)}: they are all the same, or not finite")
        return figures, fit_s

    def __reduce__(self) -> tuple[Any, ...]:
        return _fit_in_worker, tuple(getattr(self, item.name) for item in fields(self))


def _fit_in_worker(*values: Any) -> TrialFit:
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    return TrialFit(*values)


class TuningSearch:
    """The tuning space of a model as an optimizer sees it.

    Args:
        kind: the model.
        space: of the architectures.
        fixed: settings that hold for all trials.
        seed: of the proposals.
        defaults: the settings of the first trial; those that are not tuned hold for all.
    """

    def __init__(
        self,
        kind: type[Surrogate[Any]],
        space: SearchSpace,
        fixed: Mapping[str, Any],
        seed: int,
        defaults: Mapping[str, Any] | None = None,
    ) -> None:
        tuning_space = space_from_configspace(kind.tuning_space(), f"{kind.name}-settings")
        tuned = tuning_space.configspace()
        self._kind, self._first = kind, {**(defaults or {}), **fixed}
        self._fixed = {name: value for name, value in (defaults or {}).items() if name not in tuned} | dict(fixed)
        self.default = kind(space, settings=self._first).settings
        self.space = _without(tuning_space, fixed)
        budgets = kind.budgets()
        if budgets is not None and budgets[0] in self._fixed:
            budgets = None
        steps = (ONE_FIDELITY,) if budgets is None else budgets[1]
        self.budget_name = None if budgets is None else budgets[0]
        self.highest = None if budgets is None else max(steps)
        self.problem = Problem(self.space, _OBJECTIVE, tuple(steps))
        from nasbed.optimizers.bohb import BOHB  # with ConfigSpace, which the processes that fit do not need

        self.optimizer: Optimizer = BOHB(self.problem, np.random.default_rng([seed, len(self.space.hyperparameters)]))
        values = dict(self.space.configspace().get_default_configuration())
        default = kind(space, settings=self._settings(values, None)).settings
        self._default_values = values if default == self.default else None

    def first(self) -> TuningTrial:
        """The defaults, at the highest budget."""
        return TuningTrial(0, {**self._first, **self._settings(None, self.highest)}, self.highest)

    def ask(self, number: int) -> TuningTrial:
        """The next proposal of the optimizer."""
        proposal = self.optimizer.ask(1)[0]
        values = self.space.to_native(proposal.architecture)
        budget = proposal.fidelity if self.budget_name else None
        return TuningTrial(number, self._settings(values, budget), budget, values)

    def tell(self, trial: TuningTrial, score: float | None) -> None:
        """Report a trial's score, that of the defaults too where the tuning space holds them."""
        values = trial.values or self._default_values
        if values is None:
            return
        self.optimizer.tell(
            [
                Observation(
                    self.space.from_native(values),
                    {} if score is None else {_OBJECTIVE: score},
                    fidelity=trial.budget or ONE_FIDELITY,
                    status=Status.FAILED if score is None else Status.OK,
                )
            ]
        )

    def _settings(self, values: Mapping[str, Any] | None, budget: int | None) -> dict[str, Any]:
        tuned = {} if values is None else self._kind.tuned(values)
        budgeted = {} if budget is None or self.budget_name is None else {self.budget_name: budget}
        return {**tuned, **self._fixed, **budgeted}


def _without(space: FromConfigSpace, fixed: Mapping[str, Any]) -> FromConfigSpace:
    """The tuning space without the fixed settings."""
    from ConfigSpace import ConfigurationSpace

    source = space.configspace()
    if not any(name in source for name in fixed):
        return space
    reduced = ConfigurationSpace()
    reduced.add(*(hyperparameter for name, hyperparameter in source.items() if name not in fixed))
    if not len(reduced) or source.conditions or source.forbidden_clauses:
        raise InvalidOption(f"these settings leave nothing to tune: {', '.join(fixed)}; omit one")
    return space_from_configspace(reduced, space.name)


class Trials(Sequence[Mapping[str, Any]]):
    """The settings of the remaining trials, as the tasks of an engine. A proposal is made when a process is free, so
    that it can use all earlier results.

    Args:
        search: proposes settings.
        journal: the proposals and results so far.
        score: the score that is maximised.
        trials: the number of trials in all.
        progress: called with each trial that ended.
    """

    def __init__(
        self,
        search: TuningSearch,
        journal: TuningJournal,
        score: str,
        trials: int,
        progress: Callable[[TuningTrial], None] | None,
    ) -> None:
        self._search, self._journal, self._score, self._progress = search, journal, score, progress
        self._replay()
        self._tasks = [trial for number, trial in journal.proposals.items() if number not in journal]
        self._count = max(len(self._tasks), trials - len(journal))

    @property
    def finished(self) -> list[TuningTrial]:
        """Those with results, in the order in which they ended."""
        return [trial for _, trial in self._journal.items()]

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, index: int) -> Mapping[str, Any]: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Mapping[str, Any]]: ...
    def __getitem__(self, index: int | slice) -> Mapping[str, Any] | Sequence[Mapping[str, Any]]:
        if isinstance(index, slice):
            return [self[position] for position in range(*index.indices(self._count))]
        if not 0 <= index < self._count:
            raise IndexError(index)
        while len(self._tasks) <= index:
            self._ask()
        return self._tasks[index].settings

    def end(self, task: int, result: tuple[dict[str, float], float] | None, error: str) -> None:
        """Store the outcome of a task, then report it to the optimizer."""
        trial = self._tasks[task]
        figures, fit_s = result or ({}, 0.0)
        trial = replace(trial, figures=figures, fit_s=round(fit_s, 3), error=error, nasbed_version=nasbed.__version__)
        self._journal.record(trial.number, trial)
        self._learn(trial)

    def _ask(self) -> None:
        number = len(self._journal.proposals)
        trial = self._search.ask(number) if number else self._search.first()
        self._journal.propose(trial)
        self._tasks.append(trial)

    def _learn(self, trial: TuningTrial) -> None:
        self._search.tell(trial, trial.figures.get(self._score))
        if self._progress is not None:
            self._progress(trial)

    def _replay(self) -> None:
        """Repeat the calls of the journal; its proposals count."""
        learned = set()
        for place, line in enumerate(self._journal.lines, 1):
            try:
                if line.get("asked"):
                    self._search.ask(line["asked"])
                elif "ended" in line and line["ended"] not in learned:
                    learned.add(line["ended"])
                    self._learn(self._journal[line["ended"]])
            except (KeyError, TypeError, ValueError, AttributeError) as error:
                raise BadFile(
                    f"{self._journal.path}, line {place}, is not a line of a tuning: {first_line(error)}; use another "
                    "folder"
                ) from None
