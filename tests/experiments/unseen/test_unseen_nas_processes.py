"""Searches and trainings in processes come to the same results as one after another, each once, in a sensible order."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch", reason="needs torch")

from nasbed.core.errors import InvalidOption, NasbedError
from nasbed.core.execution import WAIT, Engine, LocalEngine, SerialEngine, TaskOutcome
from nasbed.datasets.opening import open_dataset
from nasbed.experiments.unseen.budget import NasBudget
from nasbed.experiments.unseen.processes import UnseenTask, measure_ahead
from nasbed.experiments.unseen.results import UnseenResult, read_results
from nasbed.experiments.unseen.runs import NasPlan, measure
from nasbed.training import load_recipe
from nasbed.training.devices import threads_used
from support.unseen_dataset import unseen_folder

BUDGET = NasBudget.alike(
    search_epochs=1, search_channels=4, search_cells=2, search_images=64, channels=4, cells=2, supernet={"batch": 32}
)
METHODS = ("gdas", "bonsai-net", "rs-darts", "rs-bonsai")
PLAN = NasPlan(METHODS, load_recipe("unseen"), BUDGET, epochs=1, train_seeds=2)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(unseen_folder(tmp_path_factory.mktemp("made") / "gutenberg"))


def folders(root: Path) -> dict[str, Any]:
    return {"checkpoints": root / "checkpoints", "searches": root / "searches"}


def by_model_and_seeds(results: Iterable[UnseenResult]) -> dict[Any, Any]:
    """All that does not depend on the clock."""
    plain = (replace(result, train_time_s=0.0, search_time_s=None) for result in results)
    return {(result.model, result.seeds): result for result in plain}


@pytest.mark.thorough
def test_processes_come_to_the_results_of_one_after_another(folder: str, tmp_path: Path, thorough: bool) -> None:
    plan = replace(PLAN, methods=METHODS if thorough else ("gdas", "rs-bonsai"), train_seeds=1)
    engine = LocalEngine(2 if thorough else 1)
    searches = sum(not method.startswith("rs-") for method in plan.methods)
    with threads_used(1):
        measure([open_dataset(folder)], plan, tmp_path / "one.jsonl", **folders(tmp_path / "one"))
    file, where = tmp_path / "several.jsonl", folders(tmp_path / "several")
    assert measure_ahead([folder], plan, file, **where, engine=engine) == len(plan.methods)
    expected, results = (by_model_and_seeds(read_results([path])) for path in (tmp_path / "one.jsonl", file))
    assert results == expected and len(results) == len(plan.methods)
    assert len(list(where["searches"].glob("*/search.json"))) == searches
    lines = file.read_bytes()
    assert measure_ahead([folder], plan, file, **where, engine=engine) == 0
    assert measure([open_dataset(folder)], plan, file, **where) == 0 and file.read_bytes() == lines


class WatchedEngine(Engine):
    """One after another in this process, but the tasks are remembered, and one of them may fail."""

    def __init__(self, failing: UnseenTask | None = None) -> None:
        self.failing = failing
        self.seen: list[UnseenTask] = []

    def map_unordered(
        self, function: Callable[[Any], Any], tasks: Iterable[Any], *, timeout_s: float | None = None
    ) -> Iterator[TaskOutcome]:
        def noted(task: UnseenTask) -> Any:
            self.seen.append(task)
            if task == self.failing:
                raise RuntimeError("no memory")
            return function(task)

        yield from SerialEngine().map_unordered(noted, tasks, timeout_s=timeout_s)


def test_searches_come_first_and_those_trained_together_are_left(folder: str, tmp_path: Path) -> None:
    file, where, engine = tmp_path / "r.jsonl", folders(tmp_path), WatchedEngine()
    together = replace(PLAN, methods=("rs-bonsai", "gdas"), together=True)
    lines: list[str] = []
    assert measure_ahead([folder], together, file, **where, engine=engine, on_epoch=lines.append) == 2
    parts = ("gdas 0: search", "rs-bonsai 0: training with seed 0", "rs-bonsai 0: training with seed 1")
    assert all(line.startswith(f"{folder}, {part}, epoch 1: loss ") for line, part in zip(lines, parts, strict=True))
    assert [(task.search[1], task.seed) for task in engine.seen] == [
        ("gdas", None),
        ("rs-bonsai", 0),
        ("rs-bonsai", 1),
    ]
    assert measure([open_dataset(folder)], together, file, **where) == 2


def test_what_a_file_has_found_is_not_searched_again(folder: str, tmp_path: Path) -> None:
    file, engine = tmp_path / "r.jsonl", WatchedEngine()
    plan = replace(PLAN, methods=("gdas",), train_seeds=1)
    measure([open_dataset(folder)], plan, file)
    larger_plan = replace(plan, train_seeds=2, learning_curve=True)
    assert measure_ahead([folder], larger_plan, file, **folders(tmp_path), engine=engine) == 1
    assert [str(task).rsplit("/", 1)[-1] for task in engine.seen] == ["gutenberg, gdas 0: training with seed 1"]
    first, second = read_results([file])
    assert first.architecture == second.architecture and first.search_time_s == second.search_time_s
    assert first.validated == {} and second.validated == {"1": second.validation_accuracy}


def test_failures_are_reported_after_the_other_tasks(folder: str, tmp_path: Path) -> None:
    file, engine = tmp_path / "r.jsonl", WatchedEngine(UnseenTask((folder, "gdas", 0)))
    plan = replace(PLAN, train_seeds=1)
    with pytest.raises(NasbedError, match=r"1 of 6 searches and trainings failed, .*gdas 0: search: .*no memory"):
        measure_ahead([folder], plan, file, **folders(tmp_path), engine=engine)
    assert {result.model for result in read_results([file])} == {"bonsai-net", "rs-darts", "rs-bonsai"}
    (tmp_path / "file").write_text("")
    with pytest.raises(InvalidOption, match="is a file; move it away"):
        measure_ahead(
            [folder], PLAN, file, checkpoints=tmp_path / "file", searches=tmp_path / "searches", engine=engine
        )


def test_a_training_waits_for_its_search(folder: str, tmp_path: Path) -> None:
    """With somebody free while the only search runs, there is nothing to do yet."""

    class TwoTaskEngine(Engine):
        def map_unordered(
            self, function: Callable[[Any], Any], tasks: Iterable[Any], *, timeout_s: float | None = None
        ) -> Iterator[TaskOutcome]:
            pending = iter(tasks)
            search = next(pending)
            assert search.seed is None and next(pending) is WAIT
            yield TaskOutcome(0, function(search))
            training = next(pending)
            assert training == UnseenTask(search.search, 0)
            yield TaskOutcome(1, function(training))
            assert next(pending, None) is None

    plan = replace(PLAN, methods=("gdas",), train_seeds=1)
    assert measure_ahead([folder], plan, tmp_path / "r.jsonl", **folders(tmp_path), engine=TwoTaskEngine()) == 1
