"""SMAC: Bayesian optimisation with a random forest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from nasbed.optimizers.adapters.smac_facade import SMACMethod
from nasbed.optimizers.settings import integer, number

if TYPE_CHECKING:
    from smac import HyperparameterOptimizationFacade, Scenario


@dataclass(eq=False, kw_only=True)
class SMAC(SMACMethod):
    """The package SMAC3 with its facade for hyperparameter optimisation (Lindauer et al. 2022).

    The settings and their defaults are the facade's, except that by default each architecture is evaluated once. As
    there, the forest models the logarithm of the loss, measured from the best possible value; an objective without such
    a bound is modelled as it is. Architectures of a warm start shorten the initial design by as many.
    """

    name = "smac"
    summary = "SMAC3: Bayesian optimisation with a random forest"
    model_family = "trees"

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

    @property
    def start_size(self) -> int:
        return max(1, self.initial_per_parameter * len(self._source))

    @property
    def repeats(self) -> bool:
        return self.max_evaluations > 1

    def make_facade(self, scenario: Scenario, warm_started: int) -> HyperparameterOptimizationFacade:
        from smac import HyperparameterOptimizationFacade as Facade
        from smac.acquisition.function import EI
        from smac.runhistory.encoder import RunHistoryEncoder

        logarithmic = self._floor is not None
        return Facade(
            scenario,
            model=Facade.get_model(scenario),
            initial_design=Facade.get_initial_design(scenario, n_configs=max(1, self.start_size - warm_started)),
            random_design=Facade.get_random_design(scenario, probability=self.random_fraction),
            acquisition_maximizer=Facade.get_acquisition_maximizer(
                scenario, challengers=self.challengers, local_search_iterations=self.local_search_iterations
            ),
            intensifier=Facade.get_intensifier(scenario, max_config_calls=self.max_evaluations),
            acquisition_function=None if logarithmic else EI(),
            runhistory_encoder=None if logarithmic else RunHistoryEncoder(scenario),
            logging_level=False,
            overwrite=True,
        )
