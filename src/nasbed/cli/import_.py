"""``nasbed import``: read a published file into tables."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nasbed.core.errors import InvalidOption, shorten
from nasbed.terminal.interruption import on_interrupt
from nasbed.terminal.output import Json, print_json, print_table, readable
from nasbed.terminal.progress import note, row_bars
from nasbed.terminal.report_options import check_folder

if TYPE_CHECKING:
    from nasbed.results import Results

TablesFolder = Annotated[
    Path | None,
    typer.Option(
        "--out", "-o", show_default="the folder in which benchmarks look for them", help="The folder for the tables."
    ),
]
OwnSpace = Annotated[
    str | None,
    typer.Option(
        metavar="NAME|FILE.py:NAME",
        help="For the format table: the space, from 'nasbed list spaces' or a file of your own.",
    ),
]
SkipBadRows = Annotated[
    bool, typer.Option("--skip-bad-rows", help="For the format table: leave out rows that cannot be read.")
]


def import_(
    format: Annotated[
        str | None, typer.Argument(metavar="FORMAT", help="A format from: nasbed import --list", show_default=False)
    ] = None,
    path: Annotated[
        Path | None,
        typer.Argument(
            metavar="PATH",
            help="The published file, .zip, .tar or folder; nb201 and fcnet find an installed package themselves.",
            show_default=False,
        ),
    ] = None,
    out: TablesFolder = None,
    option: Annotated[
        list[str] | None, typer.Option(metavar="KEY=VALUE", help="Set an option of the format; may be repeated.")
    ] = None,
    space: OwnSpace = None,
    skip_bad_rows: SkipBadRows = False,
    list_formats: Annotated[bool, typer.Option("--list", help="List the formats and their options.")] = False,
    json: Json = False,
) -> None:
    """Read a published file and write its tables, ready to be queried. Nothing in the file is executed.

    Example: nasbed import nb101 nasbench_only108.tfrecord

    Example: nasbed import nb301 nb_301_v13/ --out tables/

    Example: nasbed import table runs.csv --space mine.py:space --skip-bad-rows --option name=mine --option metrics=acc

    Example: nasbed import --list
    """
    if list_formats:
        _list_formats(json)
        return
    if format is None:
        raise InvalidOption("an import needs a format; list them with: nasbed import --list")
    options = _options(
        [
            *([] if space is None else [f"space={space}"]),
            *(["bad_rows=skip"] if skip_bad_rows else []),
            *(option or []),
        ]
    )
    from nasbed.core.home import tables_folder
    from nasbed.results.importing import import_tables

    check_folder(out or tables_folder(), "tables go")
    on_interrupt(lambda: "incomplete tables were removed; run the same command again")
    with row_bars() as progress:
        tables = import_tables(format, path, out or tables_folder(), options, progress, on_note=note)
    print_written(tables, json)


def print_written(tables: list[Results], json: bool) -> None:
    """Print the new tables."""
    if json:
        print_json(
            [
                {
                    "name": table.about.name,
                    "rows": table.manifest.rows,
                    "architectures": table.manifest.architectures,
                    "folder": str(table.folder),
                }
                for table in tables
            ]
        )
        return
    for table in tables:
        rows, architectures = readable(table.manifest.rows), readable(table.manifest.architectures)
        typer.echo(f"{table.about.name}: {rows} rows, {architectures} architectures in {table.folder}")


def _options(texts: list[str]) -> dict[str, str]:
    options = {}
    for text in texts:
        key, equals, value = text.partition("=")
        if not key or not equals:
            raise InvalidOption(f"an option reads KEY=VALUE, got {shorten(text)}")
        if key in options:
            raise InvalidOption(f"the option {key} occurs twice; give it once")
        options[key] = value
    return options


def _list_formats(json: bool) -> None:

    from nasbed.results.importers import IMPORTERS

    importers = [(name, IMPORTERS.get(name)) for name in IMPORTERS]
    if json:
        print_json(
            [
                {"format": name, "summary": importer.summary, "options": dict(importer.options)}
                for name, importer in importers
            ]
        )
    else:
        rows = [
            (name, importer.summary, "\n".join(f"{key}: {text}" for key, text in importer.options.items()))
            for name, importer in importers
        ]
        print_table(("format", "what it reads", "options"), rows)
