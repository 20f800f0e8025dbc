"""The system calls of Linux that Python 3.11 has no name for: namespaces, mounts, privileges."""

from __future__ import annotations

import ctypes
import os
from functools import cache
from pathlib import Path
from typing import Any

CLONE_NEWNS, CLONE_NEWUTS, CLONE_NEWIPC = 0x00020000, 0x04000000, 0x08000000
CLONE_NEWUSER, CLONE_NEWPID, CLONE_NEWNET = 0x10000000, 0x20000000, 0x40000000
MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_REMOUNT = 1, 2, 4, 8, 32
MS_NOATIME, MS_NODIRATIME, MS_BIND, MS_REC, MS_PRIVATE, MS_RELATIME = 1024, 2048, 4096, 16384, 1 << 18, 1 << 21
_KEPT_FLAGS = {
    "nosuid": MS_NOSUID,
    "nodev": MS_NODEV,
    "noexec": MS_NOEXEC,
    "noatime": MS_NOATIME,
    "nodiratime": MS_NODIRATIME,
    "relatime": MS_RELATIME,
}
_MNT_DETACH = 2
_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE, _PR_CAPBSET_DROP, _PR_SET_CHILD_SUBREAPER, _PR_SET_NO_NEW_PRIVS = 1, 4, 24, 36, 38
_CAPABILITY_VERSION_3 = 0x20080522
_SIGKILL = 9


@cache
def _libc() -> Any:
    return ctypes.CDLL(None, use_errno=True)


def _call(name: str, *arguments: Any) -> None:
    function = getattr(_libc(), name, None)
    if function is None:
        raise OSError(f"this system has no {name}")
    if function(*arguments) < 0:
        code = ctypes.get_errno()
        raise OSError(code, f"{name}: {os.strerror(code)}")


def unshare(flags: int) -> None:
    """Leave namespaces for new ones; those of process ids only for what is forked from now on."""
    _call("unshare", ctypes.c_int(flags))


def mount(source: str, target: str, kind: str | None, flags: int, data: str | None = None) -> None:
    """Mount a file system.

    Args:
        source: The device or folder.
        target: The folder that it appears at.
        kind: The type of the file system.
        flags: A sum of ``MS_`` constants.
        data: Options of the file system.
    """
    texts = [None if text is None else text.encode() for text in (source, target, kind, data)]
    _call("mount", *texts[:3], ctypes.c_ulong(flags), texts[3])


def bind(source: str, target: str) -> None:
    """Show a file or folder, and what is mounted in it, at another place as well."""
    mount(source, target, None, MS_BIND | MS_REC)


def make_read_only(target: str) -> None:
    """Make a mounted folder and every mount below it read-only."""
    for point, options in _mounts(target):
        flags = sum(flag for name, flag in _KEPT_FLAGS.items() if name in options)
        mount("none", point, None, MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID | flags)


def _mounts(folder: str) -> list[tuple[str, set[str]]]:
    mounts = []
    for line in Path("/proc/self/mountinfo").read_text(encoding="utf-8").splitlines():
        fields = line.split()
        point = fields[4].encode().decode("unicode_escape").encode("latin-1").decode()
        if point == folder or point.startswith(folder.rstrip("/") + "/"):
            mounts.append((point, set(fields[5].split(","))))
    return mounts


def enter_root(folder: str) -> None:
    """Make a mounted folder the root; nothing of the old one can be reached afterwards."""
    os.chdir(folder)
    _call("pivot_root", b".", b".")
    _call("umount2", b".", ctypes.c_int(_MNT_DETACH))
    os.chdir("/")


def die_with_parent() -> None:
    """Be killed when the parent process ends. A change of user resets this."""
    _call("prctl", ctypes.c_int(_PR_SET_PDEATHSIG), ctypes.c_ulong(_SIGKILL), *[ctypes.c_ulong(0)] * 3)


def adopt_orphans() -> None:
    """Become the parent of every descendant whose own parent ends."""
    _call("prctl", ctypes.c_int(_PR_SET_CHILD_SUBREAPER), ctypes.c_ulong(1), *[ctypes.c_ulong(0)] * 3)


def close_memory() -> None:
    """No other process of the same user can read the memory of this one. A program that is started opens its own."""
    _call("prctl", ctypes.c_int(_PR_SET_DUMPABLE), ctypes.c_ulong(0), *[ctypes.c_ulong(0)] * 3)


def gain_no_privileges() -> None:
    """From now on, a started program never has more rights than its parent."""
    _call("prctl", ctypes.c_int(_PR_SET_NO_NEW_PRIVS), ctypes.c_ulong(1), *[ctypes.c_ulong(0)] * 3)


def bound_capabilities() -> None:
    """No program that is started can have any capability."""
    for capability in range(64):
        try:
            _call("prctl", ctypes.c_int(_PR_CAPBSET_DROP), ctypes.c_ulong(capability), *[ctypes.c_ulong(0)] * 3)
        except OSError:
            return  # past the last one, or none to give up


def drop_capabilities() -> None:
    """Drop all capabilities of this process."""
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION_3, 0)
    _call("capset", header, (ctypes.c_uint32 * 6)())
