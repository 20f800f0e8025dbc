"""Where tasks run: here, or in processes that may die, hang or raise without harm to the rest."""

from __future__ import annotations

import multiprocessing
import os
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from multiprocessing.util import Finalize
from time import monotonic
from typing import Any

from nasbed.core.errors import InvalidOption, NotReady
from nasbed.core.processes import follow_parent, without_interrupts

STARTUP_S = 60.0
"""What a process may take to start, in seconds, before the time-out of its first task runs."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one task: its result, or why there is none. ``refusal`` is the message of a
    :class:`~nasbed.core.errors.NotReady`: other tasks would fail for the same reason."""

    task: int
    result: Any = None
    error: str = ""
    refusal: str = ""


WAIT = object()
"""What an iterable of tasks yields where it has none until another outcome has been dealt with."""


class TaskSource:
    """Tasks numbered as they are taken, one at a time, when there is somebody to carry them out."""

    def __init__(self, tasks: Iterable[Any]) -> None:
        self._iterator = iter(tasks)
        self._taken = 0
        self._waits = False
        self.ended = False

    def take(self) -> tuple[int, Any] | None:
        """The next task and its number; ``None`` where there is none, for now or, once ``ended``, for good."""
        if self.ended or self._waits:
            return None
        try:
            task = next(self._iterator)
        except StopIteration:
            self.ended = True
            return None
        if task is WAIT:
            self._waits = True
            return None
        self._taken += 1
        return self._taken - 1, task

    def outcome_dealt_with(self) -> None:
        """An outcome was given and the caller is back: there may be tasks again."""
        self._waits = False

    def check_ended(self) -> None:
        """Nothing is running: raise unless all tasks were taken."""
        if not self.ended:
            raise InvalidOption("tasks wait for an outcome while none is running; yield those that are ready first")


class Engine(ABC):
    """Runs one function over many tasks and yields each outcome as it comes, in any order."""

    @property
    def slots(self) -> int:
        """How many tasks run at once."""
        return 1

    @abstractmethod
    def map_unordered(
        self, function: Callable[[Any], Any], tasks: Iterable[Any], *, timeout_s: float | None = None
    ) -> Iterator[Outcome]:
        """One outcome for each task, by its place among the tasks. A task that raises, dies twice or runs past the
        time-out has an error for a result.

        A task is taken from ``tasks`` when there is somebody to carry it out, so that an iterable may make it from the
        outcomes so far. Where it has none before the next outcome, it yields :data:`WAIT`. Whoever carries out tasks
        gets the function once and keeps what it remembers.
        """


class SerialEngine(Engine):
    """In this process, one after the other; there is no time-out. For small work and for debugging."""

    def map_unordered(
        self, function: Callable[[Any], Any], tasks: Iterable[Any], *, timeout_s: float | None = None
    ) -> Iterator[Outcome]:
        source = TaskSource(tasks)
        while (taken := source.take()) is not None:
            yield attempt(function, *taken)
            source.outcome_dealt_with()
        source.check_ended()


