"""The tasks of a round, and what a trainer is announced of those that follow."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from nasbed.core.architecture import Architecture
from nasbed.core.execution import LocalEngine, SerialEngine
from nasbed.experiments.campaign import Campaign, Evaluation, FunctionTrainer, PopulationTrainer, Trial, collect
from nasbed.experiments.campaign.tasks import tasks_of_round
from nasbed.training.recipe import Recipe
from support.campaign_functions import quality, table


def trials(count: int) -> list[Trial]:
    return [Trial(number, 0, Architecture("nb201", (number,)), 1, 0, "rs") for number in range(count)]


@pytest.mark.parametrize(
    ("slots", "upcoming"),
    [(1, [(2, 3), (4, 5), (6,), ()]), (2, [(4, 5), (6,), (), ()]), (3, [(6,), (), (), ()]), (8, [()] * 4)],
)
def test_task_names_the_one_that_its_worker_probably_gets_next(slots: int, upcoming: list[tuple[int, ...]]) -> None:
    tasks = list(tasks_of_round(trials(7), (), size=2, slots=slots))
    assert [tuple(trial.number for trial in task.trials) for task in tasks] == [(0, 1), (2, 3), (4, 5), (6,)]
    assert [tuple(trial.number for trial in task.upcoming) for task in tasks] == upcoming


def test_tasks_leave_out_what_is_finished() -> None:
    tasks = list(tasks_of_round(trials(6), {0, 1, 3, 4}, size=2, slots=1))
    assert [tuple(trial.number for trial in task.trials) for task in tasks] == [(2,), (5,)]
    assert [trial.number for trial in tasks[0].upcoming] == [5]


class RecordingTrainer(FunctionTrainer):
    """Evaluates two trials at a time and notes what it is asked."""

    trials_per_task = 2

    def __init__(self) -> None:
        super().__init__(quality, "nb201")
        self.notes: list[tuple[str, list[int]]] = []

    def announce(self, trials: Sequence[Trial]) -> None:
        self.notes.append(("announce", [trial.number for trial in trials]))

    def evaluate(self, trials: Sequence[Trial]) -> list[Evaluation]:
        self.notes.append(("evaluate", [trial.number for trial in trials]))
        return super().evaluate(trials)

    def close(self) -> None:
        self.notes.append(("close", []))


def test_trainer_is_announced_the_next_task_of_the_round_and_closed_at_the_end(tmp_path: Path) -> None:
    trainer = RecordingTrainer()
    collect(Campaign("few", trials=5, shares={"rs": 1}, round=4), trainer, tmp_path / "journal.sqlite")
    assert trainer.notes == [
        ("announce", [2, 3]),
        ("evaluate", [0, 1]),
        ("announce", []),
        ("evaluate", [2, 3]),
        ("announce", []),
        ("evaluate", [4]),
        ("close", []),
    ]


def test_engines_say_how_many_local_processes_they_may_use() -> None:
    assert (LocalEngine(3).local_processes, SerialEngine().local_processes) == (3, 1)


def test_trainer_says_how_many_local_processes_are_usual() -> None:
    """One per core for a function; one in all for what may use a GPU or threads of its own."""
    assert (FunctionTrainer.usual_workers, PopulationTrainer.usual_workers) == (None, 1)


def test_engines_say_how_many_tasks_run_at_once() -> None:
    assert (SerialEngine().slots, LocalEngine(3).slots) == (1, 3)


def test_population_campaign_has_the_same_results_without_announcements(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("torch", reason="needs the extra torch")
    skeleton = {"channels": 4, "cells_per_stage": 1}
    recipe = Recipe("tiny", epochs=(1,), batch=32, learning_rate=0.1, epoch_images=32, skeleton=skeleton)
    campaign = Campaign("few", trials=4, shares={"rs": 1}, round=4)
    trainer = PopulationTrainer("nb201", "digits", recipe, population=2, device="cpu")
    collect(campaign, trainer, tmp_path / "ahead.sqlite")
    monkeypatch.setattr(PopulationTrainer, "announce", lambda self, trials: None)
    trainer = PopulationTrainer("nb201", "digits", recipe, population=2, device="cpu")
    collect(campaign, trainer, tmp_path / "plain.sqlite")
    rows = table(tmp_path / "ahead.sqlite")
    assert rows == table(tmp_path / "plain.sqlite") and len(rows) == 4
