"""How many edits a mutation of evolution makes."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from nasbed import Metric, NasbedError, Observation, space
from nasbed.optimizers.base import Problem
from nasbed.optimizers.evolution import RegularizedEvolution

ACCURACY = Metric("accuracy", split="validation", bounds=(0, 1))


def distances(rate: float, count: int = 2000) -> NDArray[np.int64]:
    """In how many places children of the only member of the population differ from it, in a space too wide for two
    edits to meet often."""
    fbnet = space("fbnet")
    method = RegularizedEvolution(
        Problem(fbnet, ACCURACY, (1,)), np.random.default_rng(0), population_size=1, mutation_rate=rate
    )
    parent = method.ask()[0].architecture
    method.tell((Observation(parent, {ACCURACY: 0.5}),))
    children = np.array([proposal.architecture.code for proposal in method.ask(count)])
    changed: NDArray[np.int64] = (children != np.array(parent.code)).sum(axis=1)
    return changed


@pytest.mark.parametrize("rate", [0, 1])
def test_mutation_rate_that_is_whole_makes_that_many_edits(rate: int) -> None:
    assert (distances(rate) == rate).all()


def test_mutation_rate_with_a_fraction_is_the_mean_number_of_edits() -> None:
    half = distances(0.5)
    assert set(half.tolist()) == {0, 1} and abs(half.mean() - 0.5) < 0.05
    several = distances(2.5)
    assert several.max() == 3 and 2.2 < several.mean() <= 2.5  # an edit may undo or repeat another's place


def test_mutation_rate_below_zero_is_refused() -> None:
    with pytest.raises(NasbedError, match="mutation_rate is a number of at least 0"):
        distances(-1)
