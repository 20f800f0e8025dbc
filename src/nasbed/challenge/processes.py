"""The processes of a run, as the rest of the system sees them."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

PROC = Path("/proc")
KIB = 1024


@dataclass(frozen=True, slots=True)
class Process:
    """One that was there at the moment of looking. ``born`` tells it from a later one with the same number."""

    number: int
    parent: int
    born: int
    threads: int


def all_processes() -> dict[int, Process]:
    """By number, without those that ended and wait to be asked how; empty where the system does not tell."""
    found = {}
    for folder in PROC.iterdir() if PROC.is_dir() else ():
        if folder.name.isdigit():
            with suppress(OSError, ValueError, IndexError):
                fields = (folder / "stat").read_text().rpartition(")")[2].split()
                number = int(folder.name)
                if fields[0] in "ZX":
                    continue
                found[number] = Process(number, int(fields[1]), int(fields[19]), int(fields[17]))
    return found


def family(root: int, *, user: int | None = None) -> dict[int, Process]:
    """All descendants of a process, without itself, and all processes of a user, if one is named."""
    known = all_processes()
    children: dict[int, list[int]] = {}
    for each in known.values():
        children.setdefault(each.parent, []).append(each.number)
    found, waiting = {}, [root]
    while waiting:
        for number in children.get(waiting.pop(), ()):
            if number not in found:
                found[number] = known[number]
                waiting.append(number)
    if user is not None:
        found |= {number: known[number] for number in known if number != root and owner_of(number) == user}
    return found


def owner_of(number: int) -> int | None:
    try:
        return (PROC / str(number)).stat().st_uid
    except OSError:
        return None


def threads_of(user: int) -> int:
    """How many a user has in all its processes."""
    return sum(each.threads for each in all_processes().values() if owner_of(each.number) == user)


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
        lines = (folder / "smaps_rollup").read_text().splitlines()
    except OSError:
        return int((folder / "statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    wanted = ("Pss_Anon:", "Pss_Shmem:", "SwapPss:")
    return sum(int(line.split()[1]) for line in lines if line.startswith(wanted)) * KIB


def kill_all(root: int, *, user: int | None = None, seen: Iterable[Process] = (), patience_s: float = 5.0) -> None:
    """Kill the descendants of a process until there are none, and those ``seen`` earlier that are still there."""
    until = time.monotonic() + patience_s
    while time.monotonic() < until:
        there = family(root, user=user)
        now = all_processes()
        there |= {each.number: each for each in seen if each.number in now and now[each.number].born == each.born}
        if not there:
            return
        for number in there:
            with suppress(OSError):
                os.kill(number, signal.SIGKILL)
        time.sleep(0.01)
