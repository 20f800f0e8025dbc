"""Searches and trainings of table 2 in several processes at a time: one alone fills neither a GPU nor many cores.

They come before ``unseen_nas_runs.measure``, which then finds them done, and does what is left: what is trained
together. Needs torch.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch

from nasbed.core.errors import NasbedError
from nasbed.core.execution import WAIT, Engine
from nasbed.datasets.dataset import Dataset
from nasbed.datasets.opening import open_dataset
from nasbed.experiments.unseen.budget import RANDOM, space_of
from nasbed.experiments.unseen.nas import trained
from nasbed.experiments.unseen.results import UnseenResult, append_result, read_results
from nasbed.experiments.unseen.run import NasRun
from nasbed.experiments.unseen.runs import Bar, NasPlan, check_folders, found_before, no_bar
from nasbed.experiments.unseen.search import Found, searched
from nasbed.training.images import TrainingImages

Search = tuple[str, str, int]
"""The text that opens a dataset, a method, and the seed of its search."""


@dataclass(frozen=True, slots=True)
class Task:
    """A search, or with a ``seed`` the training of what it found."""

    search: Search
    seed: int | None = None

    def __str__(self) -> str:
        name, method, search_seed = self.search
        part = "search" if self.seed is None else f"training with seed {self.seed}"
        return f"{name}, {method} {search_seed}: {part}"


def measure_ahead(
    names: Sequence[str],
    plan: NasPlan,
    file: Path,
    *,
    checkpoints: Path,
    searches: Path,
    engine: Engine,
    device: str = "cpu",
    threads: int = 1,
    bar: Bar = no_bar,
) -> int:
    """Do every search that is planned and not there, and every training that is not one of many together; how many
    results were added to the file. ``names`` are what ``open_dataset`` takes: each process opens what it needs. A
    training begins when its search has ended. Whatever fails is told when the rest is done."""
    check_folders(checkpoints, searches)
    there = read_results([file]) if file.exists() else []
    known: dict[Search, Found] = {}
    tasks = planned_tasks({name: open_dataset(name) for name in names}, plan, there, searches, known)
    if not tasks:
        return 0
    work = _Work(plan, checkpoints, searches, device, threads, known)
    ended: set[Search] = set()
    failed: dict[Task, str] = {}
    taken: list[Task] = []
    begun = {task.search for task in tasks if task.seed is None}
    added = 0
    with bar(f"{len(tasks)} searches and trainings, several at a time", len(tasks)) as told:
        outcomes = engine.map_unordered(work, _as_ready(tasks, begun, ended, failed, taken))
        for done, outcome in enumerate(outcomes, start=1):
            task = taken[outcome.task]
            if outcome.error:
                failed[task] = outcome.error
            elif isinstance(outcome.result, UnseenResult):
                append_result(file, outcome.result)
                added += 1
            if task.seed is None:
                ended.add(task.search)
            told(done, str(task))
    if failed:
        task, reason = next(iter(failed.items()))
        raise NasbedError(f"{len(failed)} of {len(tasks)} searches and trainings failed, {task}: {reason}")
    return added


def planned_tasks(
    datasets: Mapping[str, Dataset],
    plan: NasPlan,
    there: Sequence[UnseenResult],
    searches: Path,
    known: dict[Search, Found],
) -> list[Task]:
    """What is not there: all searches first, then the trainings. What earlier results found is put into ``known``."""
    done = {(each.setting, each.seeds) for each in there}
    first, then = [], []
    for name, dataset in datasets.items():
        plan.check(dataset)
        for run in plan.runs(dataset):
            search = (name, run.method, run.search_seed)
            planned = [run.planned(seed) for seed in range(plan.train_seeds)]
            missing = [each.seed for each in planned if (each.setting, each.seeds) not in done]
            if not missing:
                continue
            record, before = run.record(searches), found_before(run, there)
            if before is not None:
                known[search] = before
            elif run.method not in RANDOM.values() and not (record is not None and record.exists()):
                first.append(Task(search))
            if not (plan.together and space_of(run.method) == "darts"):
                then += [Task(search, seed) for seed in missing]
    return [*first, *then]


def _as_ready(
    tasks: Sequence[Task], begun: set[Search], ended: set[Search], failed: dict[Task, str], taken: list[Task]
) -> Iterator[Any]:
    """The tasks, each training after its search; those of a search that failed are left out."""
    waiting = list(tasks)
    while waiting:
        waiting = [task for task in waiting if task.seed is None or Task(task.search) not in failed]
        ready = next((t for t in waiting if t.seed is None or t.search not in begun or t.search in ended), None)
        if ready is None:
            if waiting:
                yield WAIT
            continue
        waiting.remove(ready)
        taken.append(ready)
        yield ready


@dataclass(slots=True)
class _Work:
    """Carries out tasks in a process, and keeps the dataset of the last one."""

    plan: NasPlan
    checkpoints: Path
    searches: Path
    device: str
    threads: int
    known: Mapping[Search, Found]
    _name: str = ""
    _dataset: Dataset | None = field(default=None, repr=False)
    _images: TrainingImages | None = field(default=None, repr=False)

    def __call__(self, task: Task) -> UnseenResult | None:
        torch.set_num_threads(self.threads)
        name, method, search_seed = task.search
        if name != self._name or self._dataset is None:
            self._name, self._dataset, self._images = name, open_dataset(name), None
        run = NasRun(method, self._dataset, self.plan.recipe, self.plan.budget, search_seed, self.plan.epochs)
        checkpoint = run.checkpoint(self.checkpoints)
        found = self.known.get(task.search) or searched(
            run, device=self.device, checkpoint=checkpoint, record=run.record(self.searches)
        )
        if task.seed is None:
            return None
        if self._images is None:
            self._images = TrainingImages(self._dataset, run.recipe, torch.device(self.device))
        checkpoint = run.checkpoint(self.checkpoints, task.seed)
        result = trained(run, found, seed=task.seed, device=self.device, checkpoint=checkpoint, images=self._images)
        if checkpoint is not None:
            checkpoint.unlink(missing_ok=True)
        return result
