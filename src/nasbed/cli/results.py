"""``nasbed results …``: inspect, check, export and merge tables of results."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from nasbed.core.errors import InvalidOption
from nasbed.core.former_names import former_name_text
from nasbed.terminal.former_options import UNTIL
from nasbed.terminal.output import Json, print_fields, print_json, print_table, readable
from nasbed.terminal.progress import note

if TYPE_CHECKING:
    from nasbed.results import Results

app = typer.Typer(help="Inspect, check, export and merge tables of results.", no_args_is_help=True)

Table = Annotated[str, typer.Argument(metavar="TABLE", help="A results folder, or the name of an installed table.")]


@app.command()
def info(table: Table, json: Json = False) -> None:
    """Print what a table holds: counts, columns, methods, budgets, the best architectures, the citation.

    Example: nasbed results info nb201/cifar10
    """
    from nasbed.results.summary import summarize

    summary = summarize(_results_of(table))
    if json:
        print_json(summary)
    else:
        _print_summary(summary)


@app.command()
def verify(table: Table, json: Json = False) -> None:
    """Read every byte of a table and compare it with the checksums. Exits with 2 if one differs.

    Example: nasbed results verify tables/nb201/cifar10
    """
    results = _results_of(table)
    results.verify()
    files = results.manifest.files
    size = sum(record.bytes for record in files.values())
    if json:
        print_json({"name": results.about.name, "files": len(files), "bytes": size})
    else:
        typer.echo(f"{results.about.name}: {len(files)} files, {readable(size)} bytes, all as their checksums say")


@app.command()
def export(
    table: Table,
    former_out: Annotated[
        Path | None, typer.Argument(metavar="[FILE]", hidden=True, help="The former place of --out.")
    ] = None,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="A .csv or .parquet file to write.")] = None,
) -> None:
    """Write a table as one plain file, with the architectures as text. The file is complete or absent.

    Example: nasbed results export nb201/cifar10 --out cells.csv
    """
    from nasbed.results.export import export_results

    if former_out is not None:
        note(former_name_text("results export TABLE FILE", "results export TABLE --out FILE", until=UNTIL))
    path = out or former_out
    if path is None:
        raise InvalidOption("a table is exported to a file, got none; name it with --out FILE.csv")
    results = _results_of(table)
    with _row_bar(f"Exporting {results.about.name}", results.manifest.rows) as progress:
        rows = export_results(results, path, progress)
    typer.echo(f"{readable(rows)} rows in {path}")


@app.command()
def merge(
    tables: Annotated[
        list[str], typer.Argument(metavar="TABLE TABLE…", help="Results folders, or names of installed tables.")
    ],
    out: Annotated[Path, typer.Option("--out", "-o", help="The folder for the merged table; it must be new.")],
    name: Annotated[
        str | None, typer.Option(show_default="the common one", help="The name of the merged table.")
    ] = None,
    mixed: Annotated[
        bool, typer.Option("--mixed", help="Merge tables of different datasets or recipes; rows do not record which.")
    ] = False,
) -> None:
    """Put the rows of several tables of one space into a new one, after checking all of them.

    A row that several tables share appears once. Metrics that a table lacks are missing in its rows.

    Example: nasbed results merge runs/a runs/b --out runs/all --name mine/all
    """
    from nasbed.results.merge import merge_results

    sources = [_results_of(table) for table in tables]
    with _row_bar(f"Merging {len(sources)} tables", sum(source.manifest.rows for source in sources)) as progress:
        merged = merge_results(sources, out, name=name, mixed=mixed, progress=progress)
    results = merged.results
    typer.echo(
        f"{results.about.name}: {readable(results.manifest.rows)} rows, {readable(results.manifest.architectures)} "
        f"architectures in {results.folder}; {readable(merged.shared)} shared rows taken once"
    )


def _results_of(table: str) -> Results:
    """The table in a folder of that path, or else of that name."""
    from nasbed.benchmarks.catalog import load_table
    from nasbed.results.store import Results

    if Path(table).is_dir():
        return Results.open(table)
    return load_table(table, rule="this command reads a table", remedy="give the id or folder of one").results


@contextmanager
def _row_bar(title: str, total: int) -> Iterator[Callable[[int], None]]:
    """A bar on standard error, if it is a terminal; the yielded function sets the number of finished rows."""
    from rich.console import Console
    from rich.progress import Progress

    console = Console(stderr=True)
    with Progress(console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task(title, total=total)
        yield lambda completed: bar.update(task, completed=completed)


def _print_summary(summary: dict[str, Any]) -> None:
    repeats = summary["repeats"]
    fields = {name: summary[name] for name in ("name", "space", "dataset", "recipe", "rows", "architectures")}
    fields[summary["fidelity_unit"]] = _counts(summary["fidelities"])
    fields["repeats"] = f"{repeats['fewest']} to {repeats['most']}"
    fields["seeds"] = summary["seeds"] or "not recorded"
    fields |= {name: _counts(summary[name]) for name in ("methods", "statuses")}
    fields["learning curves"] = summary["learning_curves"] or ""
    fields["answers at epochs too"] = ", ".join(map(str, summary["curve_epochs"]))
    fields["searches for real"] = summary["searches"] or ""
    fields |= {name: summary[name] for name in ("licence", "citation", "source", "notes", "created")}
    print_fields({name: value for name, value in fields.items() if value != ""})
    typer.echo()
    columns = {key: column for key, column in summary["columns"].items() if column["min"] is not None}
    rows = [(key, column["min"], column["max"], column["missing"]) for key, column in columns.items()]
    print_table(("column", "min", "max", "missing"), rows)
    typer.echo()
    for key, best in summary["best"].items():
        if best is not None:
            typer.echo(f"best mean {key}: {best['mean']:g} {best['unit']}".rstrip() + f" by {best['architecture']}")


def _counts(counts: dict[str, int]) -> str:
    return ", ".join(f"{name} ({readable(count)})" for name, count in counts.items())
