"""Live training behind a query."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("torch", reason="needs torch")

import nasbed
from nasbed import datasets
from nasbed.benchmarks import LiveBenchmark
from nasbed.core.architecture import Architecture
from nasbed.core.errors import BadFile, InvalidOption, UnknownName
from nasbed.core.status import Status
from nasbed.evaluation.judging import judge
from nasbed.experiments.runs import Runs, Setup
from nasbed.experiments.simulate import Budget, problem_of, simulate
from nasbed.optimizers import OPTIMIZERS
from nasbed.training import load_recipe

RECIPE = replace(
    load_recipe("small-nb201"), epochs=(1, 2), epoch_images=128, skeleton={"channels": 4, "cells_per_stage": 1}
)
ARCH = Architecture("nb201", (3, 1, 2, 0, 4, 3))


def live() -> LiveBenchmark:
    return LiveBenchmark(nasbed.space("nb201"), datasets.load("digits"), RECIPE)


def test_live_query_trains_and_keeps_the_test_metric_back() -> None:
    benchmark = live()
    assert benchmark.test_metric is None and np.isnan(benchmark.mean_test([ARCH])).all()
    answer = benchmark.query(ARCH, seed=1 << 41)
    assert {metric.key for metric in answer.values} == {"validation_accuracy", "train_loss", "train_accuracy"}
    assert all(metric.split != "test" for metric in benchmark.metrics)
    assert (answer.fidelity, answer.seed, answer.status) == (2, 1 << 41, Status.OK) and (answer.cost_s or 0) > 0
    assert benchmark.test_metric is not None and benchmark.test_metric.key == "test_accuracy"
    assert 0 <= benchmark.mean_test([ARCH])[0] <= 100


def test_live_answers_are_the_same_twice_and_by_another_alike() -> None:
    trained, second = live(), live()
    first = trained.query(ARCH, fidelity=1, seed=3)
    assert trained.query(ARCH, fidelity=1, seed=3) == first, "remembered, its cost too"
    assert dict(second.query(ARCH, fidelity=1, seed=3).values) == dict(first.values), "trained again"
    assert dict(trained.query(ARCH, fidelity=1, seed=4).values) != dict(first.values)
    batch = trained.query_many([ARCH, ARCH], fidelity=1, seed=3)
    assert len(batch) == 2 and dict(batch[0].values) == dict(first.values)


def test_live_isomorphic_cells_are_one_training() -> None:
    space = nasbed.space("nb101")
    benchmark = LiveBenchmark(
        space, datasets.load("digits"), replace(load_recipe("small-nb101"), epochs=(1,), epoch_images=64)
    )
    cells = [space.parse("conv3x3:0/maxpool3x3:0/output:1,2"), space.parse("maxpool3x3:0/conv3x3:0/output:1,2")]
    assert dict(benchmark.query(cells[0]).values) == dict(benchmark.query(cells[1]).values)


def test_live_diverged_query_says_so() -> None:
    recipe = replace(RECIPE, learning_rate=1e6, gradient_clip=None)
    answer = LiveBenchmark(nasbed.space("nb201"), datasets.load("digits"), recipe).query(ARCH)
    assert answer.status is Status.DIVERGED and not answer.values


def test_live_search_is_judged_by_the_test_results_of_what_it_trained() -> None:
    """The optimum is unknown, so the regret is to the best of the runs."""
    benchmark = live()
    runs = []
    for seed in (0, 1):
        optimizer = OPTIMIZERS.get("rs")(problem_of(benchmark), np.random.default_rng(seed))
        runs.append(simulate(optimizer, benchmark, seed=seed, budget=Budget(evaluations=2)))
    assert not any(run.error for run in runs) and all(len(run) == 2 for run in runs)
    setup = Setup(benchmark.name, "nb201", benchmark.objective, "2ev", 1, {})
    judged = judge(Runs(setup, runs), benchmark)
    assert judged.judge == benchmark.test_metric and 0 <= judged.test_best <= 100
    ends = [trajectory.test_regret[-1] for trajectory in judged.trajectories]
    assert np.isfinite(ends).all() and min(trajectory.test_regret.min() for trajectory in judged.trajectories) == 0
    elsewhere = judge(Runs(setup, runs), live())
    assert (
        elsewhere.judge is None and min(trajectory.validation_regret[-1] for trajectory in elsewhere.trajectories) == 0
    )
    with pytest.raises(InvalidOption, match="the best of live:nb201/digits/small-nb201"):
        benchmark.optimum()


def test_load_knows_live_benchmarks_by_name() -> None:
    benchmark = nasbed.load("live:nb201/digits/small-nb201")
    assert isinstance(benchmark, LiveBenchmark) and benchmark.fidelities == (1, 3, 9)
    assert (benchmark.space.name, benchmark.name) == ("nb201", "live:nb201/digits/small-nb201")


@pytest.mark.parametrize(
    ("name", "kind", "message"),
    [
        ("live:nb201/digits", InvalidOption, "live:SPACE/DATASET/RECIPE"),
        ("live:nb201//small", InvalidOption, "live:SPACE/DATASET/RECIPE"),
        ("live:nb202/digits/small", UnknownName, "did you mean nb201"),
        ("live:nb201/digit/small", UnknownName, "did you mean digits"),
        ("live:nb201/digits/smal", UnknownName, "did you mean small"),
        ("live:nb201/cifar10/small", BadFile, "nasbed data prepare cifar10"),
        ("live:fcnet/digits/small", UnknownName, "has no network"),
        ("live:nb201/digits/small-darts", InvalidOption, "skeleton of nb201"),
        ("live:nb201/digits/nb101", InvalidOption, "digits"),
    ],
)
def test_load_says_what_is_wrong_with_a_live_name(name: str, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message):
        nasbed.load(name)


def test_live_refuses_recipes_that_no_network_could_be_trained_with() -> None:
    space, digits = nasbed.space("nb201"), datasets.load("digits")
    for change, message in (
        ({"split": (100, 0)}, "leaves none"),
        ({"drop_path": 0.1}, "set_drop_path"),
        ({"split": (20, 20)}, "batches of 32, got 20 images"),
    ):
        with pytest.raises(InvalidOption, match=message):
            LiveBenchmark(space, digits, replace(RECIPE, **change))
