"""Processes that end with the one that started them."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import BrokenExecutor, CancelledError, Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from threading import Lock, Thread, local
from typing import Any, TypeVar

from nasbed.core.errors import InvalidOption

T = TypeVar("T")
Item = TypeVar("Item")

ORPHANED_S = 1.0
"""How often a process looks whether the one that started it still runs."""
UNGUARDED = 78
"""The exit code of a process that would run its user's script once more."""


def start_process(
    serve: Callable[..., object], *arguments: Any, daemon: bool
) -> tuple[BaseProcess, Connection[Any, Any]]:
    """Start a process that calls ``serve`` with the arguments and one end of a pipe; returns it and the other end.

    It is spawned on every platform, the only way that Windows has: a new interpreter imports what it needs, among it
    the main module of this process.
    """
    context = multiprocessing.get_context("spawn")
    pipe, inner = context.Pipe()
    process = context.Process(target=serve, args=(*arguments, inner), daemon=daemon)
    with without_interrupts():
        process.start()
    inner.close()
    return process, pipe


def check_main_module() -> None:
    """Processes import the main module of this one. Raises where that cannot be imported; ends a process that is still
    importing it, quietly, since its parent says why."""
    if getattr(multiprocessing.current_process(), "_inheriting", False):
        raise SystemExit(UNGUARDED)
    main = sys.modules.get("__main__")
    file = getattr(main, "__file__", None)
    if getattr(main, "__spec__", None) is None and file is not None and not Path(file).exists():
        raise InvalidOption(f"processes import the script that starts them, and {file} is no file; save it as one")


def cause_of_death(process: BaseProcess) -> str:
    """Why a process has ended, to follow a sentence that says it has."""
    if process.exitcode == UNGUARDED:
        return ', as it runs your script once more; put the call under: if __name__ == "__main__":'
    return f", exit code {process.exitcode}"


def follow_parent() -> None:
    """Make this process, a child of ``multiprocessing``, end when its parent does, be it killed in the middle of work.
    Ctrl-C is left to the parent. Other processes are not changed."""
    parent = multiprocessing.parent_process()
    if parent is None or parent.pid is None:
        return
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if sys.platform != "win32":  # of no effect here, but for programs that this process starts
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    Thread(target=_end_with, args=(parent,), daemon=True).start()


@contextmanager
def without_interrupts() -> Iterator[None]:
    """Keep Ctrl-C from a process that is started here, even in its imports, before :func:`follow_parent`: it would
    print a traceback. This process receives a Ctrl-C that comes meanwhile afterwards. Windows has no such mask."""
    if sys.platform == "win32":
        yield
        return
    from multiprocessing import resource_tracker

    resource_tracker.ensure_running()  # starting it, as the first process does, would let signals through again
    previous_mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, previous_mask)


def _end_with(parent: BaseProcess) -> None:
    while os.getppid() == parent.pid and parent.is_alive():  # Windows keeps the number of a parent that has ended
        parent.join(ORPHANED_S)
    os._exit(1)


class ProcessPool:
    """Calls functions in other processes: up to ``size``, each started when it is needed and kept. Unlike the one of
    ``concurrent.futures`` it ends them at once, in the middle of work, and leaves nothing behind when it is killed.

    Each of its threads has one process. What is called must be importable there, and arguments and results pickled.

    It is not :class:`~nasbed.core.execution.LocalEngine`, which carries out one function in tasks that may die, hang or
    fail without harm to the others. Here each call has a function of its own, an exception reaches the caller as it is,
    a dead process is an error, and the processes outlive the calls.
    """

    def __init__(self, size: int, begin: Callable[[], object]) -> None:
        """``begin`` is called first in each process."""
        self._begin = begin
        self._threads = ThreadPoolExecutor(size, thread_name_prefix="process")
        self._own = local()
        self._processes: list[BaseProcess] = []
        self._lock = Lock()
        self._broken = self._closed = False

    def submit(self, function: Callable[..., T], *arguments: Any) -> Future[T]:
        """The result of a call, or what it raises: ``BrokenExecutor`` where a process died, now or before;
        ``CancelledError`` where the pool was closed meanwhile."""
        return self._threads.submit(self._call, function, arguments)

    def map(self, function: Callable[[Item], T], items: Iterable[Item]) -> list[T]:
        """The result for each item, in their order."""
        calls = [self.submit(function, item) for item in items]
        try:
            return [call.result() for call in calls]
        finally:
            for call in calls:
                call.cancel()

    def close(self) -> None:
        """End the processes, whatever they do."""
        with self._lock:
            self._closed = True
            for process in self._processes:
                process.kill()
                process.join()
            self._processes.clear()
        self._threads.shutdown(cancel_futures=True)

    def _call(self, function: Callable[..., T], arguments: tuple[Any, ...]) -> T:
        try:
            pipe = self._pipe()
            pipe.send((function, arguments))
            returned, result = pipe.recv()
        except (EOFError, OSError) as error:
            self._broken = True
            raise self._end_error() from error
        if not returned:
            raise result
        return result  # type: ignore[no-any-return]

    def _pipe(self) -> Connection:
        """To the process of this thread."""
        with self._lock:
            if self._broken or self._closed:
                raise self._end_error()
            if not hasattr(self._own, "pipe"):
                process, self._own.pipe = start_process(_serve, self._begin, daemon=True)
                self._processes.append(process)
        pipe: Connection = self._own.pipe
        return pipe

    def _end_error(self) -> Exception:
        return CancelledError() if self._closed else BrokenExecutor("a process ended in the middle of its work")


def _serve(begin: Callable[[], object], pipe: Connection) -> None:
    follow_parent()
    begin()
    with suppress(EOFError, OSError):
        while True:
            function, arguments = pipe.recv()
            try:
                answer: tuple[bool, Any] = True, function(*arguments)
            except Exception as error:
                answer = False, error
            pipe.send(answer)
