"""Ctrl-C: an interrupted command prints what it kept and how to resume, and exits with status 130.

A command registers that line with :func:`on_interrupt`; this module prints it. A second Ctrl-C ends the process at
once. So does the first where the work has not stopped within :data:`PATIENCE_S`, as in a long call into a library; the
line is then printed after :data:`SILENCE_S`. No result is lost: results are on disk before they count, and worker
processes end with the process that started them.
"""

from __future__ import annotations

import atexit
import os
import select
import signal
import socket
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Event, Lock, Thread, current_thread, main_thread
from typing import Any

import typer
from typer.core import TyperGroup

from nasbed.terminal.progress import note

INTERRUPTED = 130
"""The exit status that shells report for a process that Ctrl-C ended."""
SILENCE_S, PATIENCE_S = 0.5, 3.0
NOTHING_KEPT = "nothing was kept; run the same command again"
STDERR = 2
SHOW_CURSOR = "\x1b[?25h"
"""A bar that is killed leaves the terminal's cursor hidden."""


class _ExitMessage:
    """The line that the running command prints, once, when it is interrupted."""

    def __init__(self) -> None:
        self._lock = Lock()
        self.begin()

    def begin(self) -> None:
        """Start over for a new command, which has registered no line yet."""
        self.describe: Callable[[], str] | None = None
        self.is_printed = False

    def print_once(self, write: Callable[[str], object]) -> None:
        with self._lock:
            if not self.is_printed:
                self.is_printed = True
                write(self._line())

    def _line(self) -> str:
        try:
            statement = self.describe() if self.describe is not None else ""
        except Exception:  # the kept files cannot be read; the interruption is still reported
            statement = ""
        return f"interrupted; {statement}" if statement else "interrupted"


_EXIT_MESSAGE = _ExitMessage()


def on_interrupt(describe: Callable[[], str]) -> None:
    """Register the line for a Ctrl-C from now on: what is kept and how to resume. ``describe`` may be called from
    another thread, so it must only read files."""
    _EXIT_MESSAGE.describe = describe


def runs_kept(out: Path) -> str:
    """The line of a command that keeps runs in a folder."""
    count = sum(1 for path in out.rglob("*.npz") if path.parent.name == "runs")
    if not count:
        return "no run was finished; run the same command again"
    return f"{count} run{' is' if count == 1 else 's are'} kept in {out}; the same command resumes from there"


def checkpoint_kept(checkpoint: Path | None) -> str:
    """The line of a training, which keeps a checkpoint after every epoch if it has a file for it."""
    if checkpoint is None:
        return "nothing was kept; with --checkpoint FILE a training can be resumed"
    if not checkpoint.exists():
        return f"no epoch was finished, so {checkpoint} was not written; run the same command again"
    return f"the finished epochs are kept in {checkpoint}; resume with the same command and --resume"


def checkpoints_kept(checkpoints: Sequence[Path | None]) -> str:
    """The line of one or more trainings, which have their files in one folder, or none."""
    if len(checkpoints) == 1:
        return checkpoint_kept(checkpoints[0])
    files = [file for file in checkpoints if file is not None]
    if not files:
        return "unfinished trainings were not kept; with --checkpoint DIR they can be resumed"
    count, folder = sum(file.exists() for file in files), files[0].parent
    if not count:
        return f"no epoch was finished, so nothing was written to {folder}; run the same command again"
    return (
        f"the finished epochs of {count} of {len(files)} trainings are kept in {folder}; resume with the same command "
        "and --resume"
    )


class InterruptibleGroup(TyperGroup):
    """The group of all commands; an interrupted one prints its registered line."""

    def invoke(self, ctx: Any) -> Any:
        _EXIT_MESSAGE.begin()
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            if sys.stderr.isatty():
                print(file=sys.stderr)  # the terminal has shown ^C
            _EXIT_MESSAGE.print_once(note)
            raise typer.Exit(INTERRUPTED) from None


@contextmanager
def forced_end() -> Iterator[None]:
    """Within this context a second Ctrl-C kills the process, as does a first one that does not end it in time.

    An interrupted command also ends the process here, to save the time that Python takes to free its memory.
    """
    if current_thread() is not main_thread():
        yield
        return
    reader, writer = socket.socketpair()  # not a pipe: Windows can wait for sockets alone
    writer.setblocking(False)
    old_descriptor = signal.set_wakeup_fd(writer.fileno(), warn_on_full_buffer=False)
    pressed = Event()
    Thread(target=_watch, args=(reader, pressed), daemon=True).start()
    try:
        yield
    finally:
        if pressed.is_set() and _EXIT_MESSAGE.is_printed:
            atexit._run_exitfuncs()
            sys.stdout.flush()
            os._exit(INTERRUPTED)
        signal.set_wakeup_fd(old_descriptor)
        writer.close()


def _watch(reader: socket.socket, pressed: Event) -> None:
    """Read signal numbers from the socket until it closes or the process must end."""
    if not _next_interrupt(reader, None):
        reader.close()
        return
    pressed.set()
    second = _next_interrupt(reader, SILENCE_S)
    _EXIT_MESSAGE.print_once(_write_past_bars)
    if not second:
        _next_interrupt(reader, PATIENCE_S - SILENCE_S)
    os._exit(INTERRUPTED)


def _write_past_bars(line: str) -> None:
    prefix = f"{SHOW_CURSOR}\n" if os.isatty(STDERR) else ""
    with suppress(OSError):
        os.write(STDERR, f"{prefix}nasbed: {line}\n".encode())


def _next_interrupt(reader: socket.socket, patience_s: float | None) -> bool:
    """Wait for a Ctrl-C; False if none comes in time, or if the socket is closed."""
    while select.select([reader], [], [], patience_s)[0]:
        received = reader.recv(1)
        if not received:
            return False
        if received[0] == signal.SIGINT:
            return True
    return False
