"""``nasbed report``: the page of stored runs."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from nasbed.core.errors import InvalidOption
from nasbed.terminal.report_options import CurveCentre, Figures, Formats, chosen_centre, report_formats

if TYPE_CHECKING:
    from nasbed.evaluation.summary import ComparisonSummary
    from nasbed.experiments.runs import Runs
    from nasbed.experiments.suites import SuiteRuns

WIDE = 120
"""Columns of a terminal that has room for a method a line."""


def report(
    folders: Annotated[
        list[Path], typer.Argument(metavar="DIR...", help="Folders that 'nasbed run' or 'nasbed suite run' wrote.")
    ],
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", show_default="the first DIR", help="The folder for report.html and numbers.json."),
    ] = None,
    centre: CurveCentre = "median",
    figures: Figures = False,
    format: Formats = None,
) -> None:
    """Compare the methods of one or several sets of runs, with significance tests, as a table and a page.

    Runs on one benchmark are compared by seed. Runs on several, or the folder of a suite, give one page over all
    benchmarks, with ranks and tests over them.

    Example: nasbed report my-runs other-runs --out comparison

    Example: nasbed report runs-on-cifar10 runs-on-chesseract --out both
    """
    formats, middle = report_formats(out or folders[0], figures, format), chosen_centre(centre)
    if suite := _suite_of(folders, out):
        from nasbed.cli.suite import print_suite_report

        print_suite_report(suite, out or folders[0], formats=formats, centre=middle)
        return
    print_report(folders, out or folders[0], formats=formats, centre=middle)


def _suite_of(folders: list[Path], out: Path | None) -> SuiteRuns | None:
    """The runs of a suite's folder, or of folders on several benchmarks; None for runs on a single benchmark."""
    from nasbed.benchmarks.suites.suite import FILE_NAME
    from nasbed.experiments.runs import load_setup
    from nasbed.experiments.suites import join_suite_runs, load_suite_runs

    if len(folders) == 1 and (folders[0] / FILE_NAME).is_file():
        return load_suite_runs(folders[0])
    for folder in folders:
        if (folder / FILE_NAME).is_file():
            raise InvalidOption(f"{folder} has the runs of a suite; report it alone, or the folders of runs in it")
    benchmarks = {load_setup(folder).benchmark for folder in folders}
    if len(benchmarks) < 2:
        return None
    if out is None:
        raise InvalidOption("a page over several benchmarks goes into a folder of its own; name one with --out")
    return join_suite_runs(folders, title=f"{len(benchmarks)} benchmarks")


def print_report(
    folders: list[Path], out: Path, *, formats: Sequence[str], centre: Literal["median", "mean"] = "median"
) -> None:
    """Print the standings of all runs in the folders, judged by their benchmark, and write their page.

    Args:
        folders: of the runs.
        out: the folder of the page.
        formats: of figure files.
        centre: what curves show of all seeds.
    """
    import numpy as np

    from nasbed.benchmarks import load
    from nasbed.experiments.provenance import check_benchmark, stale_methods
    from nasbed.experiments.run_checks import check_runs_fit
    from nasbed.experiments.runs import join_runs, load_runs
    from nasbed.reports.comparison.page import write_comparison
    from nasbed.reports.comparison.standings import footnotes, table

    runs = join_runs([load_runs(folder) for folder in folders])
    benchmark = load(runs.setup.benchmark)
    check_benchmark(runs.setup, benchmark, folders[0])
    check_runs_fit(runs, benchmark)
    stale = stale_methods(runs, benchmark)

    def print_summary(summary: ComparisonSummary) -> None:
        _print_standings(*table(summary))
        typer.echo()
        for line in footnotes(summary):
            typer.echo(line)
        sys.stdout.flush()

    rng = np.random.default_rng(0)
    write_comparison(
        out, runs, benchmark, rng=rng, stale=stale, formats=formats, centre=centre, on_summary=print_summary
    )
    for path in _first_tracebacks(folders, runs):
        typer.echo(f"Traceback: {path}")
    typer.echo(f"Report: {out / 'report.html'}")
    if runs.found_nothing:
        typer.echo(_nothing_found(runs), err=True)
        raise typer.Exit(1)
    if broken := runs.broken_methods:
        verb = "has no finished run" if len(broken) == 1 else "have no finished run"
        typer.echo(f"{', '.join(broken)} {verb}; the errors are above.", err=True)
        raise typer.Exit(1)


def _nothing_found(runs: Runs) -> str:
    if any(run.error or len(run) for run in runs.runs):
        return "No run found an architecture; the reasons are above."
    return f"No evaluation ends within {runs.setup.budget}; choose a larger budget."


def _first_tracebacks(folders: list[Path], runs: Runs) -> list[Path]:
    """The file of one traceback for each method and error; the other seeds have one of the same name."""
    from nasbed.experiments.runs import traceback_file

    first: dict[tuple[str, str], int] = {}
    for run in runs.runs:
        if run.error:
            first.setdefault((run.method, run.error), run.seed)
    files = [traceback_file(folder / "runs", method, seed) for (method, _), seed in first.items() for folder in folders]
    return [path for path in files if path.is_file()]


def _print_standings(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """One line per method if the terminal is wide enough, otherwise its intervals on a second line."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(highlight=False)
    if not console.is_terminal:
        console.width = 2 * WIDE  # nothing is cut off in a file
    if console.width < WIDE:
        rows = [[re.sub(r" (?=[\[(])", "\n", cell) for cell in row] for row in rows]
        needed = [max(len(line) for row in rows for line in row[i].splitlines()) for i in range(len(columns))]
        columns = [fill(column, max(8, width)) for column, width in zip(columns, needed, strict=True)]
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in columns:
        table.add_column(Text(column), no_wrap=column != "beats", min_width=6 if column == "beats" else None)
    for row in rows:
        table.add_row(*map(Text, row))
    console.print(table)
