"""SMAC: Bayesian optimisation with a random forest."""

from __future__ import annotations

import logging
import math
import tempfile
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from ConfigSpace import Configuration, ConfigurationSpace
from joblib import parallel_config

from nasbed.core.architecture import Architecture
from nasbed.core.errors import MissingDependency, NasbedError
from nasbed.core.observation import Observation
from nasbed.optimizers.archive import ProposalArchive
from nasbed.optimizers.base import Optimizer, Proposal
from nasbed.optimizers.settings import integer, number

if TYPE_CHECKING:
    from smac import HyperparameterOptimizationFacade
    from smac.runhistory import TrialInfo

MOST_LEAVES = 1 << 14
TRIES = 20
"""How many invalid or repeated configurations SMAC may offer before an architecture is drawn from the space."""


@dataclass(eq=False, kw_only=True)
class SMAC(Optimizer):
    """The package SMAC3 with its facade for hyperparameter optimisation (Lindauer et al. 2022).

    The settings and their defaults are the facade's, except that by default each architecture is evaluated once. As
    there, the forest models the logarithm of the loss, measured from the best possible value; an objective without such
    a bound is modelled as it is. Failed architectures and invalid configurations are reported as crashed with the worst
    loss so far. Configurations of one architecture share its evaluations.
    """

    name = "smac"
    summary = "SMAC3: Bayesian optimisation with a random forest"
    model_family = "trees"
    draws_from_space = False
    filtered = "never"

    initial_per_parameter: int = integer(10, low=0)
    """Points of a Sobol sequence to start with, for each parameter; with 0 it starts with a single one."""
    random_fraction: float = number(0.2, low=0, high=1)
    """The share of proposals that are drawn at random."""
    challengers: int = integer(10_000, low=1)
    """Configurations at which the acquisition function is computed."""
    local_search_iterations: int = integer(10, low=0)
    """Local searches for its maximum."""
    max_evaluations: int = integer(1, low=1)
    """The most evaluations of an architecture: above 1, SMAC evaluates the incumbent again, and a challenger as often
    as the incumbent while it looks better."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self._source = deepcopy(self.space.configspace())
        lowest = self.problem.lowest_loss
        self._floor = lowest if math.isfinite(lowest) else None
        self._initial = max(1, self.initial_per_parameter * len(self._source))
        self._make = partial(
            _facade,
            self._source,
            seed=int(self.rng.integers(2**31)),
            random_fraction=self.random_fraction,
            challengers=self.challengers,
            local_search_iterations=self.local_search_iterations,
            max_evaluations=self.max_evaluations,
            logarithmic=self._floor is not None,
        )
        with _quiet():
            self._facade = self._make(initial=self._initial)
        self._warm_start: list[tuple[TrialInfo, float]] | None = None
        self._archive = ProposalArchive(self.space)
        self._offered: Counter[Configuration] = Counter()
        self._pending: dict[Architecture, list[list[TrialInfo]]] = {}
        """By architecture, the trials that wait for each of its evaluations that were proposed."""
        self._costs: dict[Architecture, list[float]] = {}

    @property
    def start_size(self) -> int:
        return self._initial

    def begin_with(self, arch: Architecture) -> Proposal:
        """SMAC gets it when it is first asked; its own initial design is shorter by as much."""
        if self._warm_start is None:
            self._warm_start = []
        self._register(arch, self._trial_of(arch))
        return Proposal(arch)

    def ask(self, n: int = 1) -> list[Proposal]:
        with _quiet():
            if self._warm_start is not None:
                self._facade = self._make(initial=max(1, self._initial - len(self._warm_start)))
                reports, self._warm_start = self._warm_start, None
                for trial, loss in reports:
                    self._report(trial, loss)
            return [Proposal(self._next()) for _ in range(n)]

    def tell(self, observations: Sequence[Observation]) -> None:
        for observation in observations:
            self._archive.add(observation.architecture)
            form = self.space.canonical(observation.architecture)
            loss = self.problem.loss(observation)
            if self._floor is not None:
                loss = max(loss - self._floor, 1e-9)
            self._costs.setdefault(form, []).append(loss)
            waiting = self._pending.get(form)
            for trial in waiting.pop(0) if waiting else ():
                self._report(trial, loss)

    def _next(self) -> Architecture:
        for _ in range(TRIES):
            trial = self._offer()
            if trial is None:
                break
            try:
                arch = self.space.from_config(dict(trial.config))
            except NasbedError:
                self._report(trial, math.inf)
                continue
            form, number = self.space.canonical(arch), self._offered[trial.config]
            self._offered[trial.config] += 1
            costs, pending = self._costs.get(form, []), self._pending.get(form, [])
            if number < len(costs):
                self._report(trial, costs[number])
            elif number < len(costs) + len(pending):
                pending[number - len(costs)].append(trial)
            else:
                self._register(arch, trial)
                return arch
        arch = self._archive.sample(self.rng)
        self._register(arch, self._trial_of(arch))
        return arch

    def _register(self, arch: Architecture, trial: TrialInfo) -> None:
        """Note that an evaluation is proposed, whose result is the trial's."""
        self._archive.add(arch)
        self._pending.setdefault(self.space.canonical(arch), []).append([trial])

    def _offer(self) -> TrialInfo | None:
        """SMAC's next configuration; ``None`` when it has tried them all."""
        from smac.main.exceptions import ConfigurationSpaceExhaustedException

        try:
            return self._facade.ask()
        except (StopIteration, ConfigurationSpaceExhaustedException):
            return None

    def _trial_of(self, arch: Architecture) -> TrialInfo:
        from smac.runhistory import TrialInfo

        config = Configuration(self._source, values=dict(self.space.to_config(arch)))
        return TrialInfo(config, seed=0)

    def _report(self, trial: TrialInfo, cost: float) -> None:
        from smac.runhistory import TrialValue
        from smac.runhistory.enumerations import StatusType

        if self._warm_start is not None:
            self._warm_start.append((trial, cost))
            return
        failed = not math.isfinite(cost)
        if failed:
            cost = max(filter(math.isfinite, chain.from_iterable(self._costs.values())), default=1.0)
        value = TrialValue(cost=cost, status=StatusType.CRASHED if failed else StatusType.SUCCESS)
        with _quiet():
            self._facade.tell(trial, value, save=False)


