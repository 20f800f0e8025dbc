"""Where tasks run: here, or in processes that may die, hang or raise without harm to the rest."""

from __future__ import annotations

import multiprocessing
import os
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from time import monotonic
from typing import Any

from nasbed.core.errors import InvalidOption

STARTUP_S = 60.0
"""What a process may take to start, in seconds, before the time-out of its first task runs."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one task: its result, or why there is none."""

    task: int
    result: Any = None
    error: str = ""


class Engine(ABC):
    """Runs one function over many tasks and yields each outcome as it comes, in any order."""

    @abstractmethod
    def map_unordered(
        self, function: Callable[[Any], Any], tasks: Sequence[Any], *, timeout_s: float | None = None
    ) -> Iterator[Outcome]:
        """One outcome for each task. A task that raises, dies twice or runs past the time-out has an error for a
        result."""


class SerialEngine(Engine):
    """In this process, one after the other; there is no time-out. For small work and for debugging."""

    def map_unordered(
        self, function: Callable[[Any], Any], tasks: Sequence[Any], *, timeout_s: float | None = None
    ) -> Iterator[Outcome]:
        for number, task in enumerate(tasks):
            yield attempt(function, number, task)


class LocalEngine(Engine):
    """In processes of this machine. One that dies costs its task a retry, one that hangs is killed and replaced."""

    def __init__(self, processes: int | None = None) -> None:
        self.processes = processes or os.cpu_count() or 1
        if self.processes < 1:
            raise InvalidOption(f"an engine has at least one process, got {processes}")

    def map_unordered(
        self, function: Callable[[Any], Any], tasks: Sequence[Any], *, timeout_s: float | None = None
    ) -> Iterator[Outcome]:
        waiting = deque(range(len(tasks)))
        retried: set[int] = set()
        workers: list[_Worker] = []
        try:
            while waiting or any(worker.task is not None for worker in workers):
                while len(workers) < min(self.processes, len(tasks)):
                    workers.append(_Worker(function))
                for worker in workers:
                    if worker.task is None and waiting:
                        number = waiting.popleft()
                        worker.give(number, tasks[number])
                yield from self._collect(workers, waiting, retried, timeout_s)
        finally:
            for worker in workers:
                worker.stop()

    def _collect(
        self, workers: list[_Worker], waiting: deque[int], retried: set[int], timeout_s: float | None
    ) -> Iterator[Outcome]:
        busy = [worker for worker in workers if worker.task is not None]
        ready = wait([worker.pipe for worker in busy], timeout=0.2 if timeout_s is not None else 5.0)
        for worker in busy:
            number = worker.task
            assert number is not None
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
                        waiting.appendleft(number)
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
    """A process that answers one task after the other."""

    def __init__(self, function: Callable[[Any], Any]) -> None:
        context = multiprocessing.get_context("spawn")
        self.pipe, inner = context.Pipe()
        self.process: BaseProcess = context.Process(target=_serve, args=(function, inner), daemon=True)
        self.process.start()
        inner.close()
        self.task: int | None = None
        self.since = 0.0
        self._ready = False

    def started(self) -> None:
        """Its imports are done: the time of its first task begins."""
        self._ready, self.since = True, monotonic()

    def give(self, number: int, task: Any) -> None:
        self.task = number
        self.since = monotonic() + (0.0 if self._ready else STARTUP_S)
        self.pipe.send((number, task))

    def stop(self) -> None:
        self.pipe.close()
        if self.task is not None or not self.process.is_alive():
            self.process.kill()
        self.process.join(timeout=2)
        if self.process.is_alive():
            self.process.kill()
            self.process.join()


def _serve(function: Callable[[Any], Any], pipe: Connection) -> None:
    """The loop of a worker process: it says that it is there, and ends when the other side closes the pipe."""
    with suppress(EOFError, OSError):
        pipe.send(None)
        while True:
            number, task = pipe.recv()
            pipe.send(attempt(function, number, task))


def attempt(function: Callable[[Any], Any], number: int, task: Any) -> Outcome:
    """Call the function on a task; what it raises becomes the outcome's error."""
    try:
        return Outcome(number, function(task))
    except Exception as error:
        return Outcome(number, error=f"{type(error).__name__}: {error}".splitlines()[0])
