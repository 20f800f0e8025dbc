"""Searches and trainings of table 2 in several processes at a time: one alone fills neither a GPU nor many cores.

They come before :func:`~nasbed.experiments.unseen.runs.measure`, which then trains the remaining networks together.
Needs torch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch

from nasbed.core.errors import NasbedError
from nasbed.core.execution import WAIT, Engine, TaskOutcome
from nasbed.datasets.dataset import Dataset
from nasbed.datasets.opening import open_dataset
from nasbed.experiments.unseen.budget import is_random
from nasbed.experiments.unseen.nas import trained
from nasbed.experiments.unseen.results import ResultsFile, UnseenResult
from nasbed.experiments.unseen.runs import Bar, NasPlan, check_folders, earlier_outcome, no_bar
from nasbed.experiments.unseen.search import OnEpoch, SearchOutcome, searched
from nasbed.training.images import TrainingImages

Search = tuple[str, str, int]
"""The text that opens a dataset, a method, and the seed of its search."""


@dataclass(frozen=True, slots=True)
class UnseenTask:
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
    on_epoch: Callable[[str], None] | None = None,
) -> int:
    """Do every planned search that has no record, and every training that the file lacks and that is not trained
    together with others. Returns how many results were added.

    A training begins when its search has ended. Failures are reported after all other tasks finish.

    Args:
        names: the datasets as ``open_dataset`` takes them; each process opens what it needs.
        plan: which methods, and how they are trained.
        file: where results are added.
        checkpoints: the folder of what is interrupted.
        searches: the folder of the records of searches.
        engine: where tasks run.
        device: where to search and train.
        threads: of each process.
        bar: makes a progress bar.
        on_epoch: called in the processes, with a line about each epoch of a task.
    """
    check_folders(checkpoints, searches)
    results = ResultsFile(file)
    tasks, earlier = planned_tasks({name: open_dataset(name) for name in names}, plan, results, searches)
    if not tasks:
        return 0
    old_count = len(results)
    queue = _Queue(tasks)
    with bar(f"{len(tasks)} searches and trainings, several at a time", len(tasks)) as report_progress:
        work = _Work(plan, checkpoints, searches, device, threads, earlier, on_epoch)
        for count, outcome in enumerate(engine.map_unordered(work, queue), start=1):
            task = queue.finish(outcome)
            if outcome.result is not None:
                results.add(outcome.result)
            report_progress(count, str(task))
    if queue.failures:
        task, reason = next(iter(queue.failures.items()))
        raise NasbedError(f"{len(queue.failures)} of {len(tasks)} searches and trainings failed, {task}: {reason}")
    return len(results) - old_count


def planned_tasks(
    datasets: Mapping[str, Dataset], plan: NasPlan, results: ResultsFile, searches: Path
) -> tuple[list[UnseenTask], dict[Search, SearchOutcome]]:
    """The planned tasks without a result, all searches before the trainings; and the outcomes of the searches of
    earlier results."""
    first, second = [], []
    earlier: dict[Search, SearchOutcome] = {}
    for name, dataset in datasets.items():
        plan.check(dataset)
        for run in plan.runs(dataset):
            search = (name, run.method, run.search_seed)
            missing = plan.missing_seeds(run, results)
            if not missing:
                continue
            record, end = run.record(searches), earlier_outcome(run, results.results)
            if end is not None:
                earlier[search] = end
            elif not is_random(run.method) and not (record is not None and record.exists()):
                first.append(UnseenTask(search))
            if not (plan.together and run.budget.trains_together(run.method)):
                second += [UnseenTask(search, seed) for seed in missing]
    return [*first, *second], earlier


class _Queue:
    """The tasks as an engine takes them: each training after its search; those of a search that failed are left out."""

    def __init__(self, tasks: Sequence[UnseenTask]) -> None:
        self._pending_tasks = list(tasks)
        self._started_tasks: list[UnseenTask] = []
        self._pending = {task.search for task in tasks if task.seed is None}
        self.failures: dict[UnseenTask, str] = {}

    def __iter__(self) -> Iterator[Any]:
        while self._pending_tasks:
            ready = next((task for task in self._pending_tasks if self._is_ready(task)), None)
            if ready is None:
                yield WAIT
                self._drop_failed()
                continue
            self._pending_tasks.remove(ready)
            self._started_tasks.append(ready)
            yield ready

    def finish(self, outcome: TaskOutcome) -> UnseenTask:
        """The task of an outcome, noted as ended or failed."""
        task = self._started_tasks[outcome.task]
        if outcome.error:
            self.failures[task] = outcome.error
        if task.seed is None:
            self._pending.discard(task.search)
            self._drop_failed()
        return task

    def _is_ready(self, task: UnseenTask) -> bool:
        return task.seed is None or task.search not in self._pending

    def _drop_failed(self) -> None:
        self._pending_tasks = [task for task in self._pending_tasks if UnseenTask(task.search) not in self.failures]


@dataclass(slots=True)
class _Work:
    """Carries out tasks in a process, and keeps the dataset of the last one."""

    plan: NasPlan
    checkpoints: Path
    searches: Path
    device: str
    threads: int
    earlier: Mapping[Search, SearchOutcome]
    on_epoch: Callable[[str], None] | None = None
    _name: str = ""
    _dataset: Dataset | None = field(default=None, repr=False)
    _images: TrainingImages | None = field(default=None, repr=False)

    def __call__(self, task: UnseenTask) -> UnseenResult | None:
        torch.set_num_threads(self.threads)
        name, method, search_seed = task.search
        if name != self._name or self._dataset is None:
            self._name, self._dataset, self._images = name, open_dataset(name), None
        run = self.plan.run(method, self._dataset, search_seed)
        report, checkpoint = self._reporter(task), run.checkpoint(self.checkpoints)
        outcome = self.earlier.get(task.search) or searched(
            run, device=self.device, checkpoint=checkpoint, record=run.record(self.searches), progress=report
        )
        if task.seed is None:
            return None
        if self._images is None or not self._images.suit(run.recipe):
            self._images = TrainingImages(self._dataset, run.recipe, torch.device(self.device))
        checkpoint = run.checkpoint(self.checkpoints, task.seed)
        result = trained(
            run,
            outcome,
            seed=task.seed,
            device=self.device,
            checkpoint=checkpoint,
            images=self._images,
            progress=report,
            learning_curve=self.plan.learning_curve,
        )
        if checkpoint is not None:
            checkpoint.unlink(missing_ok=True)
        return result

    def _reporter(self, task: UnseenTask) -> OnEpoch | None:
        on_epoch = self.on_epoch
        return on_epoch and (lambda epoch, description: on_epoch(f"{task}, epoch {epoch}: {description}"))
