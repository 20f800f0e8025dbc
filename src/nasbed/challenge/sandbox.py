"""One submission on one dataset in a process of its own, watched from outside."""

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

from nasbed.challenge.bounded_log import BoundedLog
from nasbed.challenge.contest_data import GIVEN, ContestData
from nasbed.challenge.isolation import Isolation, environment, launch_plan, launcher_command
from nasbed.challenge.limits import Limits
from nasbed.challenge.predictions import most_bytes
from nasbed.challenge.processes import Process, family, kill_all, memory_of
from nasbed.challenge.root_folder import SCRATCH, give
from nasbed.challenge.submission import Submission

LOOK_S = (0.05, 0.5)
"""How often memory and processes are looked at, at first and in the long run."""
LOOK_AT_DISK_S = 2.0
CHUNK = 65_536
DRAIN_S = 5.0
"""How long what is in the pipes is waited for when all processes are gone."""


@dataclass(frozen=True, slots=True)
class Ended:
    """How a process ended: ``stopped`` names the limit that it broke, if one, else ``status`` is its exit status."""

    stopped: str
    status: int
    seconds: float
    peak_bytes: int
    sent: bytes
    log: bytes


def run_apart(
    submission: Submission,
    data: ContestData,
    *,
    isolation: Isolation,
    limits: Limits,
    seed: int,
    device: str,
    hidden: tuple[Path, ...] = (),
    tick: Callable[[float], None] = lambda seconds: None,
) -> Ended:
    """Run a submission and wait for its end. Whatever happens here, none of its processes is left, nor its folder."""
    with ExitStack() as stack:
        folder = stack.enter_context(_stage(submission, isolation))
        arrays = {name: stack.enter_context((data.folder / f"{name}.npy").open("rb")).fileno() for name in GIVEN}
        request: IO[bytes] = stack.enter_context(tempfile.TemporaryFile())
        result, result_inside = _pipe(stack)
        log, log_inside = _pipe(stack)
        start = time.monotonic()
        asked = {
            "arrays": arrays,
            "metadata": data.told(),
            "result": result_inside.fileno(),
            "deadline": start + limits.time_s,
            "seed": seed,
            "device": device,
        }
        request.write(json.dumps(asked).encode())
        request.flush()
        request.seek(0)
        plan = launch_plan(isolation, limits, folder, hidden=(data.folder, *hidden), result=result_inside.fileno())
        python = launcher_command()[:3]
        plan["command"] = [*python, "nasbed.challenge.child", str(request.fileno())]
        process = subprocess.Popen(
            launcher_command(),
            stdin=subprocess.PIPE,
            stdout=log_inside,
            stderr=log_inside,
            pass_fds=(*arrays.values(), request.fileno(), result_inside.fileno()),
            start_new_session=True,
            cwd="/",
            env=environment(str(folder)),
        )
        watch = _Watch(process, isolation, limits, folder, start, most_bytes(data.tested))
        stack.callback(watch.end)
        assert process.stdin is not None
        with process.stdin, suppress(BrokenPipeError):
            process.stdin.write(json.dumps(plan).encode())
        result_inside.close()
        log_inside.close()
        return watch.until_end(result, log, tick)


def _pipe(stack: ExitStack) -> tuple[int, IO[bytes]]:
    """Its ends for reading, which does not wait, and for writing."""
    reading, writing = os.pipe()
    os.set_blocking(reading, False)
    stack.callback(os.close, reading)
    return reading, stack.enter_context(os.fdopen(writing, "wb", buffering=0))


@contextmanager
def _stage(submission: Submission, isolation: Isolation) -> Iterator[Path]:
    """A folder with a copy of the submission, removed at the end whatever became of it."""
    folder = Path(tempfile.mkdtemp(prefix="nasbed-challenge-"))
    try:
        folder.chmod(0o711)
        for name in ("root", "submission", "home", "tmp"):
            (folder / name).mkdir()
        submission.copy_to(folder / "submission")
        if isolation.kind == "user" and isolation.user is not None:
            for name in ("submission", "home", "tmp"):
                give(folder / name, isolation.user)
        yield folder
    finally:
        for inner, names, _ in os.walk(folder):
            for name in names:
                if not Path(inner, name).is_symlink():
                    with suppress(OSError):
                        Path(inner, name).chmod(0o700)
        shutil.rmtree(folder, ignore_errors=True)


class _Watch:
    """Reads what a process writes and ends it when it breaks a limit."""

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
        self._seen: dict[int, Process] = {}
        self._peak = 0
        self._disk_looked = start

    def until_end(self, result: int, log: int, tick: Callable[[float], None]) -> Ended:
        stopped, looked, pause = "", 0.0, LOOK_S[0]
        with selectors.DefaultSelector() as selector:
            for descriptor in (result, log):
                selector.register(descriptor, selectors.EVENT_READ)
            with _end_of(self._process.pid) as ended:
                if ended is not None:
                    selector.register(ended, selectors.EVENT_READ)
                while not stopped and self._process.poll() is None:
                    for key, _ in selector.select(pause):
                        if key.fd in (result, log) and not self._read(key.fd, result):
                            selector.unregister(key.fd)
                    now = time.monotonic()
                    if now - looked >= pause:
                        looked, pause = now, min(LOOK_S[1], LOOK_S[0] + (now - self._start) / 20)
                        stopped = self._broken_limit(now)
                        tick(now - self._start)
        seconds = time.monotonic() - self._start
        self.end()
        self._drain(result, log)
        if not stopped and len(self._sent) > self._most_sent:
            stopped = "output"
        sent = bytes(self._sent[: self._most_sent])
        return Ended(stopped, self._process.returncode, seconds, self._peak, sent, self._log.content())

    def end(self) -> None:
        """Kill all of it, if it has not ended."""
        seen = self._seen.values() if self._isolation.kind != "namespaces" else ()
        kill_all(self._process.pid, user=self._user, seen=seen)
        self._process.kill()
        self._process.wait()

    @property
    def _user(self) -> int | None:
        return self._isolation.user if self._isolation.kind == "user" else None

    def _read(self, descriptor: int, result: int) -> bool:
        """Take what there is; whether there may be more."""
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
        """All that wrote are gone; where one got away, it is not waited for."""
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
        there = family(self._process.pid, user=self._user)
        self._seen |= there
        held = memory_of(there) + self._scratch_in_memory(there)
        self._peak = max(self._peak, held)
        if held > self._limits.memory_bytes:
            return "memory"
        if sum(each.threads for each in there.values()) > self._limits.processes:
            return "processes"
        if self._isolation.kind != "namespaces" and now - self._disk_looked > LOOK_AT_DISK_S:
            self._disk_looked = now
            if self._disk_is_full():
                return "scratch"
        return ""

    def _scratch_in_memory(self, there: dict[int, Process]) -> int:
        if self._isolation.kind != "namespaces" or not self._sent:  # its first line is that it has its own root
            return 0
        for number in there:
            with suppress(OSError):
                found = os.statvfs(f"/proc/{number}/root{SCRATCH}")
                return (found.f_blocks - found.f_bfree) * found.f_frsize
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
    """A descriptor that can be read when a process has ended, where the system has such."""
    opened: Any = getattr(os, "pidfd_open", None)
    try:
        descriptor = opened(number) if opened else None
    except OSError:
        descriptor = None
    try:
        yield descriptor
    finally:
        if descriptor is not None:
            os.close(descriptor)
