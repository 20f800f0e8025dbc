"""``nasbed leaderboard``: reference runs and submissions beside one another, and their verification."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nasbed.core.errors import InvalidOption, shorten
from nasbed.terminal import method_options
from nasbed.terminal.interruption import on_interrupt, runs_kept
from nasbed.terminal.output import Json, print_json
from nasbed.terminal.progress import benchmark_bars, note
from nasbed.terminal.report_options import Figures, Formats, Processes, check_folder, report_formats

if TYPE_CHECKING:
    from nasbed.experiments.runs import Run
    from nasbed.leaderboard.run_file import RunFile

app = typer.Typer()
Submissions = Annotated[
    list[Path] | None,
    typer.Option("--submission", metavar="FILE", help="A file of 'leaderboard submit'; may be given several times."),
]
Suites = Annotated[
    str, typer.Option(metavar="NAME,...", show_default="all with reference runs", help="The suites, by id.")
]
PageFolder = Annotated[Path, typer.Option("--out", "-o", help="The folder of the page, with a folder for each suite.")]
Names = Annotated[str, typer.Option(metavar="NAME,...", show_default=False, help="Only these methods, by name.")]


@app.callback(invoke_without_command=True)
def leaderboard(
    context: typer.Context,
    suites: Suites = "",
    submission: Submissions = None,
    out: PageFolder = Path("leaderboard"),
    figures: Figures = False,
    format: Formats = None,
) -> None:
    """Compare methods with reference runs that come with the package, and with submissions.

    Without a command it writes report.html: who stands where on each suite, with a page for each. Nothing is run.

    Example: nasbed leaderboard

    Example: nasbed leaderboard --suites quick --submission mine.nbr --out board --figures
    """
    if context.invoked_subcommand is not None:
        return
    formats = report_formats(out, figures, format)

    from nasbed.leaderboard.joining import REFERENCE, load_reference, reference_suites, suite_runs
    from nasbed.leaderboard.run_file import load_run_file
    from nasbed.reports.leaderboard import write_leaderboard
    from nasbed.reports.suite.tables import standings_rows

    names = [name.strip() for name in suites.split(",") if name.strip()] or reference_suites()
    files = {name: [load_reference(name)] for name in names}
    for path in submission or []:
        file = load_run_file(path)
        if file.label.casefold() == REFERENCE:
            raise InvalidOption(f"{path} calls itself {REFERENCE}, which the package alone does; submit it by a name")
        if file.suite not in files:
            raise InvalidOption(f"{path} has runs on the suite {file.suite}, shown are {', '.join(files)}; add it")
        files[file.suite].append(file)
    runs = {name: suite_runs(of_suite) for name, of_suite in files.items()}
    summaries = write_leaderboard(out, runs, files, formats=formats)
    for name, summary in summaries.items():
        typer.echo(f"{name}: {summary.title}\n{standings_rows(summary).text()}")
        for benchmark, why in summary.missing.items():
            typer.echo(f"Missing: {benchmark} ({why})")
        typer.echo("")
    typer.echo(f"Report: {out / 'report.html'}")


@app.command()
def submit(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The folder of a finished 'nasbed suite run'.")],
    name: Annotated[str, typer.Option(help="Whose runs these are, as the leaderboard shows it.")],
    out: Annotated[Path, typer.Option("--out", "-o", metavar="FILE", help="The file.")] = Path("submission.nbr"),
    methods: Names = "",
    code: Annotated[
        Path | None, typer.Option(metavar="FILE.py", help="The file of your method, if it has moved since.")
    ] = None,
) -> None:
    """Pack the runs of a suite into one file, with the source of your methods, so that others can verify it.

    By default the methods of your own are packed, and nasbed's only if there are no others.

    Example: nasbed leaderboard submit quick-runs --name "A. Researcher" --out mine.nbr
    """
    from nasbed.leaderboard.joining import REFERENCE
    from nasbed.leaderboard.packing import pack
    from nasbed.leaderboard.run_file import save_run_file
    from nasbed.leaderboard.text_kinds import LABEL, is_label

    if not is_label(name.strip()) or name.strip().casefold() == REFERENCE:
        raise InvalidOption(f"a name is {LABEL[0]}, other than {REFERENCE}, got {shorten(name, 70)}")
    _check_file(out)
    file = pack(folder, label=name.strip(), methods=_names(methods), code=code)
    save_run_file(out, file)
    for method in file.methods:
        sources = f", with the source: {', '.join(method.files)}" if method.files else ""
        if method.source and not method.files:
            sources = ", of a plug-in, without its source: others cannot verify them"
        typer.echo(f"{method.name}: {sum(run.method == method.name for run in _all_runs(file))} runs{sources}")
    typer.echo(f"{out}: {out.stat().st_size} bytes. Anyone checks it with: nasbed leaderboard verify {out.name}")


@app.command()
def verify(
    files: Annotated[
        list[str], typer.Argument(metavar="FILE...", help="Files of runs; the id of a suite for its reference runs.")
    ],
    sample: Annotated[int, typer.Option(min=1, help="How many runs of each file are made again.")] = 3,
    seed: Annotated[int, typer.Option(min=0, help="The random seed of the sample.")] = 0,
    methods: Names = "",
    trust_code: Annotated[
        bool, typer.Option("--trust-code", help="Run the code in the file. It can do all that you can: read it first.")
    ] = False,
    source: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Only write the code in the file into this folder, to read it.")
    ] = None,
    json: Json = False,
) -> None:
    """Make a random sample of the runs in a file again, and say whether they are what the file says.

    All values are compared with the benchmark's answers, without running a method. The exit status is 0 if all is
    verified, and 1 if something differs or cannot be verified here.

    Example: nasbed leaderboard verify mine.nbr --source to-read

    Example: nasbed leaderboard verify mine.nbr --sample 5 --trust-code

    Example: nasbed leaderboard verify quick --methods rs,ls
    """
    from dataclasses import asdict

    from nasbed.leaderboard.joining import load_reference, reference_suites
    from nasbed.leaderboard.run_file import load_run_file
    from nasbed.leaderboard.verification import Check, unpack_code, wrong_values
    from nasbed.leaderboard.verification import verify as verify_file

    checks: list[Check] = []
    written: dict[str, str] = {}

    def report(check: Check) -> None:
        checks.append(check)
        if not json:
            reason = f": {check.reason}" if check.reason else ""
            typer.echo(f"{check.benchmark}, {check.method}, seed {check.seed}: {check.verdict}{reason}")

    for name in files:
        file = load_reference(name) if name in reference_suites() else load_run_file(name)
        if source is not None:
            for method in file.methods:
                if method.files:
                    written[method.name] = str(unpack_code(method, source / method.name))
            continue
        for check in wrong_values(file):
            report(check)
        verify_file(file, sample=sample, seed=seed, methods=_names(methods), trust_code=trust_code, on_check=report)
    if json:
        print_json([asdict(check) for check in checks] if source is None else written)
    elif source is not None:
        for method_name, place in written.items():
            typer.echo(f"{method_name}: {place}")
        if not written:
            typer.echo("No code: all methods are nasbed's own.")
    if any(check.verdict != "verified" for check in checks):
        raise typer.Exit(1)


@app.command()
def make(
    suite: Annotated[str, typer.Argument(metavar="NAME|FILE.toml", help="An id from 'nasbed suite list', or a file.")],
    out: Annotated[Path, typer.Option("--out", "-o", metavar="FILE", help="The file of the reference runs.")],
    runs: Annotated[Path, typer.Option(metavar="DIR", help="The folder of the runs; the same command resumes there.")],
    seeds: Annotated[int, typer.Option(min=1, help="The number of runs of each method on each benchmark.")] = 20,
    seeds_of: Annotated[
        list[str] | None,
        typer.Option(metavar="METHOD=N", help="Another number for a slow method, 0 to leave it out; repeatable."),
    ] = None,
    without: Annotated[
        list[str] | None,
        typer.Option(metavar="PATTERN", help="Leave out benchmarks, such as '*-gin-*'; the file says so; repeatable."),
    ] = None,
    processes: Processes = None,
    engine: method_options.EngineName = "local",
) -> None:
    """Make reference runs: every method of nasbed on every benchmark of a suite, in one file.

    Methods that cannot run there are named in the file with the reason. 'nasbed suite run --against FILE' compares with
    the file.

    Example: nasbed leaderboard make quick --seeds-of hebo=3 --seeds-of smac=3 --runs quick-runs --out quick.nbr
    """
    _check_file(out)
    on_interrupt(lambda: runs_kept(runs))

    from nasbed.benchmarks.suites import load_suite
    from nasbed.leaderboard.making import make_reference, shipped_methods
    from nasbed.leaderboard.run_file import save_run_file

    chosen = load_suite(suite)
    total = seeds * len(shipped_methods())
    with benchmark_bars((entry.name for entry in chosen.benchmarks), total) as report_run:
        file = make_reference(
            chosen,
            runs=runs,
            seeds=seeds,
            seeds_of=dict(map(_seeds, seeds_of or [])),
            without=without or [],
            engine=method_options.chosen_engine(engine, processes),
            command=shlex.join(["nasbed", *sys.argv[1:]]),
            progress=report_run,
            on_note=note,
        )
    save_run_file(out, file)
    for method, reason in file.not_run.items():
        typer.echo(f"{method}: {reason}")
    typer.echo(f"{out}: {len(_all_runs(file))} runs of {len(file.methods)} methods, {out.stat().st_size} bytes")


def _all_runs(file: RunFile) -> list[Run]:
    return [run for runs in file.runs.values() for run in runs]


def _check_file(path: Path) -> None:
    """Raise before any run if a file could not be written at the end."""
    check_folder(path.parent, "a file of runs goes")
    if path.is_dir():
        raise InvalidOption(f"the runs go into a file, {path} is a folder; name another with --out")


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


def _seeds(text: str) -> tuple[str, int]:
    method, equals, count = text.partition("=")
    if not equals or not count.isdecimal():
        raise InvalidOption(f"the seeds of a method are given as METHOD=N, such as hebo=3, got {text!r}")
    return method.strip(), int(count)
