"""SMAC's facades as methods."""

from __future__ import annotations

import logging
import math
import sys
import tempfile
import warnings
from abc import abstractmethod
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from ConfigSpace import Configuration
from joblib import parallel_config

from nasbed.core.architecture import Architecture
from nasbed.core.errors import InvalidOption, NasbedError, shorten
from nasbed.core.observation import Observation
from nasbed.optimizers.adapters.classes import import_library, named_method
from nasbed.optimizers.archive import ProposalArchive
from nasbed.optimizers.base import Optimizer, Proposal

if TYPE_CHECKING:
    from smac import Scenario
    from smac.facade import AbstractFacade
    from smac.runhistory import TrialInfo

MOST_LEAVES = 1 << 14


@dataclass(eq=False, kw_only=True)
class SMACMethod(Optimizer):
    """A method whose proposals come from a facade of SMAC3 (Lindauer et al. 2022).

    Costs are losses measured from the best possible value, where the objective has one, and so positive. Failed
    architectures and invalid configurations are reported as crashed with the worst loss so far; those before the first
    loss wait for it, as any guess might be better than all that follows. Configurations of one architecture share its
    evaluations.
    """

    name = "smac-facade"
    summary = "a facade of SMAC3"
    draws_from_space = False
    filtered = "never"
    tries: ClassVar[int] = 20
    """How many invalid or repeated configurations SMAC may offer before an architecture is drawn from the space."""

    def __post_init__(self) -> None:
        super().__post_init__()
        import_library("smac", user=f"the method {self.name}")
        self._source = deepcopy(self.space.configspace())
        lowest = self.problem.lowest_loss
        self._floor = lowest if math.isfinite(lowest) else None
        self._seed = int(self.rng.integers(2**31))
        with _quiet():
            self._facade = self._make(0)
        self._warm_start: list[tuple[TrialInfo, float]] | None = None
        self._archive = ProposalArchive(self.space)
        self._offered: Counter[Configuration] = Counter()
        self._pending: dict[Architecture, list[list[TrialInfo]]] = {}
        """By architecture, the trials that wait for each of its evaluations that were proposed."""
        self._costs: dict[Architecture, list[float]] = {}
        self._crashed: list[TrialInfo] = []
        """The trials that failed before any loss was known."""

    @abstractmethod
    def make_facade(self, scenario: Scenario, warm_started: int) -> AbstractFacade:
        """The facade of a run that begins with so many architectures of somebody else's choice."""

    @property
    def repeats(self) -> bool:
        """Whether SMAC may evaluate an architecture more than once."""
        return False

    def _make(self, warm_started: int) -> AbstractFacade:
        from smac import Scenario

        with tempfile.TemporaryDirectory(prefix="nasbed-smac-") as folder:
            scenario = Scenario(
                self._source,
                output_directory=Path(folder),
                deterministic=not self.repeats,
                n_trials=10**9,
                seed=self._seed,
            )
            facade = self.make_facade(scenario, warm_started)
        logging.getLogger("smac").setLevel(logging.ERROR)
        self._check_costs(facade)
        return _reproducible(facade)

    def _check_costs(self, facade: AbstractFacade) -> None:
        from smac.runhistory.encoder import RunHistoryLogEncoder

        if self._floor is None and isinstance(facade._runhistory_encoder, RunHistoryLogEncoder):
            raise InvalidOption(
                f"{type(facade).__name__} models the logarithm of costs, which {self.problem.objective.key} without a "
                "best possible value has not; give the metric bounds, or the facade another runhistory_encoder"
            )

    def begin_with(self, arch: Architecture) -> Proposal:
        """SMAC gets it when it is first asked."""
        if self._warm_start is None:
            self._warm_start = []
        self._register(arch, self._trial_of(arch))
        return Proposal(arch)

    def ask(self, n: int = 1) -> list[Proposal]:
        with _quiet():
            if self._warm_start is not None:
                self._facade = self._make(len(self._warm_start))
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
        for _ in range(self.tries):
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
        worst = max(filter(math.isfinite, chain.from_iterable(self._costs.values())), default=None)
        if worst is None:
            self._crashed.append(trial)
            return
        crashed, self._crashed = [*self._crashed, *([trial] if failed else [])], []
        with _quiet():
            for one in crashed:
                self._facade.tell(one, TrialValue(cost=worst, status=StatusType.CRASHED), save=False)
            if not failed:
                self._facade.tell(trial, TrialValue(cost=cost, status=StatusType.SUCCESS), save=False)


