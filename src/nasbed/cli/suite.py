"""``nasbed suite …``: methods on many benchmarks, and one page over all of them."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from nasbed.terminal import method_options
from nasbed.terminal.interruption import on_interrupt, runs_kept
from nasbed.terminal.output import Json, print_json, print_table
from nasbed.terminal.progress import benchmark_bars, note
from nasbed.terminal.report_options import (
    CurveCentre,
    Figures,
    Formats,
    MethodPreset,
    Processes,
    chosen_centre,
    report_formats,
)

if TYPE_CHECKING:
    from nasbed.experiments.suites import SuiteRuns

app = typer.Typer(
    help="Compare methods over many benchmarks: a suite is a list of benchmarks with their budgets, as a TOML file.",
    no_args_is_help=True,
)
Named = Annotated[
    str, typer.Argument(metavar="NAME|FILE.toml", help="An id from 'nasbed suite list', or a TOML file of your own.")
]
Against = Annotated[
    list[str] | None,
    typer.Option(
        metavar="reference|FILE",
        help="Compare with the reference runs that come with the package, or with a file of runs, which are not run "
        "again; may be given several times.",
    ),
]


@app.command("list")
def list_(json: Json = False) -> None:
    """List the suites that come with the package or with installed ones."""
    from nasbed.benchmarks.suites import SUITES, load_suite

    suites = [load_suite(name) for name in SUITES]
    if json:
        fields = ("name", "title", "about", "budget", "seeds")
        print_json(
            [
                {field: getattr(suite, field) for field in fields}
                | {"benchmarks": [entry.benchmark for entry in suite.benchmarks]}
                for suite in suites
            ]
        )
    else:
        rows = [(suite.name, len(suite.benchmarks), suite.budget, suite.seeds, suite.title) for suite in suites]
        print_table(("name", "benchmarks", "budget", "seeds", "what"), rows)


@app.command()
def show(suite: Named, json: Json = False) -> None:
    """Show the benchmarks of a suite, the budget on each, and which of them are not here.

    Example: nasbed suite show tabular
    """
    from dataclasses import asdict

    from nasbed.benchmarks.catalog import how_to_get, is_known
    from nasbed.benchmarks.suites import load_suite
    from nasbed.experiments.budget import Budget

    chosen = load_suite(suite)
    entries = chosen.entries
    for entry in entries:
        Budget.parse(entry.budget)
    if json:
        benchmarks = [asdict(entry) | {"get": how_to_get(entry.id)} for entry in entries]
        print_json(asdict(chosen) | {"benchmarks": benchmarks})
        return
    typer.echo(f"{chosen.title}\n")
    if chosen.about:
        typer.echo(f"{chosen.about}\n")
    places = [how_to_get(entry.id) or ("present" if is_known(entry.id) else "unknown id") for entry in entries]
    rows = [(entry.name, entry.budget, entry.workers, place) for entry, place in zip(entries, places, strict=True)]
    print_table(("benchmark", "budget", "workers", "how to get it"), rows)
    typer.echo(f"\n{chosen.seeds} seeds per method and benchmark, judged by {chosen.judged_by} results.")
    typer.echo(f"Run it with: nasbed suite run {suite} --optimizers {method_options.DEFAULT} --out {chosen.name}-runs")


@app.command()
def run(
    suite: Named,
    optimizers: method_options.Optimizers = None,
    settings: method_options.MethodSettings = None,
    preset: MethodPreset = "",
    seeds: Annotated[
        int | None,
        typer.Option(min=1, show_default="the suite's", help="The number of runs of each method on each benchmark."),
    ] = None,
    skip_missing: Annotated[
        bool, typer.Option("--skip-missing", help="Leave out benchmarks that are not here; the page names them.")
    ] = False,
    processes: Processes = None,
    engine: method_options.EngineName = "local",
    timeout: method_options.RunTimeout = None,
    against: Against = None,
    out: Annotated[
        Path, typer.Option("--out", "-o", help="The folder of all runs and the page; the same command resumes there.")
    ] = Path("suite-runs"),
    centre: CurveCentre = "median",
    figures: Figures = False,
    format: Formats = None,
) -> None:
    """Run methods on every benchmark of a suite and compare them over all: report.html, numbers.json, table.csv and
    table.tex.

    Each benchmark has a folder of runs, as 'nasbed run' writes it; a stored run is not run again. 'nasbed report' on
    the same folder writes the page again, and on folders of several benchmarks one page over them. The exit status is 1
    if a method has no finished run on one of the benchmarks.

    Example: nasbed suite run quick --optimizers rs,re,ls,bananas,my.py:Mine --seeds 10 --out quick-runs

    Example: nasbed suite run quick --optimizers my.py:Mine --against reference --out mine

    Example: nasbed suite run unseen --optimizers rs,re,ls --figures --format pdf --out for-the-paper

    Example: nasbed suite run mine.toml --optimizers rs,re --engine ray --out mine
    """
    formats, middle = report_formats(out, figures, format), chosen_centre(centre)
    on_interrupt(lambda: runs_kept(out))

    from nasbed.benchmarks.suites import load_suite
    from nasbed.experiments.suites import run_suite
    from nasbed.leaderboard.joining import files_for, join

    chosen = load_suite(suite)
    files = files_for(chosen, against or [])
    methods = method_options.chosen_methods(optimizers)
    total = len(methods) * (chosen.seeds if seeds is None else seeds)
    with benchmark_bars((entry.name for entry in chosen.benchmarks), total) as report_run:
        runs = run_suite(
            chosen,
            methods,
            out=out,
            seeds=seeds,
            engine=method_options.chosen_engine(engine, processes),
            preset=preset,
            settings=method_options.chosen_settings(settings or []),
            skip_missing=skip_missing,
            timeout_s=timeout,
            command=shlex.join(["nasbed", *sys.argv[1:]]),
            progress=report_run,
            on_note=note,
        )
    print_suite_report(join(runs, files), out, formats=formats, centre=middle)


def print_suite_report(
    runs: SuiteRuns, out: Path, *, formats: Iterable[str] = (), centre: Literal["median", "mean"] = "median"
) -> None:
    """Write the page over several benchmarks, and print the standings. ``centre`` is what curves show of all seeds."""
    import numpy as np

    from nasbed.drawing.number_texts import count_text
    from nasbed.reports.suite.page import write_suite_report
    from nasbed.reports.suite.tables import standings_rows
    from nasbed.reports.suite.words import NORMALISED, lead, remarks_of, suite_verdict

    summary = write_suite_report(out, runs, rng=np.random.default_rng(0), formats=formats, centre=centre)
    typer.echo(f"{standings_rows(summary).text()}\n\n{lead(summary)} {suite_verdict(summary)}")
    typer.echo(f"{NORMALISED}; in brackets, 95 % bootstrap intervals over seeds.")
    for name, why in summary.missing.items():
        typer.echo(f"Missing: {name} ({why})")
    remarks = remarks_of(summary)
    if remarks:
        verb = "is" if len(remarks) == 1 else "are"
        typer.echo(f"{count_text(len(remarks), 'remark')} on these numbers {verb} on the page.")
    typer.echo(f"Report: {out / 'report.html'}")
    broken = [(method, item) for item in runs.benchmarks for method in item.runs.broken_methods]
    for method, first in dict(reversed(broken)).items():
        places = ", ".join(item.name for other, item in broken if other == method)
        typer.echo(f"{method} has no finished run on {places}: {first.runs.of(method)[0].error}", err=True)
    if broken:
        raise typer.Exit(1)
