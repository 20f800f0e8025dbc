"""The processes of a run, as the system lists them."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

PROC = Path("/proc")
KIB = 1024


class Process(NamedTuple):
    """A process at the moment of listing. ``born`` distinguishes it from a later one with the same number."""

    number: int
    parent: int
    born: int
    threads: int


def all_processes() -> dict[int, Process]:
    """All processes by number, without zombies; empty where the system does not list them."""
    processes = {}
    for folder in PROC.iterdir() if PROC.is_dir() else ():
        if folder.name.isdigit():
            with suppress(OSError, ValueError, IndexError):
                fields = (folder / "stat").read_text(encoding="utf-8").rpartition(")")[2].split()
                number = int(folder.name)
                if fields[0] in "ZX":
                    continue
                processes[number] = Process(number, int(fields[1]), int(fields[19]), int(fields[17]))
    return processes


def family(root: int, *, user: int | None = None) -> dict[int, Process]:
    """All descendants of a process, without itself, and all processes of a user, if one is named."""
    processes = all_processes()
    children: dict[int, list[int]] = {}
    for process in processes.values():
        children.setdefault(process.parent, []).append(process.number)
    members, waiting = {}, [root]
    while waiting:
        for number in children.get(waiting.pop(), ()):
            if number not in members:
                members[number] = processes[number]
                waiting.append(number)
    if user is not None:
        members |= {number: processes[number] for number in processes if number != root and owner_of(number) == user}
    return members


def owner_of(number: int) -> int | None:
    try:
        return (PROC / str(number)).stat().st_uid
    except OSError:
        return None


def threads_of(user: int) -> int:
    """The number of threads in all processes of a user."""
    return sum(process.threads for process in all_processes().values() if owner_of(process.number) == user)


def memory_of(numbers: Iterable[int]) -> int:
    """The bytes that processes hold: their own and their part of what they share; not the code of libraries."""
    total = 0
    for number in numbers:
        with suppress(OSError, ValueError, IndexError):
            total += _proportional(number)
    return total


def _proportional(number: int) -> int:
    folder = PROC / str(number)
    try:
        lines = (folder / "smaps_rollup").read_text(encoding="utf-8").splitlines()
    except OSError:
        return int((folder / "statm").read_text(encoding="utf-8").split()[1]) * os.sysconf("SC_PAGE_SIZE")
    prefixes = ("Pss_Anon:", "Pss_Shmem:", "SwapPss:")
    return sum(int(line.split()[1]) for line in lines if line.startswith(prefixes)) * KIB


def kill_all(root: int, *, user: int | None = None, earlier: Iterable[Process] = (), patience_s: float = 5.0) -> None:
    """Kill the descendants of a process until there are none, and those of ``earlier`` that are still alive."""
    until = time.monotonic() + patience_s
    while time.monotonic() < until:
        alive = family(root, user=user)
        now = all_processes()
        alive |= {
            process.number: process
            for process in earlier
            if process.number in now and now[process.number].born == process.born
        }
        if not alive:
            return
        for number in alive:
            with suppress(OSError):
                os.kill(number, signal.SIGKILL)
        time.sleep(0.01)
