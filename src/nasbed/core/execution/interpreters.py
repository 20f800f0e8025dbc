"""One function over many items in new interpreters, which import nothing but that function.

Unlike the processes of :mod:`nasbed.core.execution.processes` they never import the main module: a script that calls
this at its top level does not run again in them. What is called and its arguments and results must be picklable.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from threading import Lock, local
from typing import BinaryIO, TypeVar

T = TypeVar("T")
Item = TypeVar("Item")

_BOOT = "from nasbed.core.execution.interpreters import serve; serve()"


def map_in_interpreters(function: Callable[[Item], T], items: Sequence[Item], processes: int) -> Iterator[T]:
    """The result for each item, in order. Few results wait to be taken, however many items there are. What a call
    raises is raised here; the interpreters have ended when the iterator is exhausted or closed."""
    if processes < 2 or len(items) < 2:
        yield from map(function, items)
        return
    interpreters = _Interpreters()
    threads = ThreadPoolExecutor(processes)
    waiting: deque[Future[T]] = deque()
    try:
        for item in items:
            waiting.append(threads.submit(interpreters.call, function, item))
            if len(waiting) > 2 * processes:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        for future in waiting:
            future.cancel()
        interpreters.close()
        threads.shutdown(cancel_futures=True)


class _Interpreters:
    """One interpreter for each thread that calls."""

    def __init__(self) -> None:
        self._own = local()
        self._started: list[subprocess.Popen[bytes]] = []
        self._lock = Lock()

    def call(self, function: Callable[[Item], T], item: Item) -> T:
        process = self._process()
        requests, replies = _streams(process)
        try:
            pickle.dump((function, item), requests)
            requests.flush()
            returned, result = pickle.load(replies)
        except (EOFError, OSError, pickle.UnpicklingError):
            raise RuntimeError(f"an interpreter ended in the middle of its work, exit code {process.poll()}") from None
        if not returned:
            raise result
        answer: T = result
        return answer

    def close(self) -> None:
        """End the interpreters, whatever they do."""
        with self._lock:
            for process in self._started:
                process.kill()
                process.wait()
                for stream in _streams(process):
                    stream.close()

    def _process(self) -> subprocess.Popen[bytes]:
        if not hasattr(self._own, "process"):
            environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path or str(Path.cwd()) for path in sys.path)}
            with self._lock:
                self._own.process = subprocess.Popen(
                    [sys.executable, "-P", "-c", _BOOT],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    env=environment,
                )
                self._started.append(self._own.process)
        process: subprocess.Popen[bytes] = self._own.process
        return process


def _streams(process: subprocess.Popen[bytes]) -> tuple[BinaryIO, BinaryIO]:
    assert process.stdin is not None and process.stdout is not None
    return process.stdin, process.stdout  # type: ignore[return-value]


def serve() -> None:
    """Answer calls from the standard input until it ends. What a call prints goes to the standard error."""
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    requests = sys.stdin.buffer
    while True:
        try:
            function, item = pickle.load(requests)
        except (EOFError, KeyboardInterrupt):
            return
        try:
            answer: tuple[bool, object] = True, function(item)
        except Exception as error:
            answer = False, error
        pickle.dump(answer, replies)
        replies.flush()
