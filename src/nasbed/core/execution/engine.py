"""What an engine is: one function over many tasks, and an outcome for each, whatever its worker does."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from nasbed.core.errors import InvalidOption, NotReady, exception_line


@dataclass(frozen=True, slots=True)
class TaskOutcome:
    """What became of one task: its result, or why there is none. ``refusal`` is the message of a
    :class:`~nasbed.core.errors.NotReady`: other tasks would fail for the same reason."""

    task: int
    result: Any = None
    error: str = ""
    refusal: str = ""


WAIT = object()
"""What an iterable of tasks yields where it has none until another outcome has been dealt with."""

NumberedTask = tuple[int, Any]


class TaskSource:
    """Numbers tasks as they are taken, one at a time, whenever a worker is free."""

    def __init__(self, tasks: Iterable[Any]) -> None:
        self._iterator = iter(tasks)
        self._count = 0
        self._waits = False
        self.exhausted = False

    def take(self) -> NumberedTask | None:
        """The next task and its number; ``None`` where there is none, for now or, once ``exhausted``, for good."""
        if self.exhausted or self._waits:
            return None
        try:
            task = next(self._iterator)
        except StopIteration:
            self.exhausted = True
            return None
        if task is WAIT:
            self._waits = True
            return None
        self._count += 1
        return self._count - 1, task

    def outcome_dealt_with(self) -> None:
        """The caller has dealt with an outcome: there may be tasks again."""
        self._waits = False

    def check_exhausted(self) -> None:
        """Nothing is running: raise unless all tasks were taken."""
        if not self.exhausted:
            raise InvalidOption("tasks wait for an outcome while none is running; yield those that are ready first")


class Engine(ABC):
    """Runs one function over many tasks and yields each outcome as it comes, in any order."""

    @property
    def slots(self) -> int:
        """How many tasks run at once."""
        return 1

    @property
    def local_processes(self) -> int:
        """How many processes of this machine the engine may keep busy, for work beside its tasks."""
        return 1

    @abstractmethod
    def map_unordered(
        self, function: Callable[[Any], Any], tasks: Iterable[Any], *, timeout_s: float | None = None
    ) -> Iterator[TaskOutcome]:
        """One outcome for each task, by its place among the tasks. A task that raises, dies twice or exceeds the
        timeout has an error for a result.

        A task is taken from ``tasks`` when a worker is free, so an iterable may make it from the outcomes so far.
        Where it has none before the next outcome, it yields :data:`WAIT`. Each worker receives the function once and
        keeps what the function remembers.
        """


class SerialEngine(Engine):
    """Runs tasks in this process, one after the other, without a timeout. For small work and for debugging."""

    def map_unordered(
        self, function: Callable[[Any], Any], tasks: Iterable[Any], *, timeout_s: float | None = None
    ) -> Iterator[TaskOutcome]:
        source = TaskSource(tasks)
        while (numbered := source.take()) is not None:
            yield attempt(function, *numbered)
            source.outcome_dealt_with()
        source.check_exhausted()


class WorkerDied(Exception):
    """A worker ended in the middle of a task."""


class Worker(ABC):
    """Carries out one task at a time, apart from this process: it may die or hang without harm to other tasks."""

    def __init__(self) -> None:
        self.task: NumberedTask | None = None

    @abstractmethod
    def give(self, number: int, task: Any) -> bool:
        """Hand over a task; False where the worker has died while it was idle."""

    @abstractmethod
    def receive(self) -> TaskOutcome | None:
        """What the worker sends: an outcome, or None once it has started. Raises :class:`WorkerDied`."""

    @property
    @abstractmethod
    def elapsed_s(self) -> float:
        """How long the task has been running, in seconds; zero or less before that."""

    @abstractmethod
    def stop(self) -> None:
        """End the worker, at once where it has a task."""

    @abstractmethod
    def cause_of_death(self) -> str:
        """Why a stopped worker had died, to follow "the process died twice"."""


AnyWorker = TypeVar("AnyWorker", bound=Worker)


class WorkerEngine(Engine, Generic[AnyWorker]):
    """Spreads tasks over workers. One that dies costs its task a retry; one that exceeds the timeout is stopped and
    replaced."""

    @abstractmethod
    def _start(self, function: Callable[[Any], Any]) -> Callable[[], AnyWorker]:
        """What starts workers for a function."""

    @abstractmethod
    def _ready(self, busy: list[AnyWorker], *, wait_s: float) -> Collection[AnyWorker]:
        """Those of the workers that have sent something, once there is one or the time has passed."""

    def map_unordered(
        self, function: Callable[[Any], Any], tasks: Iterable[Any], *, timeout_s: float | None = None
    ) -> Iterator[TaskOutcome]:
        source, slots, start = TaskSource(tasks), self.slots, self._start(function)
        retries: deque[NumberedTask] = deque()
        retried: set[int] = set()
        workers: list[AnyWorker] = []
        try:
            while True:
                _hand_out(source, retries, workers, slots, start)
                if all(worker.task is None for worker in workers):
                    source.check_exhausted()
                    return
                for outcome in self._collect(workers, retries, retried, timeout_s):
                    yield outcome
                    source.outcome_dealt_with()
        finally:
            for worker in workers:
                worker.stop()

    def _collect(
        self, workers: list[AnyWorker], retries: deque[NumberedTask], retried: set[int], timeout_s: float | None
    ) -> Iterator[TaskOutcome]:
        busy = [worker for worker in workers if worker.task is not None]
        ready = self._ready(busy, wait_s=0.2 if timeout_s is not None else 5.0)
        for worker in busy:
            assert worker.task is not None
            number, task = worker.task
            if worker in ready:
                try:
                    outcome = worker.receive()
                except WorkerDied:
                    workers.remove(worker)
                    worker.stop()
                    if number in retried:
                        yield TaskOutcome(number, error=f"the process died twice{worker.cause_of_death()}")
                    else:
                        retried.add(number)
                        retries.appendleft((number, task))
                else:
                    if outcome is not None:
                        worker.task = None
                        yield outcome
            elif timeout_s is not None and worker.elapsed_s > timeout_s:
                workers.remove(worker)
                worker.stop()
                yield TaskOutcome(number, error=f"no result within {timeout_s:g} s; the process was ended")


def _hand_out(
    source: TaskSource,
    retries: deque[NumberedTask],
    workers: list[AnyWorker],
    slots: int,
    start: Callable[[], AnyWorker],
) -> None:
    """Give tasks to idle workers, and start workers up to ``slots``, as long as there are tasks."""
    while True:
        idle = next((worker for worker in workers if worker.task is None), None)
        if idle is None and len(workers) >= slots:
            return
        numbered = retries.popleft() if retries else source.take()
        if numbered is None:
            return
        if idle is not None and not idle.give(*numbered):
            workers.remove(idle)
            idle.stop()
            idle = None
        if idle is None:
            workers.append(start())
            workers[-1].give(*numbered)


def attempt(function: Callable[[Any], Any], number: int, task: Any) -> TaskOutcome:
    """Call the function on a task; what it raises becomes the outcome's error."""
    try:
        return TaskOutcome(number, function(task))
    except NotReady as error:
        return TaskOutcome(number, error=exception_line(error), refusal=str(error))
    except Exception as error:
        return TaskOutcome(number, error=exception_line(error))