class LocalEngine(Engine):
    """In processes of this machine. One that dies costs its task a retry, one that hangs is killed and replaced."""

    def __init__(self, processes: int | None = None) -> None:
        self.processes = processes or os.cpu_count() or 1
        if self.processes < 1:
            raise InvalidOption(f"an engine has at least one process, got {processes}")

    @property
    def slots(self) -> int:
        """How many tasks run at once."""
        return self.processes

    def map_unordered(
        self, function: Callable[[Any], Any], tasks: Iterable[Any], *, timeout_s: float | None = None
    ) -> Iterator[Outcome]:
        source = TaskSource(tasks)
        again: deque[tuple[int, Any]] = deque()
        retried: set[int] = set()
        workers: list[_Worker] = []
        try:
            while True:
                self._hand_out(function, source, again, workers)
                if all(worker.task is None for worker in workers):
                    source.check_ended()
                    return
                for outcome in self._collect(workers, again, retried, timeout_s):
                    yield outcome
                    source.outcome_dealt_with()
        finally:
            for worker in workers:
                worker.stop()

    def _hand_out(
        self,
        function: Callable[[Any], Any],
        source: TaskSource,
        again: deque[tuple[int, Any]],
        workers: list[_Worker],
    ) -> None:
        while True:
            idle = next((worker for worker in workers if worker.task is None), None)
            if idle is None and len(workers) >= self.processes:
                return
            taken = again.popleft() if again else source.take()
            if taken is None:
                return
            if idle is not None and not idle.give(*taken):  # it died while it had nothing to do
                workers.remove(idle)
                idle.stop()
                idle = None
            if idle is None:
                workers.append(_Worker(function))
                workers[-1].give(*taken)

    def _collect(
        self, workers: list[_Worker], again: deque[tuple[int, Any]], retried: set[int], timeout_s: float | None
    ) -> Iterator[Outcome]:
        busy = [worker for worker in workers if worker.task is not None]
        ready = wait([worker.pipe for worker in busy], timeout=0.2 if timeout_s is not None else 5.0)
        for worker in busy:
            assert worker.task is not None
            number, task = worker.task
            if worker.pipe in ready:
                try:
                    outcome = worker.pipe.recv()
                except (EOFError, OSError):
                    workers.remove(worker)
                    worker.stop()
                    if number in retried:
                        yield Outcome(number, error=f"the process died twice, exit code {worker.process.exitcode}")
                    else:
                        retried.add(number)
                        again.appendleft((number, task))
                else:
                    if outcome is None:
                        worker.started()
                    else:
                        worker.task = None
                        yield outcome
            elif timeout_s is not None and monotonic() - worker.since > timeout_s:
                workers.remove(worker)
                worker.stop()
                yield Outcome(number, error=f"no result within {timeout_s:g} s; the process was ended")


class _Worker:
    """A process that answers one task after the other. It is not daemonic, since those may have no processes of their
    own; it is killed all the same when this process exits."""

    def __init__(self, function: Callable[[Any], Any]) -> None:
        context = multiprocessing.get_context("spawn")
        self.pipe, inner = context.Pipe()
        self.process: BaseProcess = context.Process(target=_serve, args=(inner,), daemon=False)
        with without_interrupts():
            self.process.start()
        self._at_exit = Finalize(self, self.process.kill, exitpriority=0)
        inner.close()
        with suppress(OSError):  # it has died already, which is noticed when it is given a task
            self.pipe.send(function)
        self.task: tuple[int, Any] | None = None
        self.since = 0.0
        self._ready = False

    def started(self) -> None:
        """Its imports are done: the time of its first task begins."""
        self._ready, self.since = True, monotonic()

    def give(self, number: int, task: Any) -> bool:
        """Hand over a task; whether the process was there to take it."""
        self.task = number, task
        self.since = monotonic() + (0.0 if self._ready else STARTUP_S)
        try:
            self.pipe.send((number, task))
        except OSError:
            return False
        return True

    def stop(self) -> None:
        self.pipe.close()
        if self.task is not None or not self.process.is_alive():
            self.process.kill()
        self.process.join(timeout=2)
        if self.process.is_alive():
            self.process.kill()
            self.process.join()
        self._at_exit.cancel()


def _serve(pipe: Connection) -> None:
    """The loop of a worker process: it receives its function, says that it is there, and ends when the other side
    closes the pipe, or when the process that started it is gone, be it in the middle of a task. An interrupt from the
    keyboard is for that one. The function comes by the pipe since a start that is interrupted while it sends much would
    have this process print a traceback."""
    follow_parent()
    with suppress(EOFError, OSError):
        function: Callable[[Any], Any] = pipe.recv()
        pipe.send(None)
        while True:
            number, task = pipe.recv()
            pipe.send(attempt(function, number, task))


def attempt(function: Callable[[Any], Any], number: int, task: Any) -> Outcome:
    """Call the function on a task; what it raises becomes the outcome's error."""
    try:
        return Outcome(number, function(task))
    except NotReady as error:
        return Outcome(number, error=told(error), refusal=str(error))
    except Exception as error:
        return Outcome(number, error=told(error))


def told(error: Exception) -> str:
    """An exception in one line.

    >>> told(ValueError("no such thing\\nas told"))
    'ValueError: no such thing'
    """
    return f"{type(error).__name__}: {error}".splitlines()[0].removesuffix(": ")
