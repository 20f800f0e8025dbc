"""Run a submission on one dataset in its own process, watched from outside."""

from __future__ import annotations

import json
import os
import selectors
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from nasbed.challenge.array_stream import ArrayFeed
from nasbed.challenge.bounded_log import BoundedLog
from nasbed.challenge.contest_data import ContestData
from nasbed.challenge.disguise import Disguise
from nasbed.challenge.isolation import Isolation, environment, launch_plan, launcher_command
from nasbed.challenge.limits import Limits
from nasbed.challenge.predictions import most_bytes
from nasbed.challenge.processes import Process, family, kill_all, memory_of
from nasbed.challenge.root_folder import SCRATCH, give_to
from nasbed.challenge.submission import Submission


@dataclass(frozen=True, slots=True)
class SandboxExit:
    """How a process ended: ``stopped`` names the limit that it broke, if one, else ``status`` is its exit status."""

    stopped: str
    status: int
    seconds: float
    peak_bytes: int
    sent: bytes
    log: bytes


def run_isolated(
    submission: Submission,
    data: ContestData,
    disguise: Disguise,
    *,
    isolation: Isolation,
    limits: Limits,
    seed: int,
    device: str,
    hidden: tuple[Path, ...],
    tick: Callable[[float], None] = lambda seconds: None,
) -> SandboxExit:
    """Run a submission and wait for its end. In every case its processes and its folder are removed.

    Args:
        submission: The submission.
        data: The dataset.
        disguise: How the dataset is shown.
        isolation: How the submission is isolated.
        limits: Its limits.
        seed: The seed of its process.
        device: The device that it trains on.
        hidden: Paths that the submission must not see.
        tick: Called with the seconds that have passed.
    """
    with ExitStack() as stack:
        folder = stack.enter_context(_stage(submission, isolation))
        arrays, feed = _feed(stack, data, disguise)
        request: IO[bytes] = stack.enter_context(tempfile.TemporaryFile())
        result, result_inside = _pipe(stack)
        log, log_inside = _pipe(stack)
        start = time.monotonic()
        content = {
            "arrays": arrays.fileno(),
            "metadata": _metadata(data, disguise),
            "result": result_inside.fileno(),
            "deadline": start + limits.time_s,
            "seed": seed,
            "device": device,
        }
        request.write(json.dumps(content).encode())
        request.flush()
        request.seek(0)
        plan = launch_plan(isolation, limits, folder, hidden=hidden, result=result_inside.fileno())
        python = launcher_command()[:3]
        plan["command"] = [*python, "nasbed.challenge.pipeline", str(request.fileno())]
        process = subprocess.Popen(
            launcher_command(),
            stdin=subprocess.PIPE,
            stdout=log_inside,
            stderr=log_inside,
            pass_fds=(arrays.fileno(), request.fileno(), result_inside.fileno()),
            start_new_session=True,
            cwd="/",
            env=environment(str(folder)),
        )
        watch = _Watch(process, isolation, limits, folder, start, most_bytes(data.tested))
        stack.callback(watch.end)
        arrays.close()
        feed.start()
        assert process.stdin is not None
        with process.stdin, suppress(BrokenPipeError):
            process.stdin.write(json.dumps(plan).encode())
        result_inside.close()
        log_inside.close()
        ending = watch.until_end(result, log, tick)
        feed.join()
        if feed.error is not None:
            raise feed.error
        return ending


def _metadata(data: ContestData, disguise: Disguise) -> dict[str, Any]:
    """The metadata of a submission: what the starting kit documents, told by the arrays themselves, and a codename."""
    public = {"num_classes": data.classes, "input_shape": list(data.shape), "codename": disguise.codename}
    if disguise.kind == "none" and "benchmark" in data.metadata:
        public["benchmark"] = data.metadata["benchmark"]
    return public


def _feed(stack: ExitStack, data: ContestData, disguise: Disguise) -> tuple[IO[bytes], ArrayFeed]:
    """The end of a pipe that the arrays come out of, and what sends them."""
    reading, writing = os.pipe()
    arrays = stack.enter_context(os.fdopen(reading, "rb", buffering=0))
    return arrays, ArrayFeed(stack.enter_context(os.fdopen(writing, "wb")), data, disguise)


def _pipe(stack: ExitStack) -> tuple[int, IO[bytes]]:
    """The ends of a pipe for non-blocking reading and for writing."""
    reading, writing = os.pipe()
    os.set_blocking(reading, False)
    stack.callback(os.close, reading)
    return reading, stack.enter_context(os.fdopen(writing, "wb", buffering=0))


@contextmanager
def _stage(submission: Submission, isolation: Isolation) -> Iterator[Path]:
    """A folder with a copy of the submission, which is always removed at the end."""
    folder = Path(tempfile.mkdtemp(prefix="nasbed-challenge-"))
    try:
        folder.chmod(0o711)
        for name in ("root", "submission", "home", "tmp"):
            (folder / name).mkdir()
        submission.copy_to(folder / "submission")
        if isolation.kind == "user" and isolation.user is not None:
            for name in ("submission", "home", "tmp"):
                give_to(folder / name, isolation.user)
        yield folder
    finally:
        for inner, names, _ in os.walk(folder):
            for name in names:
                if not Path(inner, name).is_symlink():
                    with suppress(OSError):
                        Path(inner, name).chmod(0o700)
        shutil.rmtree(folder, ignore_errors=True)


