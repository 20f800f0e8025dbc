"""Progress: bars on standard error where that is a terminal, bars in the output of a cell in a notebook, else a line
from time to time."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from time import monotonic
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from rich.progress import Progress, ProgressColumn

LINE_S = 30.0
"""Without a terminal, seconds between two lines about the progress."""


def note(line: str) -> None:
    """Print a line on standard error, beside the command's output.

    A bar on the screen stays intact: rich replaces ``sys.stderr``, which typer's echo would bypass.
    """
    print(f"nasbed: {line}", file=sys.stderr)


class LogLines:
    """Lines about the progress, as for a log file: where a bar is not shown, one every ``LINE_S`` seconds."""

    def __init__(self, bar: Progress) -> None:
        self._is_needed = bar.disable
        self._last = monotonic()

    def report(self, line: str, *, is_end: bool = False) -> None:
        """Print the line if it is time, or if it ``is_end`` of something."""
        if self._is_needed and (is_end or monotonic() - self._last > LINE_S):
            self._last = monotonic()
            note(line)


class OccasionalNotes:
    """Prints lines of a process beside others: the first, and then one every ``LINE_S`` seconds. It prints none where
    the screen has a bar."""

    def __init__(self) -> None:
        self._last: float | None = None

    def __call__(self, line: str) -> None:
        if not sys.stderr.isatty() and (self._last is None or monotonic() - self._last > LINE_S):
            self._last = monotonic()
            note(line)


@contextmanager
def byte_bar(title: str) -> Iterator[Callable[[int, int | None], None]]:
    """A bar of bytes with rate and remaining time. The yielded function sets the completed and the total bytes."""
    from rich.progress import BarColumn, DownloadColumn, TextColumn, TimeRemainingColumn, TransferSpeedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TransferSpeedColumn())
    with bars(*columns, TimeRemainingColumn()) as bar:
        task = bar.add_task(title, total=None)
        yield lambda completed, total: bar.update(task, completed=completed, total=total)


@contextmanager
def share_bar(title: str) -> Iterator[Callable[[float], None]]:
    """A bar of the completed share. The yielded function sets it, from 0 to 1."""
    from rich.progress import BarColumn, TaskProgressColumn, TextColumn, TimeElapsedColumn

    with bars(TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeElapsedColumn()) as bar:
        task = bar.add_task(title, total=1.0)
        yield lambda share: bar.update(task, completed=share)


@contextmanager
def row_bars() -> Iterator[Callable[[str, int, int | None], None]]:
    """A bar of rows per table. The yielded function takes the table's name, the completed and the total rows."""
    with counted_bars() as bar:
        tasks = {}

        def report_progress(name: str, completed: int, total: int | None) -> None:
            if name not in tasks:
                tasks[name] = bar.add_task(f"Importing {name}", total=total)
            bar.update(tasks[name], completed=completed)

        yield report_progress


@contextmanager
def run_bars(totals: Mapping[str, int]) -> Iterator[Callable[[str], None]]:
    """A bar of runs per name. The yielded function takes the name of a run that finished.

    Without a terminal it prints a line when all runs of a name have finished, and every ``LINE_S`` seconds before.
    """
    with counted_bars() as shown:
        tasks = {name: shown.add_task(name, total=total) for name, total in totals.items()}
        completed = dict.fromkeys(totals, 0)
        lines = LogLines(shown)

        def report_finished(name: str) -> None:
            shown.advance(tasks[name])
            completed[name] += 1
            lines.report(f"{name}: {completed[name]} of {totals[name]}", is_end=completed[name] == totals[name])

        yield report_finished


@contextmanager
def benchmark_bars(names: Iterable[str], runs: int) -> Iterator[Callable[[str, str, int, str], None]]:
    """A bar per benchmark of a suite with so many runs. The yielded function takes a finished run's benchmark, method,
    seed and error, which it prints."""
    with run_bars(dict.fromkeys(names, runs)) as report_finished:

        def report_run(benchmark: str, method: str, seed: int, error: str) -> None:
            report_finished(benchmark)
            if error:
                typer.echo(f"{benchmark}: {method}, seed {seed}: {error}", err=True)

        yield report_run


