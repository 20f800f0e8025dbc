"""Ctrl-C: a command says what it has kept and how to go on, and ends with exit status 130.

A command states that once, with :func:`on_interrupt`; the line is printed here for all of them. A second Ctrl-C ends
the process at once. So does the first where the work has not stopped within :data:`PATIENCE_S`, as in a long call into
a library; the line is printed after :data:`SILENCE_S` then. That harms nothing: results are on disk before they count,
and worker processes end with the process that started them.
"""

from __future__ import annotations

import atexit
import os
import select
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Event, Lock, Thread, current_thread, main_thread
from typing import Any

import typer
from typer.core import TyperGroup

from nasbed.terminal.progress import note

INTERRUPTED = 130
"""The exit status that shells give to a process which Ctrl-C ended."""
SILENCE_S, PATIENCE_S = 0.5, 3.0
NOTHING_KEPT = "nothing was kept; run the same command again"
STDERR = 2
SHOW_CURSOR = "\x1b[?25h"
"""A bar that is ended by force leaves the cursor of a terminal hidden."""


class _Statement:
    """What the command that runs now says, once, when it is interrupted."""

    def __init__(self) -> None:
        self._lock = Lock()
        self.begin()

    def begin(self) -> None:
        """Another command runs now, and has stated nothing yet."""
        self.describe: Callable[[], str] | None = None
        self.is_said = False

    def say(self, write: Callable[[str], object]) -> None:
        with self._lock:
            if not self.is_said:
                self.is_said = True
                write(self._line())

    def _line(self) -> str:
        try:
            statement = self.describe() if self.describe is not None else ""
        except Exception:  # what was kept cannot be read; the interruption is still said
            statement = ""
        return f"interrupted; {statement}" if statement else "interrupted"


_STATEMENT = _Statement()


def on_interrupt(describe: Callable[[], str]) -> None:
    """State, for a Ctrl-C from now on, what is kept then and how to go on. ``describe`` reads files at most: it may be
    called from another thread."""
    _STATEMENT.describe = describe


def runs_kept(out: Path) -> str:
    """What a command that keeps runs in a folder says."""
    count = sum(1 for path in out.rglob("*.npz") if path.parent.name == "runs")
    if not count:
        return "no run was finished; run the same command again"
    return f"{count} run{' is' if count == 1 else 's are'} kept in {out}; the same command goes on from there"


def checkpoint_kept(checkpoint: Path | None) -> str:
    """What a training says that keeps a checkpoint after every epoch, if it was given a file for it."""
    if checkpoint is None:
        return "nothing was kept; with --checkpoint FILE a training can go on"
    if not checkpoint.exists():
        return f"no epoch was finished, so {checkpoint} was not written; run the same command again"
    return f"the finished epochs are kept in {checkpoint}; go on with the same command and --resume"


class InterruptibleGroup(TyperGroup):
    """All commands: an interrupted one prints its statement."""

    def invoke(self, ctx: Any) -> Any:
        _STATEMENT.begin()
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            if sys.stderr.isatty():
                print(file=sys.stderr)  # the terminal has shown ^C
            _STATEMENT.say(note)
            raise typer.Exit(INTERRUPTED) from None


@contextmanager
def forced_end() -> Iterator[None]:
    """While this lasts, end the process by force after a second Ctrl-C, or where the first does not end it in time. An
    interrupted command ends the process here too, without the time that Python takes to free what it has loaded."""
    if current_thread() is not main_thread():
        yield
        return
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    before = signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    pressed = Event()
    Thread(target=_watch, args=(reader, pressed), daemon=True).start()
    try:
        yield
    finally:
        if pressed.is_set() and _STATEMENT.is_said:
            atexit._run_exitfuncs()
            sys.stdout.flush()
            os._exit(INTERRUPTED)
        signal.set_wakeup_fd(before)
        os.close(writer)


def _watch(reader: int, pressed: Event) -> None:
    """Read the numbers of signals as they come, until there can be no more or the process is to end."""
    if not _next_interrupt(reader, None):
        os.close(reader)
        return
    pressed.set()
    again = _next_interrupt(reader, SILENCE_S)
    _STATEMENT.say(_write_past_bars)
    if not again:
        _next_interrupt(reader, PATIENCE_S - SILENCE_S)
    os._exit(INTERRUPTED)


def _write_past_bars(line: str) -> None:
    before = f"{SHOW_CURSOR}\n" if os.isatty(STDERR) else ""
    with suppress(OSError):
        os.write(STDERR, f"{before}nasbed: {line}\n".encode())


def _next_interrupt(reader: int, patience_s: float | None) -> bool:
    """Wait for a Ctrl-C; False where none comes, in this time or ever."""
    while select.select([reader], [], [], patience_s)[0]:
        received = os.read(reader, 1)
        if not received:
            return False
        if received[0] == signal.SIGINT:
            return True
    return False
