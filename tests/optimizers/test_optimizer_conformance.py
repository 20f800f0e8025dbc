"""Every registered method passes the public conformance suite."""

from typing import Any

import numpy as np
import pytest

from nasbed.core.errors import MissingDependency
from nasbed.optimizers import OPTIMIZERS, Optimizer, Problem
from nasbed.testing import OptimizerConformance

MODEL_FREE = {"de", "ls", "nre", "nsga2", "re", "rl", "rs"}

SMALL: dict[str, dict[str, Any]] = {
    "re": {"population_size": 12, "sample_size": 4},
    "nre": {"population_size": 12, "sample_size": 4},
    "de": {"population_size": 8},
    "nsga2": {"population_size": 10},
    "smac": {"initial_per_parameter": 1, "challengers": 200, "local_search_iterations": 2},
    "hebo": {"initial": 12, "trees": 10, "population_size": 30, "generations": 5},
    "combo": {"initial": 10, "burn_in": 3, "samples": 2, "starts": 4, "candidates": 20},
}
"""Settings with which a method that starts with many random architectures gets past them, and cheap
ones for slow models. Defaults for all others."""


EVALUATIONS = {"smac": 30, "hebo": 22, "combo": 20}
"""Enough for the models of slow methods to propose."""


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

    def test_its_name_is_its_id(self) -> None:
        assert OPTIMIZERS.get(self.name).name == self.name
