"""Where the drop-ins find their tables."""

from __future__ import annotations

import os
import sys
import zlib
from pathlib import Path

from nasbed.core.errors import BadFile, UnknownName
from nasbed.core.home import home
from nasbed.results.manifest import FILE_NAME
from nasbed.results.store import Results

SUFFIX = ".nasbed"
"""The suffix of a published file's name that gives the folder, next to it, of the tables read from it."""


def is_table(folder: Path) -> bool:
    """Whether a results folder exists."""
    return (folder / FILE_NAME).is_file()


def table_by_id(name: str) -> Results:
    """The table of that id: of the package or in the tables folder. One that an installed package holds is imported the
    first time."""
    from nasbed.benchmarks.places import table_path

    if not is_table(table_path(name)):
        from nasbed.benchmarks.catalog import load

        load(name)  # imports it, or says how to get it
    return Results.open(table_path(name))


def tables_of_file(path: Path, format: str) -> list[Results]:
    """The tables of a published file, which is read once: from then on its tables are opened instead, even when the
    file itself is gone. A file newer than its tables is read again.

    They go to a folder beside the file, or under nasbed's own folder where the file's may not be written.
    """
    places = [path.with_name(path.name + SUFFIX), home() / "imported" / f"{path.name}-{_crc(path):08x}"]
    for place in places:
        folders = sorted(manifest.parent for manifest in place.glob(f"**/{FILE_NAME}"))
        if folders and not _newer(path, folders[0] / FILE_NAME):
            return [Results.open(folder) for folder in folders]
    if not path.exists():
        raise UnknownName(f"no file or table is called {str(path)!r}; give a results folder, a table's id or the file")
    from nasbed.results.importing import import_tables

    place = places[0] if os.access(path.parent, os.W_OK) else places[1]
    print(f"nasbed: reading {path} once, its tables go to {place}", file=sys.stderr)
    return import_tables(format, path, place)


def one_table(tables: list[Results], path: Path) -> Results:
    """The only table of a file."""
    if len(tables) != 1:
        names = ", ".join(table.about.name for table in tables)
        raise BadFile(f"{path} holds {len(tables)} tables ({names}), one is needed; give the folder of one of them")
    return tables[0]


def _newer(path: Path, manifest: Path) -> bool:
    return path.exists() and path.stat().st_mtime_ns > manifest.stat().st_mtime_ns


def _crc(path: Path) -> int:
    """A checksum of the path, which differs for files of one name in different folders."""
    return zlib.crc32(os.fsencode(path.resolve()))
