"""Progress bars, on standard error and only where somebody watches."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from time import monotonic
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress

LINE_S = 30.0
"""Where nobody watches a bar, how often a line tells of the progress."""


def note(line: str) -> None:
    """Tell what a user who waits would want to know, beside the output proper. A bar that is there stays whole: rich
    puts itself in the place of ``sys.stderr``, past which typer's echo writes."""
    print(f"nasbed: {line}", file=sys.stderr)


@contextmanager
def byte_bar(title: str) -> Iterator[Callable[[int, int | None], None]]:
    """A bar of bytes with rate and time to go; the function given sets how many there are, of how many."""
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn, TransferSpeedColumn

    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TransferSpeedColumn())
    with Progress(
        *columns, TimeRemainingColumn(), console=console, transient=True, disable=not console.is_terminal
    ) as bar:
        task = bar.add_task(title, total=None)
        yield lambda completed, total: bar.update(task, completed=completed, total=total)


@contextmanager
def row_bars() -> Iterator[Callable[[str, int, int | None], None]]:
    """A bar of rows for each table; the function given names the table and sets how many there are, of how many."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        tasks = {}

        def report_progress(name: str, completed: int, total: int | None) -> None:
            if name not in tasks:
                tasks[name] = bar.add_task(f"Importing {name}", total=total)
            bar.update(tasks[name], completed=completed)

        yield report_progress


@contextmanager
def run_bars(totals: Mapping[str, int]) -> Iterator[Callable[[str], None]]:
    """A bar of runs for each name; the function given says that one of that name ended. Where nobody watches, a line
    when all of a name have ended, and now and then before."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bars:
        tasks = {name: bars.add_task(name, total=total) for name, total in totals.items()}
        completed = dict.fromkeys(totals, 0)
        last = monotonic()

        def report_finished(name: str) -> None:
            nonlocal last
            bars.advance(tasks[name])
            completed[name] += 1
            if not console.is_terminal and (completed[name] == totals[name] or monotonic() - last > LINE_S):
                last = monotonic()
                note(f"{name}: {completed[name]} of {totals[name]}")

        yield report_finished


@contextmanager
def stage_bar(title: str, stages: Sequence[str]) -> Iterator[Callable[[str], None]]:
    """A bar over named stages; the function given says which one starts."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task(title, total=len(stages))
        yield lambda stage: bar.update(task, completed=stages.index(stage), description=f"{title}: {stage}")


@contextmanager
def epoch_bar(epochs: int, *, called: str = "epoch") -> Iterator[Callable[[int, str], None]]:
    """A bar of epochs, or of what else is ``called`` so, with time to go; the function given sets how many are done and
    what to say of them."""
    with _timed_bar(called, described=True) as bar:
        task = bar.add_task("", total=epochs)
        yield lambda completed, description: bar.update(task, completed=completed, description=description)


@contextmanager
def count_bar(title: str) -> Iterator[Callable[[int, int], None]]:
    """A bar of things with time to go; the function given sets how many are done, of how many."""
    with _timed_bar(title) as bar:
        task = bar.add_task("", total=None)
        yield lambda completed, total: bar.update(task, completed=completed, total=total)


def _timed_bar(title: str, *, described: bool = False) -> Progress:
    """A bar with the time that has passed and that to go; ``described``: followed by the description."""
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    console = Console(stderr=True)
    columns = [TextColumn(title), BarColumn(), MofNCompleteColumn(), *([TextColumn("{task.description}")] * described)]
    return Progress(
        *columns,
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )
