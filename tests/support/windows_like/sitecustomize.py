"""Makes an interpreter refuse what Windows refuses, as far as Linux can show it.

Python imports a module of this name at its start, in worker processes too, where its folder is in ``PYTHONPATH``.

- Code of nasbed sees ``win32`` as the platform. It can neither import the modules nor use the functions that Python
  has on POSIX alone; libraries can, as they have their own ways on Windows.
- Below the folder ``WINDOWS_LIKE_ROOT``, no file of a name that Windows forbids is opened, and none that a process has
  open, or this one mapped, is removed, renamed or replaced, nor a folder that holds one. Lock files are removed all
  the same: on Windows filelock does it when it releases them.
- A file that is opened for reading cannot be synced, a folder not opened, a pipe not waited for, and a rename never
  replaces a file.
"""

from __future__ import annotations

import builtins
import errno
import fcntl
import os
import select
import signal
import sys
from contextlib import suppress
from pathlib import Path, PurePath
from types import ModuleType
from typing import Any

POSIX_MODULES = {"fcntl", "resource", "pwd", "grp", "termios", "pty", "tty", "crypt", "syslog", "posix", "spwd"}
POSIX_NAMES = {
    "os": {
        *("fork", "forkpty", "killpg", "getpgid", "getpgrp", "setsid", "setpgid", "geteuid", "getuid", "getegid"),
        *("getgid", "setgroups", "setresuid", "setresgid", "nice", "uname", "sysconf", "statvfs", "wait", "pidfd_open"),
        *("set_blocking", "chown", "fchmod", "fchown", "mkfifo", "openpty", "register_at_fork", "getloadavg", "pread"),
        *("sched_getaffinity", "sched_setaffinity", "posix_fadvise", "memfd_create", "O_DIRECTORY", "O_CLOEXEC"),
        *("O_NOFOLLOW", "O_NONBLOCK", "pipe2", "sendfile", "WNOHANG", "WIFEXITED", "sync", "ctermid", "getgroups"),
    },
    "signal": {
        *("SIGKILL", "SIGHUP", "SIGALRM", "SIGUSR1", "SIGUSR2", "SIGPIPE", "SIGCHLD", "SIGSTOP", "SIGCONT", "SIGTSTP"),
        *("SIGQUIT", "SIGWINCH", "pthread_sigmask", "pthread_kill", "setitimer", "alarm", "pause", "sigwait"),
    },
    "select": {"poll", "epoll"},
}
FORBIDDEN = set('<>:"|?*\\')
ROOT = os.environ.get("WINDOWS_LIKE_ROOT", "/nowhere")
_caller = sys._getframe
_real_rename, _real_import = os.rename, builtins.__import__


def _is_nasbed(depth: int) -> bool:
    try:
        name = _caller(depth + 1).f_globals.get("__name__", "")
    except ValueError:  # the interpreter itself, at its end
        return False
    return bool(name == "nasbed" or name.startswith("nasbed."))


class _WindowsLike(ModuleType):
    """A module as code of nasbed finds it on Windows."""

    def __getattribute__(self, name: str) -> Any:
        value = super().__getattribute__(name)
        if name.startswith("__") or not _is_nasbed(1):
            return value
        module = super().__getattribute__("__name__")
        if name in POSIX_NAMES.get(module, ()):
            raise AttributeError(f"module {module!r} has no attribute {name!r} on Windows")
        return STAND_INS.get((module, name), value)


def _import(name: str, *arguments: Any, **options: Any) -> Any:
    if name in POSIX_MODULES and _is_nasbed(1):
        raise ModuleNotFoundError(f"No module named {name!r} on Windows", name=name)
    return _real_import(name, *arguments, **options)


def _fsync(descriptor: int) -> None:
    if fcntl.fcntl(descriptor, fcntl.F_GETFL) & os.O_ACCMODE == os.O_RDONLY:
        raise OSError(errno.EBADF, os.strerror(errno.EBADF))
    os.fsync(descriptor)


def _open(path: Any, *arguments: Any, **options: Any) -> int:
    if Path(path).is_dir():
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), os.fspath(path))
    return os.open(path, *arguments, **options)


def _select(*lists: Any) -> Any:
    if any(not hasattr(item, "recv") for items in lists[:3] for item in items):
        raise OSError(10038, "An operation was attempted on something that is not a socket")
    return select.select(*lists)


def _rename(source: Any, target: Any, **options: Any) -> None:
    if _below_root(target) and os.path.lexists(target):
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), os.fspath(target))
    _real_rename(source, target, **options)


STAND_INS: dict[tuple[str, str], Any] = {
    ("sys", "platform"): "win32",
    ("os", "name"): "nt",
    ("os", "fsync"): _fsync,
    ("os", "open"): _open,
    ("select", "select"): _select,
}


def _below_root(path: Any) -> bool:
    return isinstance(path, str | PurePath) and _absolute(path).startswith(ROOT + os.sep)


def _absolute(path: str | PurePath) -> str:
    return str(Path(path).absolute())


def _open_files() -> set[str]:
    paths = set()
    for process in Path("/proc").iterdir():
        if process.name.isdigit():
            with suppress(OSError):  # it has ended, or is another user's
                for descriptor in (process / "fd").iterdir():
                    with suppress(OSError):
                        paths.add(str(descriptor.readlink()))
    with Path("/proc/self/maps").open(encoding="utf-8") as lines:
        return paths | {"/" + line.rstrip("\n").partition("/")[2] for line in lines if "/" in line}


def _check(event: str, arguments: tuple[Any, ...]) -> None:
    """What happens to a file is refused where Windows would refuse it."""
    if event in ("open", "os.mkdir", "os.rename") and _below_root(arguments[0]):
        for path in arguments[: 2 if event == "os.rename" else 1]:
            parts = PurePath(_absolute(path)[len(ROOT) :]).parts[1:]
            if any(FORBIDDEN.intersection(part) or part.endswith((".", " ")) for part in parts):
                raise OSError(errno.EINVAL, "a name that Windows forbids", os.fspath(path))
    if event in ("os.remove", "os.rename", "os.rmdir") and _below_root(arguments[0]):
        paths = [_absolute(path) for path in arguments[: 2 if event == "os.rename" else 1]]
        for open_path in _open_files():
            if not open_path.removesuffix(" (deleted)").endswith(".lock") and any(
                open_path == path or open_path.startswith(path + os.sep) for path in paths
            ):
                raise PermissionError(errno.EACCES, f"{open_path} is open", paths[0])


for _module in (os, signal, select, sys):
    _module.__class__ = _WindowsLike
builtins.__import__ = _import
os.rename = _rename  # type: ignore[assignment]
if ROOT != "/nowhere":
    sys.addaudithook(_check)
