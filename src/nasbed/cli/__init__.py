"""The command line: parse, call, print. Every command is a few lines over the library."""

from __future__ import annotations

import sys
from io import TextIOWrapper
from typing import Annotated

import typer

import nasbed
from nasbed.cli import (
    collect,
    explore,
    fetch,
    fit,
    import_,
    leaderboard,
    list_,
    network,
    query,
    release,
    report,
    results,
    run,
    space,
    study,
    suite,
    train,
    tune,
)
from nasbed.cli.challenge import commands as challenge_commands
from nasbed.cli.data import commands as data_commands
from nasbed.cli.doctor import command as doctor_command
from nasbed.cli.oneshot import command as oneshot_command
from nasbed.cli.proxies import commands as proxies_commands
from nasbed.core.errors import NasbedError
from nasbed.studies import STUDIES
from nasbed.terminal.former_options import CommandTree
from nasbed.terminal.interruption import forced_end

app = typer.Typer(
    name="nasbed",
    cls=CommandTree,
    help="A test bed for neural architecture search.\n\nStart with: nasbed list benchmarks",
    invoke_without_command=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

BENCHMARKS, SEARCH, MAKING = "Benchmarks", "Search", "Make a benchmark"
SPACES, PROXIES, TRAINING, STUDY = "Spaces and networks", "Proxies", "Datasets and training", "Studies"
"""The groups of commands in the help, in this order."""
app.add_typer(list_.app, name="list", rich_help_panel=BENCHMARKS)
app.command(rich_help_panel=BENCHMARKS)(query.query)
app.command(rich_help_panel=BENCHMARKS)(explore.explore)
app.command(rich_help_panel=BENCHMARKS)(fetch.fetch)
app.command("import", rich_help_panel=BENCHMARKS)(import_.import_)
app.add_typer(results.app, name="results", rich_help_panel=BENCHMARKS)
app.command(rich_help_panel=BENCHMARKS)(doctor_command.doctor)
app.command(rich_help_panel=SEARCH)(run.run)
app.command(rich_help_panel=SEARCH)(report.report)
app.add_typer(suite.app, name="suite", rich_help_panel=SEARCH)
app.add_typer(leaderboard.app, name="leaderboard", rich_help_panel=SEARCH)
app.command(rich_help_panel=SEARCH)(oneshot_command.oneshot)
app.add_typer(challenge_commands.app, name="challenge", rich_help_panel=SEARCH)
app.add_typer(collect.app, name="collect", rich_help_panel=MAKING)
app.command(rich_help_panel=MAKING)(tune.tune)
app.command(rich_help_panel=MAKING)(fit.fit)
app.command("validate", rich_help_panel=MAKING)(STUDIES.get(study.VALIDATION))
app.command(rich_help_panel=MAKING)(release.release)
app.add_typer(space.app, name="space", rich_help_panel=SPACES)
app.command(rich_help_panel=SPACES)(network.network)
app.add_typer(proxies_commands.app, name="proxies", rich_help_panel=PROXIES)
app.add_typer(data_commands.app, name="data", rich_help_panel=TRAINING)
app.command(rich_help_panel=TRAINING)(train.train)
app.add_typer(study.app, name="study", rich_help_panel=STUDY)

GUIDE = """\
nasbed: a test bed for neural architecture search. Three commands to begin with:

  nasbed list benchmarks     the benchmarks, those that work now first
  nasbed run --out runs      compare three search methods on one of them, in seconds
  nasbed report runs         the comparison again, and its page: open runs/report.html

nasbed doctor checks this installation. nasbed --help for everything.
Your own method: https://github.com/nasbed/nasbed#sixty-seconds"""
"""What ``nasbed`` alone prints. Every command in it works on a core install."""


def _version(requested: bool) -> None:
    if requested:
        typer.echo(f"nasbed {nasbed.__version__}")
        raise typer.Exit


@app.callback()
def _options(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    if context.invoked_subcommand is None:
        typer.echo(GUIDE)


def _plain(error: Exception) -> str:
    """The message of an error, without the system's error numbers."""
    if isinstance(error, OSError) and not isinstance(error, NasbedError) and error.filename and error.strerror:
        return f"{error.filename}: {error.strerror}"
    return str(error)


def main() -> None:
    """Run the command line. A user error is one line on standard error and exit status 2, never a traceback. Ctrl-C is
    exit status 130."""
    if isinstance(sys.stdout, TextIOWrapper) and sys.stdout.encoding.lower() != "utf-8":  # as of a pipe on Windows
        sys.stdout.reconfigure(errors="replace")
    try:
        with forced_end():
            app()
    except (NasbedError, OSError) as error:
        typer.echo(f"nasbed: {' '.join(_plain(error).split())}", err=True)
        sys.exit(2)
