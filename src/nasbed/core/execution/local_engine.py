"""Tasks in processes of this machine, which may die, hang or raise without harm to other tasks."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection
from contextlib import suppress
from multiprocessing.connection import Connection, wait
from multiprocessing.util import Finalize, is_exiting
from time import monotonic
from typing import Any

from nasbed.core.errors import InvalidOption
from nasbed.core.execution.engine import TaskOutcome, Worker, WorkerDied, WorkerEngine, attempt
from nasbed.core.execution.processes import cause_of_death, check_main_module, follow_parent, start_process

STARTUP_S = 60.0
"""What a process may take to start, in seconds, before the timeout of its first task runs."""


class ProcessWorker(Worker):
    """A process that carries out one task after the other. It is not daemonic, since those may have no processes of
    their own; it is killed all the same when this process exits.

    A thread that goes on while this process exits would take that for a death and start another worker, for which the
    exit would wait. ``SystemExit`` ends such a thread instead, without an outcome.
    """

    def __init__(self, function: Callable[[Any], Any]) -> None:
        super().__init__()
        self.process, self.pipe = start_process(_serve, daemon=False)
        self._at_exit = Finalize(self, self.process.kill, exitpriority=0)
        if is_exiting():  # this finalizer may have come too late
            self.process.kill()
            raise SystemExit
        with suppress(OSError):  # it has died already, which is noticed when it is given a task
            self.pipe.send(function)
        self._since = 0.0
        self._has_started = False

    def give(self, number: int, task: Any) -> bool:
        self.task = number, task
        self._since = monotonic() + (0.0 if self._has_started else STARTUP_S)
        try:
            self.pipe.send((number, task))
        except OSError:
            return False
        return True

    def receive(self) -> TaskOutcome | None:
        try:
            outcome: TaskOutcome | None = self.pipe.recv()
        except (EOFError, OSError):
            raise (SystemExit if is_exiting() else WorkerDied) from None
        if outcome is None:  # its imports are done: the time of its first task begins
            self._has_started, self._since = True, monotonic()
        return outcome

    @property
    def elapsed_s(self) -> float:
        return monotonic() - self._since

    def stop(self) -> None:
        self.pipe.close()
        if self.task is not None or not self.process.is_alive():
            self.process.kill()
        self.process.join(timeout=2)
        if self.process.is_alive():
            self.process.kill()
            self.process.join()
        self._at_exit.cancel()

    def cause_of_death(self) -> str:
        return cause_of_death(self.process)


class LocalEngine(WorkerEngine[ProcessWorker]):
    """Runs tasks in processes of this machine, by default one per core."""

    def __init__(self, processes: int | None = None) -> None:
        self.processes = processes or os.cpu_count() or 1
        if self.processes < 1:
            raise InvalidOption(f"an engine has at least one process, got {processes}")

    @property
    def slots(self) -> int:
        """How many tasks run at once."""
        return self.processes

    @property
    def local_processes(self) -> int:
        return self.processes

    def _start(self, function: Callable[[Any], Any]) -> Callable[[], ProcessWorker]:
        check_main_module()
        return lambda: ProcessWorker(function)

    def _ready(self, busy: list[ProcessWorker], *, wait_s: float) -> Collection[ProcessWorker]:
        readable = wait([worker.pipe for worker in busy], timeout=wait_s)
        return [worker for worker in busy if worker.pipe in readable]


def _serve(pipe: Connection) -> None:
    """The loop of a worker process: it receives its function, reports that it has started, and carries out tasks. It
    ends when the other side closes the pipe or the parent process ends, even in the middle of a task. Ctrl-C is left
    to the parent.

    The function comes by the pipe: if an interrupt cut a start that sends much, this process would print a traceback.
    """
    follow_parent()
    with suppress(EOFError, OSError):
        function: Callable[[Any], Any] = pipe.recv()
        pipe.send(None)
        while True:
            number, task = pipe.recv()
            pipe.send(attempt(function, number, task))
