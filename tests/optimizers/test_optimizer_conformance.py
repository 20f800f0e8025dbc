"""Every registered method passes the public conformance suite."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from nasbed.core.errors import MissingDependency
from nasbed.core.observation import Observation
from nasbed.optimizers import OPTIMIZERS, Optimizer, Problem
from nasbed.optimizers.base import Proposal
from nasbed.testing import OptimizerConformance

MODEL_FREE = {"asha", "de", "dehb", "ls", "nre", "nsga2", "re", "rl", "rs"}

SMALL: dict[str, dict[str, Any]] = {
    "re": {"population_size": 12, "sample_size": 4},
    "nre": {"population_size": 12, "sample_size": 4},
    "de": {"population_size": 8},
    "nsga2": {"population_size": 10},
    "smac": {"initial_per_parameter": 1, "challengers": 50, "local_search_iterations": 1},
    "hebo": {"initial": 8, "trees": 5, "population_size": 20, "generations": 3},
    "combo": {"initial": 10, "burn_in": 3, "samples": 2, "starts": 4, "candidates": 20},
}
"""Settings with which a method that starts with many random architectures gets past them, and cheap
ones for slow models. Defaults for all others."""


EVALUATIONS = {"smac": 12, "hebo": 12, "combo": 14, "tpe": 16}
"""Enough for the models of slow methods to propose."""
LARGE_SPACE_EVALUATIONS = {"smac": 30}
"""The same in spaces of many parameters, where SMAC starts with one random architecture for each."""


@pytest.mark.parametrize("name", OPTIMIZERS.names())
class TestEveryOptimizer(OptimizerConformance):
    @pytest.fixture(autouse=True)
    def _choose(self, name: str) -> None:
        self.name = name
        self.model_free = name in MODEL_FREE
        self.evaluations = EVALUATIONS.get(name, self.evaluations)

    def make_optimizer(self, problem: Problem, rng: np.random.Generator) -> Optimizer:
        try:
            return OPTIMIZERS.get(self.name)(problem, rng, **SMALL.get(self.name, {}))
        except MissingDependency as missing:
            pytest.skip(str(missing))

    def test_proposals_are_valid_on_cells_chains_and_conditions(self) -> None:
        self.evaluations = LARGE_SPACE_EVALUATIONS.get(self.name, self.evaluations)
        super().test_proposals_are_valid_on_cells_chains_and_conditions()

    def test_its_name_is_its_id(self) -> None:
        assert OPTIMIZERS.get(self.name).name == self.name


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("ls", {"starts": 10, "first_improvement": True}),
        ("smac", {**SMALL["smac"], "initial_per_parameter": 0, "max_evaluations": 4}),
        ("hb", {"lowest_fidelity": 12}),
    ],
)
class TestSettingsOfPapers(OptimizerConformance):
    @pytest.fixture(autouse=True)
    def _choose(self, name: str, settings: dict[str, Any]) -> None:
        self.name, self.settings = name, settings
        self.evaluations = EVALUATIONS.get(name, self.evaluations)

    def make_optimizer(self, problem: Problem, rng: np.random.Generator) -> Optimizer:
        try:
            return OPTIMIZERS.get(self.name)(problem, rng, **self.settings)
        except MissingDependency as missing:
            pytest.skip(str(missing))


class Rescanning(Optimizer):
    """Random search that looks at all it was answered before it proposes."""

    name = "rescanning"
    summary = "goes over its history"

    def __init__(self, problem: Problem, rng: np.random.Generator) -> None:
        super().__init__(problem, rng)
        self.observations: list[Observation] = []

    def ask(self, n: int = 1) -> list[Proposal]:
        assert not [observation for observation in self.observations if observation.fidelity == -1]
        return [Proposal(self.space.sample(self.rng)) for _ in range(n)]

    def tell(self, observations: Sequence[Observation]) -> None:
        self.observations += observations


class RescanningConformance(OptimizerConformance):
    model_free = True

    def make_optimizer(self, problem: Problem, rng: np.random.Generator) -> Optimizer:
        return Rescanning(problem, rng)


def test_a_method_that_goes_over_its_history_is_caught_without_a_clock() -> None:
    suite = RescanningConformance()
    suite.test_a_method_without_a_model_is_cheap()
    with pytest.raises(AssertionError):
        suite.test_a_method_without_a_model_does_not_go_over_its_history()
