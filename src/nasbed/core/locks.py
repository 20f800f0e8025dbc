"""Locks between processes. Each goes with its process, however that ends; none needs a clean-up after a kill."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from filelock import FileLock, Timeout

from nasbed.core.closeable import Closeable
from nasbed.core.errors import BadFile, InvalidOption

try:
    import fcntl
except ImportError:  # on Windows
    fcntl = None  # type: ignore[assignment]


def lock_file(target: Path) -> Path:
    """What is locked for a file: a file beside it, so that the file itself can be read meanwhile, and replaced."""
    return target.with_name(f"{target.name}.lock")


class WriterLock(Closeable):
    """The right to write ``target``, held by one process at a time. For a second one this raises
    ``refusal``, one line, as an :class:`~nasbed.core.errors.InvalidOption`."""

    def __init__(self, target: Path, refusal: str) -> None:
        self._path = lock_file(target)
        self._lock = FileLock(self._path, thread_local=False)
        try:
            self._lock.acquire(blocking=False)
        except Timeout:
            raise InvalidOption(refusal) from None
        except OSError as error:
            raise BadFile(
                f"{target} cannot be written: its lock {self._path.name}: {error.strerror or error}; check the folder"
            ) from None

    def release(self) -> None:
        """Let others write."""
        _release(self._lock, self._path)

    close = release


@contextmanager
def waiting_lock(path: Path, on_wait: Callable[[], None] = lambda: None) -> Iterator[None]:
    """Lock a file, which need not exist, for one process at a time; a second one calls ``on_wait`` and waits.

    The lock file is removed afterwards.
    """
    lock = FileLock(path, thread_local=False)
    try:
        lock.acquire(blocking=False)
    except Timeout:
        on_wait()
        lock.acquire()
    try:
        yield
    finally:
        _release(lock, path)


@contextmanager
def locked(target: Path, say: Callable[[str], None], *, doing: str = "fetching") -> Iterator[None]:
    """One process makes ``target`` at a time; a second one says what it waits for, and waits. No lock is left behind.

    Args:
        target: what is made.
        say: called with a line if another process holds the lock.
        doing: what the other process does with the target, for that line.
    """
    with waiting_lock(lock_file(target), lambda: say(f"another process is {doing} {target.name}; waiting for it")):
        yield


def _release(lock: FileLock, path: Path) -> None:
    """Remove and release a lock that this process holds. A process that waits notices, and locks a new file of that
    name."""
    if lock.is_locked:
        with suppress(OSError):  # Windows removes no open file
            path.unlink()
        lock.release()


class SharedHold:
    """Keeps a file or folder from being removed by :func:`remove_unless_held` as long as this lives. On a file system
    without locks it holds nothing. On Windows it keeps the file, or one file of the folder, open: Windows removes no
    open file and renames no folder that holds one."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._descriptor: int | None = None
        with suppress(OSError):
            if fcntl is not None:
                self._descriptor = os.open(path, os.O_RDONLY)
                fcntl.flock(self._descriptor, fcntl.LOCK_SH)
            elif file := next((file for file in (path, *path.rglob("*")) if file.is_file()), None):
                self._descriptor = os.open(file, os.O_RDONLY)

    def release(self) -> None:
        """Let others remove it."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def __del__(self) -> None:
        self.release()

    def __reduce__(self) -> tuple[type[SharedHold], tuple[Path]]:
        return SharedHold, (self._path,)


def remove_unless_held(path: Path, remove: Callable[[Path], object]) -> None:
    """Call ``remove`` with a file or folder unless another process, or another part of this one, holds it."""
    if fcntl is None:
        with suppress(PermissionError):  # a file of it is open
            if path.is_dir():  # all of it or nothing: a folder with an open file can lose others, but not be renamed
                path = path.rename(path.with_name(f".{secrets.token_hex(8)}.partial"))
            remove(path)
        return
    descriptor = os.open(path, os.O_RDONLY)
    try:
        with suppress(OSError):  # a file system without such locks
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return
        remove(path)
    finally:
        os.close(descriptor)


def remove_if_free(path: Path, remove: Callable[[Path], object]) -> None:
    """:func:`remove_unless_held`, but only where locks are known to work: not on Windows, nor on a file system without
    them. There a folder at which a process works looks like any other."""
    if fcntl is None:
        return
    descriptor = os.open(path, os.O_RDONLY)
    try:
        with suppress(OSError):  # held, or there are no locks
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            remove(path)
    finally:
        os.close(descriptor)


@contextmanager
def reading(path: Path) -> Iterator[Callable[[], None]]:
    """Keep a finished download while it is read. The function that this gives removes it, unless another process reads
    it too: that one will."""
    hold = SharedHold(path)

    def remove() -> None:
        hold.release()
        with suppress(FileNotFoundError):
            remove_unless_held(path, Path.unlink)

    try:
        yield remove
    finally:
        hold.release()
