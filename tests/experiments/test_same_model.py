"""A method whose own model is the surrogate's gets a remark (Surrogate NAS Benchmarks, section 6)."""

from __future__ import annotations

import numpy as np
import pytest

import nasbed
from nasbed.benchmarks.other_families import of_another_family
from nasbed.experiments.simulate import Budget, problem_of, same_model, simulate
from nasbed.optimizers import OPTIMIZERS, Optimizer
from nasbed.optimizers.guidance import FilteredProposals, WarmStarted
from nasbed.optimizers.random_search import RandomSearch
from nasbed.surrogates import SURROGATES

LGB, GIN = "snb-darts-cifar10-16-lgb-v2.0", "snb-darts-cifar10-16-gin-v2.0"


class Forest(RandomSearch):
    """Searches at random, and says that it has a forest."""

    name = "forest"
    model_family = "trees"


def forest_on(benchmark: nasbed.Benchmark) -> Optimizer:
    return Forest(problem_of(benchmark), np.random.default_rng(0))


@pytest.mark.parametrize("name", [LGB, f"{LGB}:mean", "snb-fbnet-cifar10-16-xgb-v1.0"])
def test_forest_on_a_surrogate_of_trees_is_remarked_on(name: str) -> None:
    benchmark = nasbed.load(name)
    run = simulate(forest_on(benchmark), benchmark, seed=0, budget=Budget(evaluations=2))
    (remark,) = run.remarks
    assert "of the family that predicts here, trees, which may flatter it" in remark
    offered = f"{GIN} is present (graph networks)." if "darts" in name else ": a graph network, gin."
    assert remark.endswith(offered)
    guided = [
        WarmStarted(forest_on(benchmark), [benchmark.space.sample(np.random.default_rng(1))]),
        FilteredProposals(forest_on(benchmark), 2, lambda candidates: candidates[0]),
    ]
    for optimizer in guided:
        assert same_model(optimizer, benchmark) == [remark]


def test_another_family_is_offered_of_the_same_methods_first() -> None:
    rand = "snb-darts-cifar10-16-lgb-rand-v2.0"
    assert list(of_another_family(nasbed.load(rand))) == [GIN.replace("gin", "gin-rand"), GIN]
    families = of_another_family(nasbed.load(GIN))
    assert list(families)[:2] == [LGB, LGB.replace("lgb", "xgb")] and set(families.values()) == {"trees"}
    assert of_another_family(nasbed.load("darts-cifar10-16-v2.0")) == {}


def test_other_families_and_tables_are_not() -> None:
    for name in (GIN, "darts-cifar10-16-v2.0"):
        benchmark = nasbed.load(name)
        assert same_model(forest_on(benchmark), benchmark) == []
    benchmark = nasbed.load(LGB)
    for kind in ("rs", "re", "tpe", "bananas"):
        assert same_model(OPTIMIZERS.get(kind)(problem_of(benchmark), np.random.default_rng(0)), benchmark) == []


def test_every_model_says_its_family() -> None:
    families = {name: SURROGATES.get(name).family for name in SURROGATES.names()}
    assert set(families.values()) == {"trees", "graph networks", "perceptrons", "kernels"}
    assert {name for name, family in families.items() if family == "trees"} == {"lgb", "xgb", "ngb", "rf", "smooth"}
    assert OPTIMIZERS.get("bananas").model_family == "perceptrons"
