"""Progress bars, on standard error and only where somebody watches."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

import typer


def note(line: str) -> None:
    """Tell what a user who waits would want to know, beside the output proper."""
    typer.echo(f"nasbed: {line}", err=True)


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
        yield lambda done, total: bar.update(task, completed=done, total=total)


@contextmanager
def row_bars() -> Iterator[Callable[[str, int, int | None], None]]:
    """A bar of rows for each table; the function given names the table and sets how many there are, of how many."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        tasks = {}

        def told(name: str, done: int, total: int | None) -> None:
            if name not in tasks:
                tasks[name] = bar.add_task(f"Importing {name}", total=total)
            bar.update(tasks[name], completed=done)

        yield told


@contextmanager
def run_bars(totals: Mapping[str, int]) -> Iterator[Callable[[str], None]]:
    """A bar of runs for each name; the function given says that one of that name ended."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bars:
        tasks = {name: bars.add_task(name, total=total) for name, total in totals.items()}
        yield lambda name: bars.advance(tasks[name])


@contextmanager
def epoch_bar(epochs: int) -> Iterator[Callable[[int, str], None]]:
    """A bar of epochs with time to go; the function given sets how many are done and what to say of them."""
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
    columns = (TextColumn("epoch"), BarColumn(), MofNCompleteColumn(), TextColumn("{task.description}"))
    with Progress(
        *columns, TimeElapsedColumn(), TimeRemainingColumn(), console=console, transient=True,
        disable=not console.is_terminal,
    ) as bar:  # fmt: skip
        task = bar.add_task("", total=epochs)
        yield lambda done, said: bar.update(task, completed=done, description=said)