def from_smac(
    facade: type[AbstractFacade] | Callable[[Scenario], AbstractFacade], *, name: str = "", summary: str = ""
) -> type[SMACMethod]:
    """A method whose proposals come from a facade of SMAC3, to be used wherever methods are.

    ::

        from smac import BlackBoxFacade
        from nasbed.optimizers import from_smac

        Gaussian = from_smac(BlackBoxFacade)

    in a file ``my.py`` is run by ``nasbed run nb201/cifar10 --optimizers rs,my.py:Gaussian``. Facades that evaluate at
    several budgets are refused.

    Args:
        facade: a class, which is used with its defaults; or a function that takes SMAC's scenario, with the space and
            the seed of a run, and returns a facade.
        name: of its runs; without it, the name of the variable in your file.
        summary: one line that says what it is.
    """
    import_library("smac", user="from_smac")
    from smac.facade import AbstractFacade, MultiFidelityFacade

    ancestors = facade.__mro__ if isinstance(facade, type) else ()
    if not callable(facade) or (ancestors and AbstractFacade not in ancestors):
        raise InvalidOption(
            f"from_smac takes a facade class of SMAC, or a function from a scenario to a facade, got "
            f"{shorten(facade)}; write from_smac(BlackBoxFacade)"
        )
    if MultiFidelityFacade in ancestors:
        raise InvalidOption(
            f"from_smac takes facades that evaluate at one budget, got {facade.__name__}; the methods hb and bohb use "
            "several"
        )
    options: dict[str, Any] = {"logging_level": False, "overwrite": True} if ancestors else {}

    class AdaptedFacade(SMACMethod):
        def make_facade(self, scenario: Scenario, warm_started: int) -> AbstractFacade:
            result = facade(scenario, **options)
            if not isinstance(result, AbstractFacade):
                raise InvalidOption(
                    f"a facade is a subclass of SMAC's AbstractFacade, got {shorten(result)}; return one"
                )
            return result

    return named_method(
        AdaptedFacade,
        name=name,
        summary=summary or (f"SMAC3's {facade.__name__}" if ancestors else ""),
        module=sys._getframe(1).f_globals["__name__"],
    )


def _reproducible(facade: AbstractFacade) -> AbstractFacade:
    """The facade with two changes to its parts, where it has these.

    SMAC allows a tree a million leaves, for which scikit-learn takes 130 MB each time it grows one. A tree has no more
    leaves than there are evaluations, so that fewer give the same forest, in a fifth of the time.

    SMAC takes the starts of its local search from a set, in an order that differs between processes. Here they are
    sorted by value, so that a seed gives the same result everywhere.
    """
    if hasattr(facade._model, "_rf_opts"):
        facade._model._rf_opts["max_leaf_nodes"] = MOST_LEAVES
    search: Any = getattr(facade._acquisition_maximizer, "_local_search", facade._acquisition_maximizer)
    starts = getattr(search, "_get_init_points_from_previous_configs", None)
    if starts is not None:

        def in_order(*arguments: Any) -> list[Configuration]:
            return sorted(starts(*arguments), key=lambda config: np.nan_to_num(config.get_array(), nan=-1.0).tolist())

        search._get_init_points_from_previous_configs = in_order
    return facade


@contextmanager
def _quiet() -> Iterator[None]:
    """No warnings, and no threads: SMAC's forest is asked so often for so little that starting them takes most of
    the time."""
    with warnings.catch_warnings(), parallel_config(backend="sequential"):
        warnings.simplefilter("ignore")
        yield