CHECK_S = (0.05, 0.5)
"""How often memory and processes are checked, at first and in the long run."""
DISK_CHECK_S = 2.0
CHUNK = 65_536
DRAIN_S = 5.0
"""How long to read the pipes after all processes have ended."""


class _Watch:
    """Reads what a process writes and ends it when it breaks a limit.

    Args:
        process: The process of the submission.
        isolation: How the submission is isolated.
        limits: Its limits.
        folder: The folder that the submission can write to.
        start: When the process started, on the monotonic clock.
        most_sent: The largest number of bytes that the submission may send.
    """

    def __init__(
        self,
        process: subprocess.Popen[bytes],
        isolation: Isolation,
        limits: Limits,
        folder: Path,
        start: float,
        most_sent: int,
    ) -> None:
        self._process, self._isolation, self._limits, self._folder = process, isolation, limits, folder
        self._start, self._most_sent = start, most_sent
        self._sent, self._log = bytearray(), BoundedLog(limits.log_bytes)
        self._processes: dict[int, Process] = {}
        self._peak = 0
        self._disk_checked = start

    def until_end(self, result: int, log: int, tick: Callable[[float], None]) -> SandboxExit:
        stopped, checked_at, pause = "", 0.0, CHECK_S[0]
        with selectors.DefaultSelector() as selector:
            for descriptor in (result, log):
                selector.register(descriptor, selectors.EVENT_READ)
            with _end_of(self._process.pid) as exit_descriptor:
                if exit_descriptor is not None:
                    selector.register(exit_descriptor, selectors.EVENT_READ)
                while not stopped and self._process.poll() is None:
                    for key, _ in selector.select(pause):
                        if key.fd in (result, log) and not self._read(key.fd, result):
                            selector.unregister(key.fd)
                    now = time.monotonic()
                    if now - checked_at >= pause:
                        checked_at, pause = now, min(CHECK_S[1], CHECK_S[0] + (now - self._start) / 20)
                        stopped = self._broken_limit(now)
                        tick(now - self._start)
        seconds = time.monotonic() - self._start
        self.end()
        self._drain(result, log)
        if not stopped and len(self._sent) > self._most_sent:
            stopped = "output"
        sent = bytes(self._sent[: self._most_sent])
        return SandboxExit(stopped, self._process.returncode, seconds, self._peak, sent, self._log.content())

    def end(self) -> None:
        """Kill all processes that have not ended."""
        earlier = self._processes.values() if self._isolation.kind != "namespaces" else ()
        kill_all(self._process.pid, user=self._user, earlier=earlier)
        self._process.kill()
        self._process.wait()

    @property
    def _user(self) -> int | None:
        return self._isolation.user if self._isolation.kind == "user" else None

    def _read(self, descriptor: int, result: int) -> bool:
        """Read what is available; returns whether there may be more."""
        try:
            data = os.read(descriptor, CHUNK)
        except BlockingIOError:
            return True
        if descriptor != result:
            self._log.add(data)
        elif len(self._sent) <= self._most_sent:
            self._sent += data
        return bool(data)

    def _drain(self, result: int, log: int) -> None:
        """Read the remaining output, without waiting for escaped processes."""
        until = time.monotonic() + DRAIN_S
        for descriptor in (result, log):
            while time.monotonic() < until:
                try:
                    data = os.read(descriptor, CHUNK)
                except BlockingIOError:
                    time.sleep(0.01)
                    continue
                if not data:
                    break
                if descriptor == log:
                    self._log.add(data)
                elif len(self._sent) <= self._most_sent:
                    self._sent += data

    def _broken_limit(self, now: float) -> str:
        if now - self._start > self._limits.time_s:
            return "time"
        if len(self._sent) > self._most_sent:
            return "output"
        processes = family(self._process.pid, user=self._user)
        self._processes |= processes
        memory = memory_of(processes) + self._scratch_in_memory(processes)
        self._peak = max(self._peak, memory)
        if memory > self._limits.memory_bytes:
            return "memory"
        if sum(process.threads for process in processes.values()) > self._limits.processes:
            return "processes"
        if self._isolation.kind != "namespaces" and now - self._disk_checked > DISK_CHECK_S:
            self._disk_checked = now
            if self._disk_is_full():
                return "scratch"
        return ""

    def _scratch_in_memory(self, processes: dict[int, Process]) -> int:
        if self._isolation.kind != "namespaces" or not self._sent:  # its first line is that it has its own root
            return 0
        for number in processes:
            with suppress(OSError):
                usage = os.statvfs(f"/proc/{number}/root{SCRATCH}")
                return (usage.f_blocks - usage.f_bfree) * usage.f_frsize
        return 0

    def _disk_is_full(self) -> bool:
        size = count = 0
        for inner, _, names in os.walk(self._folder):
            for name in names:
                with suppress(OSError):
                    size += Path(inner, name).lstat().st_blocks * 512
                count += 1
                if size > self._limits.scratch_bytes or count > self._limits.scratch_files:
                    return True
        return False


@contextmanager
def _end_of(number: int) -> Iterator[int | None]:
    """A descriptor that becomes readable when a process ends, if the system supports it."""
    open_descriptor: Any = getattr(os, "pidfd_open", None)
    try:
        descriptor = open_descriptor(number) if open_descriptor else None
    except OSError:
        descriptor = None
    try:
        yield descriptor
    finally:
        if descriptor is not None:
            os.close(descriptor)
