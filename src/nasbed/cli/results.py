"""``nasbed results …``: look into tables of results, check, export and merge them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from nasbed.terminal.output import Json, print_fields, print_json, print_table, readable

if TYPE_CHECKING:
    from nasbed.results import Results

app = typer.Typer(help="Look into tables of results: what they hold, check, export, merge.", no_args_is_help=True)

Table = Annotated[str, typer.Argument(metavar="TABLE", help="A results folder, or the name of a table that is here.")]


@app.command()
def info(table: Table, json: Json = False) -> None:
    """Print what a table holds: counts, columns, methods, budgets, the best architectures, whom to cite.

    Example: nasbed results info nb201/cifar10
    """
    from nasbed.results.summary import summarize

    found = summarize(_opened(table))
    if json:
        print_json(found)
    else:
        _print_summary(found)


@app.command()
def verify(table: Table, json: Json = False) -> None:
    """Read every byte of a table and compare it with the checksums. Exits with 2 if one differs.

    Example: nasbed results verify tables/nb201/cifar10
    """
    opened = _opened(table)
    opened.verify()
    files = opened.manifest.files
    size = sum(record.bytes for record in files.values())
    if json:
        print_json({"name": opened.about.name, "files": len(files), "bytes": size})
    else:
        typer.echo(f"{opened.about.name}: {len(files)} files, {readable(size)} bytes, all as their checksums say")


@app.command()
def export(
    table: Table, out: Annotated[Path, typer.Argument(metavar="OUT", help="A .csv or .parquet file to write.")]
) -> None:
    """Write a table as one plain file, with the architectures as text. It is there whole or not at all.

    Example: nasbed results export nb201/cifar10 cells.csv
    """
    from nasbed.results.export import export_results

    opened = _opened(table)
    with _row_bar(f"Exporting {opened.about.name}", opened.manifest.rows) as progress:
        rows = export_results(opened, out, progress)
    typer.echo(f"{readable(rows)} rows in {out}")


@app.command()
def merge(
    tables: Annotated[
        list[str], typer.Argument(metavar="TABLE TABLE…", help="Results folders, or names of tables that are here.")
    ],
    out: Annotated[Path, typer.Option(help="The folder for the merged table; it must be new.")],
    name: Annotated[str | None, typer.Option(show_default="that of all", help="The name of the merged table.")] = None,
    mixed: Annotated[
        bool, typer.Option("--mixed", help="Merge tables of different datasets or recipes: rows will not tell which.")
    ] = False,
) -> None:
    """Put the rows of several tables of one space into a new one, after checking all of them.

    A row that several tables share is taken once. Metrics that a table lacks are missing in its rows.

    Example: nasbed results merge runs/a runs/b --out runs/all --name mine/all
    """
    from nasbed.results.merge import merge_results

    opened = [_opened(table) for table in tables]
    with _row_bar(f"Merging {len(opened)} tables", sum(each.manifest.rows for each in opened)) as progress:
        merged = merge_results(opened, out, name=name, mixed=mixed, progress=progress)
    written = merged.results
    typer.echo(
        f"{written.about.name}: {readable(written.manifest.rows)} rows, {readable(written.manifest.architectures)} "
        f"architectures in {written.folder}; {readable(merged.shared)} shared rows taken once"
    )


def _opened(table: str) -> Results:
    """The table in a folder of that path, or else of that name."""
    from nasbed.benchmarks.places import table_path
    from nasbed.results.store import Results

    folder = Path(table)
    return Results.open(folder if folder.is_dir() else table_path(table))


@contextmanager
def _row_bar(title: str, total: int) -> Iterator[Callable[[int], None]]:
    """A bar on standard error, where somebody watches; the function given sets how many rows are done."""
    from rich.console import Console
    from rich.progress import Progress

    console = Console(stderr=True)
    with Progress(console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task(title, total=total)
        yield lambda done: bar.update(task, completed=done)


def _print_summary(found: dict[str, Any]) -> None:
    repeats = found["repeats"]
    fields = {name: found[name] for name in ("name", "space", "dataset", "recipe", "rows", "architectures")}
    fields[found["fidelity_unit"]] = _counts(found["fidelities"])
    fields["repeats"] = f"{repeats['fewest']} to {repeats['most']}"
    fields["seeds"] = found["seeds"] or "not recorded"
    fields |= {name: _counts(found[name]) for name in ("methods", "statuses")}
    fields["learning curves"] = found["learning_curves"] or ""
    fields |= {name: found[name] for name in ("licence", "citation", "source", "notes", "created")}
    print_fields({name: value for name, value in fields.items() if value != ""})
    typer.echo()
    columns = {key: each for key, each in found["columns"].items() if each["min"] is not None}
    rows = [(key, each["min"], each["max"], each["missing"]) for key, each in columns.items()]
    print_table(("column", "min", "max", "missing"), rows)
    typer.echo()
    for key, best in found["best"].items():
        if best is not None:
            typer.echo(f"best mean {key}: {best['mean']:g} {best['unit']}".rstrip() + f" by {best['architecture']}")


def _counts(counts: dict[str, int]) -> str:
    return ", ".join(f"{name} ({readable(count)})" for name, count in counts.items())
