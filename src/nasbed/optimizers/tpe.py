"""Optuna's tree Parzen estimator."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from nasbed.optimizers.adapters.optuna_sampler import OptunaMethod
from nasbed.optimizers.base import Proposal
from nasbed.optimizers.settings import flag, integer

if TYPE_CHECKING:
    from optuna.samplers import TPESampler


@dataclass(eq=False, kw_only=True)
class TPE(OptunaMethod):
    """The sampler of Optuna with its own defaults (Bergstra et al. 2011; Akiba et al. 2019).

    ``n_startup_trials`` 10 random architectures, ``n_ei_candidates`` 24, densities over all parameters together
    (``multivariate``) and a liar for what is still being evaluated are the defaults of Optuna 5. Before that, and in
    the paper of 2011, each parameter had densities of its own. The model ignores failed trials, and architectures that
    were drawn from the space after 100 of them.
    """

    name = "tpe"
    summary = "Optuna's tree Parzen estimator"
    tries = 100

    n_startup_trials: int = integer(10, low=0)
    n_ei_candidates: int = integer(24, low=1)
    multivariate: bool = flag(True)

    @property
    def start_size(self) -> int:
        return self.n_startup_trials

    def make_sampler(self, seed: int) -> TPESampler:
        from optuna.samplers import TPESampler

        return TPESampler(
            n_startup_trials=self.n_startup_trials,
            n_ei_candidates=self.n_ei_candidates,
            multivariate=self.multivariate,
            constant_liar=True,
            seed=seed,
        )

    def _drawn(self) -> Proposal:
        return Proposal(self.space.sample(self.rng))
