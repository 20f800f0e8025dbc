"""A population prepared ahead, in a thread or by other processes, is the one prepared at once."""

from __future__ import annotations

import multiprocessing
import os
import threading
from collections.abc import Sequence

import numpy as np
import pytest
import torch

from nasbed import datasets
from nasbed.core.errors import InvalidOption
from nasbed.spaces import space
from nasbed.training.outcome import Job, TrainingOutcome
from nasbed.training.population import PopulationPreparer, PreparationTarget, preparing, train_population
from nasbed.training.population.preparing import PreparedPopulation, prepare_population
from nasbed.training.recipe import Recipe

RECIPE = Recipe(
    name="quick",
    epochs=(1,),
    batch=64,
    learning_rate=0.05,
    epoch_images=64,
    skeleton={"channels": 4, "cells_per_stack": 1},
)
TARGET = PreparationTarget(RECIPE, classes=10, channels=1, side=(8, 8), kernels=True)


def jobs(count: int, seed: int = 0) -> list[Job]:
    rng = np.random.default_rng(seed)
    return [Job(space("nb101").sample(rng), 1, number) for number in range(count)]


@pytest.fixture(autouse=True)
def one_thread() -> None:
    torch.set_num_threads(1)


@pytest.fixture(autouse=True)
def processes(monkeypatch: pytest.MonkeyPatch) -> preparing._Processes:
    """No test leaves processes to another, or keeps another from having them."""
    own = preparing._Processes()
    monkeypatch.setattr(preparing, "_processes", own)
    return own


@pytest.fixture
def threads(monkeypatch: pytest.MonkeyPatch) -> dict[int, list[str]]:
    """The threads in which the network of each seed was prepared."""
    names: dict[int, list[str]] = {}
    prepare = preparing._prepare

    def recorded(job: Job, target: PreparationTarget) -> preparing._Network:
        names.setdefault(job.seed, []).append(threading.current_thread().name.partition("_")[0])
        return prepare(job, target)

    monkeypatch.setattr(preparing, "_prepare", recorded)
    return names


def assert_same(first: PreparedPopulation, second: PreparedPopulation) -> None:
    assert list(first.programs) == list(second.programs)
    np.testing.assert_array_equal(first.weights, second.weights)
    assert first.layout is not None and second.layout is not None
    assert (first.layout.size, first.layout.tap_count) == (second.layout.size, second.layout.tap_count)
    launches = [
        [launch for wave in (*layout.forward, *layout.backward) for launch in wave]
        for layout in (first.layout, second.layout)
    ]
    for first_launch, second_launch in zip(*launches, strict=True):
        assert (first_launch.kernel, first_launch.shape, first_launch.settings) == (
            second_launch.kernel,
            second_launch.shape,
            second_launch.settings,
        )
        for left, right in zip(
            (first_launch.owners, *first_launch.tables), (second_launch.owners, *second_launch.tables), strict=True
        ):
            np.testing.assert_array_equal(left, right)


def figures(outcomes: Sequence[TrainingOutcome]) -> list[tuple[object, ...]]:
    """All but the time."""
    return [
        (outcome.status, outcome.validation_accuracy, outcome.test_accuracy, outcome.train_loss) for outcome in outcomes
    ]


def test_outcomes_are_the_same_with_and_without_preparing_ahead(threads: dict[int, list[str]]) -> None:
    digits = datasets.load("digits")
    every = jobs(4)
    first, second = every[:2], every[2:]
    apart = [figures(train_population(group, digits, RECIPE)) for group in (first, second)]
    threads.clear()
    preparer = PopulationPreparer(PreparationTarget.of(digits, RECIPE, torch.device("cpu")))
    ahead = [
        figures(train_population(first, digits, RECIPE, preparer=preparer, upcoming=second)),
        figures(train_population(second, digits, RECIPE, preparer=preparer)),
    ]
    preparer.close()
    assert ahead == apart
    assert threads == {0: ["MainThread"], 1: ["MainThread"], 2: ["preparing"], 3: ["preparing"]}


def test_preparer_that_expected_another_population_prepares_now() -> None:
    preparer = PopulationPreparer(TARGET)
    preparer.take(jobs(2), upcoming=jobs(2, seed=1))
    assert_same(preparer.take(jobs(3, seed=2)), prepare_population(jobs(3, seed=2), TARGET))
    preparer.close()


def test_preparer_keeps_what_is_upcoming_while_a_population_is_halved(threads: dict[int, list[str]]) -> None:
    every = jobs(4)
    preparer = PopulationPreparer(TARGET)
    for group in (every[:2], every[:1], every[1:2]):
        preparer.take(group, upcoming=every[2:])
    preparer.take(every[2:])
    preparer.close()
    assert threads[2] == threads[3] == ["preparing"]


def test_error_of_a_population_prepared_ahead_is_raised_when_it_is_taken() -> None:
    preparer = PopulationPreparer(PreparationTarget(RECIPE, 10, 1, (1, 1), kernels=True))
    with pytest.raises(InvalidOption, match="needs images of"):
        preparer.take(jobs(1))
    preparer = PopulationPreparer(TARGET)
    odd = [Job(space("nb201").sample(np.random.default_rng(0)), 1, 0)]
    preparer.take(jobs(1), upcoming=odd)
    with pytest.raises(InvalidOption, match="the skeleton of nb201 has the settings"):
        preparer.take(odd)
    preparer.close()


def test_processes_prepare_the_same_population_and_end(
    monkeypatch: pytest.MonkeyPatch, processes: preparing._Processes, threads: dict[int, list[str]]
) -> None:
    monkeypatch.setattr(preparing, "ENOUGH", 6)
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    before = set(multiprocessing.active_children())
    preparer = PopulationPreparer(TARGET)
    preparer.take(jobs(1, seed=1), upcoming=jobs(6))
    assert len(set(multiprocessing.active_children()) - before) <= 1
    ahead = preparer.take(jobs(6))
    assert set(threads) == {0}, "this process prepared only the first population"
    assert_same(ahead, preparing._assemble([preparing._prepare(job, TARGET) for job in jobs(6)], TARGET))
    preparer.close()
    assert set(multiprocessing.active_children()) == before


def test_processes_that_die_are_done_without(
    monkeypatch: pytest.MonkeyPatch, processes: preparing._Processes, threads: dict[int, list[str]]
) -> None:
    monkeypatch.setattr(preparing, "ENOUGH", 2)
    monkeypatch.setattr(preparing, "_one_thread", os.abort)
    assert len(prepare_population(jobs(2), TARGET).programs) == 2
    assert threads == {0: ["MainThread"], 1: ["MainThread"]}
    assert processes.pool(1000) is None, "they are not started again"


def test_daemonic_process_prepares_in_a_thread(
    monkeypatch: pytest.MonkeyPatch, processes: preparing._Processes, threads: dict[int, list[str]]
) -> None:
    monkeypatch.setattr(preparing, "ENOUGH", 2)
    monkeypatch.setitem(multiprocessing.current_process()._config, "daemon", True)  # type: ignore[attr-defined]
    preparer = PopulationPreparer(TARGET)
    preparer.take(jobs(1), upcoming=jobs(3, seed=1)[1:])
    preparer.take(jobs(3, seed=1)[1:])
    preparer.close()
    assert threads == {0: ["MainThread"], 1: ["preparing"], 2: ["preparing"]}
