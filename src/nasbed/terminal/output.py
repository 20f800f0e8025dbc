"""The output of commands: JSON for scripts, tables for people."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any

import typer

Json = Annotated[bool, typer.Option("--json", help="Print JSON, for scripts.")]
PIPED_COLUMNS = 400
"""How wide a table in a file or a pipe may be, so that names in it are whole and can be searched for."""

NARROW_COLUMN = 13
"""How narrow a column of text may become in a narrow terminal: the word architectures fits."""
_GAP = 2
"""The spaces between two columns."""


def print_json(data: Any) -> None:
    typer.echo(json.dumps(data, ensure_ascii=False))


def print_table(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print a table, numbers right-aligned: as wide as the terminal or the variable COLUMNS, else a line for each
    row. The first column, which has names to copy, is never folded; the others give way, down to a width that can be
    read."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="bold")
    rows = [list(row) for row in rows]
    least = [
        _least_width(index, [column, *(readable(row[index]) for row in rows)]) for index, column in enumerate(columns)
    ]
    for index, column in enumerate(columns):
        numeric = all(isinstance(row[index], int | float) for row in rows)
        table.add_column(
            column,
            justify="right" if numeric else "left",
            overflow="fold",
            no_wrap=index == 0,
            min_width=least[index],
        )
    for row in rows:
        table.add_row(*(Text(readable(cell)) for cell in row))
    console = Console(highlight=False)
    if not console.is_terminal and "COLUMNS" not in os.environ:
        console.width = PIPED_COLUMNS
    console.width = max(console.width, sum(least) + _GAP * (len(least) - 1))
    console.print(table)


def _least_width(index: int, cells: Sequence[str]) -> int:
    """The width that a column has in the narrowest terminal."""
    longest = max(map(len, cells))
    return longest if index == 0 else min(longest, NARROW_COLUMN)


def print_fields(fields: Mapping[str, object]) -> None:
    """Print one line per name and value. A value is never cut or wrapped, so that it can be copied."""
    width = max(map(len, fields))
    for name, value in fields.items():
        typer.echo(f"{name:<{width}}  {readable(value)}")


def print_json_or_fields(fields: Mapping[str, object], *, json: bool) -> None:
    """The fields as JSON for scripts, or a line each for people."""
    if json:
        print_json(fields)
    else:
        print_fields(fields)


def readable(value: object) -> str:
    """A value as text, the digits of an integer in groups of three."""
    return f"{value:_}".replace("_", " ") if isinstance(value, int) and not isinstance(value, bool) else str(value)