@contextmanager
def method_bars(totals: Mapping[str, int]) -> Iterator[Callable[[str, int, str], None]]:
    """A bar of runs per method. The yielded function takes a finished run's method, seed and error, which it prints."""
    with run_bars(totals) as report_finished:

        def report_run(method: str, seed: int, error: str) -> None:
            report_finished(method)
            if error:
                typer.echo(f"{method}, seed {seed}: {error}", err=True)

        yield report_run


@contextmanager
def stage_bar(title: str, stages: Sequence[str]) -> Iterator[Callable[[str], None]]:
    """A bar over named stages. The yielded function takes the stage that starts."""
    with counted_bars() as bar:
        task = bar.add_task(title, total=len(stages))
        yield lambda stage: bar.update(task, completed=stages.index(stage), description=f"{title}: {stage}")


@contextmanager
def epoch_bar(epochs: int, *, called: str = "epoch") -> Iterator[Callable[[int, str], None]]:
    """A bar of epochs, or of the unit ``called``, with remaining time. The yielded function sets how many are completed
    and a description."""
    with _timed_bar(called, described=True) as bar:
        task, lines = bar.add_task("", total=epochs), LogLines(bar)

        def report_epoch(completed: int, description: str) -> None:
            bar.update(task, completed=completed, description=description)
            lines.report(f"{called} {completed} of {epochs}: {description}")

        yield report_epoch


class TrainingsBar:
    """One bar over the epochs of several trainings, which need not take turns."""

    def __init__(self, bar: Progress, names: Sequence[str], epochs: int) -> None:
        self._bar, self._names, self._epochs = bar, names, epochs
        self._lines = LogLines(bar)
        self._completed = [0] * len(names)
        self._task = bar.add_task("", total=epochs * len(names))

    def report(self, place: int, completed: int, description: str) -> None:
        """Set how many epochs a training has completed; the text names it."""
        self._completed[place] = completed
        text = f"{self._names[place]}  {description}"
        self._bar.update(self._task, completed=sum(self._completed), description=text)
        self._lines.report(f"{self._names[place]}, epoch {completed} of {self._epochs}: {description}")

    @contextmanager
    def finish(self, place: int) -> Iterator[None]:
        """Count a training as completed. Within this context the bar is hidden, so that results can be printed."""
        self.report(place, self._epochs, "ended")
        self._bar.stop()
        yield
        self._bar.start()


@contextmanager
def trainings_bar(names: Sequence[str], epochs: int) -> Iterator[TrainingsBar]:
    """A bar over trainings of so many epochs each, with remaining time."""
    with _timed_bar("epoch", described=True) as bar:
        yield TrainingsBar(bar, names, epochs)


@contextmanager
def count_bar(title: str) -> Iterator[Callable[[int, int], None]]:
    """A bar with remaining time. The yielded function sets how many are completed, of how many."""
    with _timed_bar(title) as bar:
        task, lines = bar.add_task("", total=None), LogLines(bar)

        def report_count(completed: int, total: int) -> None:
            bar.update(task, completed=completed, total=total)
            lines.report(f"{title}: {completed} of {total}")

        yield report_count


def counted_bars() -> Progress:
    """Bars with a description, a count and the elapsed time."""
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn

    return bars(TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())


def _timed_bar(title: str, *, described: bool = False) -> Progress:
    """A bar with elapsed and remaining time; ``described`` adds the task's description."""
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    columns = [TextColumn(title), BarColumn(), MofNCompleteColumn(), *([TextColumn("{task.description}")] * described)]
    return bars(*columns, TimeElapsedColumn(), TimeRemainingColumn(), title=title)


def bars(*columns: ProgressColumn, title: str = "") -> Progress:
    """Bars with these columns, which vanish at the end; in a notebook as HTML, without a terminal ``disable``d.

    ``title`` is what a notebook shows before the description of a task.
    """
    from rich.console import Console
    from rich.progress import Progress

    console = Console(stderr=True)
    if console.is_jupyter:
        from nasbed.terminal.notebook_bars import NotebookBars

        return NotebookBars(title)
    return Progress(*columns, console=console, transient=True, disable=not console.is_terminal)
