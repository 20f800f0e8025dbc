"""Processes to kill, to interrupt, or to meet: forks of one process that has imported the libraries, which saves each of
them the second or two that Python takes to start, import and exit."""

from __future__ import annotations

import atexit
import multiprocessing
import os
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from multiprocessing import forkserver
from multiprocessing.process import BaseProcess
from multiprocessing.reduction import DupFd
from multiprocessing.util import Finalize
from pathlib import Path
from subprocess import DEVNULL, PIPE, TimeoutExpired
from types import TracebackType
from typing import IO, Any, Self
from unittest.mock import patch

from nasbed.cli import main

TEMPLATE = "support.preloaded"


class Fork:
    """A function in a process of its own, with what tests use of ``subprocess.Popen``. It prints line by line."""

    def __init__(
        self,
        function: Callable[[], object],
        argv: Sequence[str] = ("",),
        *,
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
        stdin: int = DEVNULL,
        stdout: int = 1,
        stderr: int = 2,
        start_new_session: bool = False,
    ) -> None:
        """Start it.

        Args:
            function: what the process calls; its exit status is that of ``SystemExit``, 0, or 1 after an error.
            argv: ``sys.argv``.
            env: the whole environment; this process's own by default. Folders of PYTHONPATH are imported from.
            cwd: the working directory; this process's own by default.
            stdin: a file descriptor, PIPE or DEVNULL.
            stdout: the same; this process's own by default.
            stderr: the same; this process's own by default.
            start_new_session: make it the leader of a new session and process group.
        """
        pipes = [_pipe(kind, mode) for kind, mode in ((stdin, "w"), (stdout, "r"), (stderr, "r"))]
        self.stdin, self.stdout, self.stderr = (stream for stream, _ in pipes)
        streams = tuple(descriptor for _, descriptor in pipes)
        environment = dict(os.environ if env is None else env)
        _start_template()
        context = multiprocessing.get_context("forkserver")
        self._process = context.Process(
            target=_run, args=(function, tuple(argv), streams, environment, cwd or Path.cwd(), start_new_session)
        )
        self._process.start()
        Finalize(self, _end, (self._process,), exitpriority=0)
        for kind, (_, descriptor) in zip((stdin, stdout, stderr), pipes, strict=True):
            if kind in (PIPE, DEVNULL):
                os.close(descriptor.number)
        assert self._process.pid is not None
        self.pid: int = self._process.pid

    @property
    def returncode(self) -> int | None:
        """Its exit status, or a signal's number below zero."""
        return self._process.exitcode

    def poll(self) -> int | None:
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        self._process.join(timeout)
        if self.returncode is None:
            raise TimeoutExpired(self._process.name, timeout or 0)
        return self.returncode

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def communicate(self, timeout: float | None = None) -> tuple[str, str]:
        """What is left to read of its standard output and error, once it has ended; killed where that takes longer."""
        if self.stdin is not None:
            self.stdin.close()
        with ThreadPoolExecutor(2) as threads:
            readings = [threads.submit(_rest_of, stream) for stream in (self.stdout, self.stderr)]
            try:
                self.wait(timeout)
            finally:
                self.kill()
        output, errors = (reading.result() for reading in readings)
        return output, errors

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        if kind is not None:
            self.kill()
        for stream in (self.stdin, self.stdout, self.stderr):
            if stream is not None:
                stream.close()
        self.wait()


def fork_command(*words: str, **options: Any) -> Fork:
    """``nasbed WORDS``; options as of :class:`Fork`."""
    return Fork(main, ("nasbed", *words), **options)


def fork_script(code: str, *arguments: str, **options: Any) -> Fork:
    """``python -c CODE ARGUMENTS``; options as of :class:`Fork`."""
    return Fork(partial(exec, code, {"__name__": "__main__"}), ("-c", *arguments), **options)


class Descriptor:
    """A file descriptor that a process receives with its number there."""

    def __init__(self, number: int) -> None:
        self.number = number

    def __reduce__(self) -> tuple[Callable[[Any], Descriptor], tuple[Any]]:
        return _received, (DupFd(self.number),)


def _received(duplicate: Any) -> Descriptor:
    return Descriptor(duplicate.detach())


def _pipe(kind: int, mode: str) -> tuple[IO[str] | None, Descriptor]:
    """This process's end of a stream, where it has one, and the other's."""
    if kind == DEVNULL:
        return None, Descriptor(os.open(os.devnull, os.O_RDWR))
    if kind != PIPE:
        return None, Descriptor(kind)
    reading, writing = os.pipe()
    own, other = (reading, writing) if mode == "r" else (writing, reading)
    return os.fdopen(own, mode, buffering=1, encoding="utf-8"), Descriptor(other)


def _end(process: BaseProcess) -> None:
    if process.exitcode is None:
        process.kill()


def _rest_of(stream: IO[str] | None) -> str:
    if stream is None:
        return ""
    with stream:
        return stream.read()


def _start_template() -> None:
    """Start the process that is forked, unless it runs. It ends when this one does."""
    forkserver.set_forkserver_preload([TEMPLATE])
    with patch.dict(os.environ, PYTHONPATH=os.pathsep.join(filter(None, sys.path))):
        forkserver.ensure_running()


def _run(
    function: Callable[[], object],
    argv: Sequence[str],
    streams: Sequence[Descriptor],
    environment: Mapping[str, str],
    folder: Path,
    start_new_session: bool,
) -> None:
    """What the forked process does."""
    assert TEMPLATE in sys.modules, "the template could not import it"
    atexit.unregister(os._exit)
    if start_new_session:
        os.setsid()
    for number, descriptor in enumerate(streams):
        os.dup2(descriptor.number, number)
    for number in {descriptor.number for descriptor in streams}:
        os.close(number)
    sys.stdin = os.fdopen(0, encoding="utf-8", closefd=False)
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(line_buffering=True)  # type: ignore[union-attr]
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    added = environment.get("PYTHONPATH", "").split(os.pathsep)
    sys.path[:0] = [path for path in added if path and path not in sys.path]
    sys.argv = list(argv)
    function()
