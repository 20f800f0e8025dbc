"""Printing or writing all architectures of a space."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from nasbed.core.errors import InvalidOption
from nasbed.core.files import complete_file

if TYPE_CHECKING:
    import pyarrow as pa

    from nasbed.core.architecture import Architecture
    from nasbed.spaces import SearchSpace

CHUNK = 16_384


def print_all(space: SearchSpace) -> None:
    for chunk in _chunks(space.enumerate()):
        sys.stdout.write("".join(f"{space.format(arch)}\n" for arch in chunk))


def write_all(space: SearchSpace, path: Path) -> int:
    """Write all architectures as a table, with their properties; the file appears only when it is complete."""
    if path.suffix not in (".parquet", ".csv", ".txt"):
        raise InvalidOption(f"an enumeration is written as .parquet, .csv or .txt, got {path.name}; change the suffix")
    space.enumerate()
    with complete_file(path) as draft:
        return _write(space, path.suffix, draft)


def _write(space: SearchSpace, suffix: str, path: Path) -> int:
    import pyarrow as pa
    from pyarrow import csv, parquet
    from rich.console import Console
    from rich.progress import Progress

    count = 0
    writer = None
    with Progress(console=Console(stderr=True), transient=True) as progress, path.open("wb") as file:
        task = progress.add_task(f"Enumerating {space.name}", total=space.size)
        try:
            for chunk in _chunks(space.enumerate()):
                table = _table(space, chunk)
                if suffix == ".txt":
                    file.write("".join(f"{text}\n" for text in table["architecture"].to_pylist()).encode())
                else:
                    opener = parquet.ParquetWriter if suffix == ".parquet" else csv.CSVWriter
                    writer = writer or opener(pa.PythonFile(file, mode="w"), table.schema)
                    writer.write_table(table)
                count += len(chunk)
                progress.update(task, completed=count)
        finally:
            if writer is not None:
                writer.close()
    return count


def _table(space: SearchSpace, archs: list[Architecture]) -> pa.Table:
    import pyarrow as pa

    columns = {"architecture": [space.format(arch) for arch in archs]}
    return pa.table(columns | {name: pa.array(values.tolist()) for name, values in space.properties(archs).items()})


def _chunks(archs: Iterator[Architecture]) -> Iterator[list[Architecture]]:
    while chunk := list(islice(archs, CHUNK)):
        yield chunk