def _facade(
    source: ConfigurationSpace,
    *,
    seed: int,
    initial: int,
    random_fraction: float,
    challengers: int,
    local_search_iterations: int,
    max_evaluations: int,
    logarithmic: bool,
) -> HyperparameterOptimizationFacade:
    try:
        from smac import HyperparameterOptimizationFacade as Facade
        from smac import Scenario
        from smac.acquisition.function import EI
        from smac.runhistory.encoder import RunHistoryEncoder
    except ImportError:
        raise MissingDependency(
            "smac needs the package smac; install it with: pip install 'nasbed[optimizers]'"
        ) from None
    logging.getLogger("smac").setLevel(logging.ERROR)
    with tempfile.TemporaryDirectory(prefix="nasbed-smac-") as folder:
        scenario = Scenario(
            source, output_directory=Path(folder), deterministic=max_evaluations == 1, n_trials=10**9, seed=seed
        )
        return Facade(
            scenario,
            model=_frugal(Facade.get_model(scenario)),
            initial_design=Facade.get_initial_design(scenario, n_configs=initial),
            random_design=Facade.get_random_design(scenario, probability=random_fraction),
            acquisition_maximizer=_ordered(
                Facade.get_acquisition_maximizer(
                    scenario, challengers=challengers, local_search_iterations=local_search_iterations
                )
            ),
            intensifier=Facade.get_intensifier(scenario, max_config_calls=max_evaluations),
            acquisition_function=None if logarithmic else EI(),
            runhistory_encoder=None if logarithmic else RunHistoryEncoder(scenario),
            logging_level=False,
            overwrite=True,
        )


def _frugal(model: Any) -> Any:
    """SMAC allows a tree a million leaves, for which scikit-learn takes 130 MB each time it grows one. A tree has no
    more leaves than there are evaluations, so that fewer give the same forest, in a fifth of the time."""
    model._rf_opts["max_leaf_nodes"] = MOST_LEAVES
    return model


def _ordered(maximizer: Any) -> Any:
    """SMAC takes the starts of its local search from a set, in an order that differs between processes. Here they are
    sorted by value, so that a seed gives the same result everywhere."""
    search = maximizer._local_search
    starts = search._get_init_points_from_previous_configs

    def in_order(*arguments: Any) -> list[Configuration]:
        return sorted(starts(*arguments), key=lambda config: np.nan_to_num(config.get_array(), nan=-1.0).tolist())

    search._get_init_points_from_previous_configs = in_order
    return maximizer


@contextmanager
def _quiet() -> Iterator[None]:
    """No warnings, and no threads: SMAC's forest is asked so often for so little that starting them takes most of
    the time."""
    with warnings.catch_warnings(), parallel_config(backend="sequential"):
        warnings.simplefilter("ignore")
        yield
