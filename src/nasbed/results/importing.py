"""From a published file to results folders."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from pathlib import Path

from nasbed.core.errors import BadFile, InvalidOption, nearest
from nasbed.core.unpack import unpacked
from nasbed.results.importers import IMPORTERS, Importer
from nasbed.results.store import Results, write_results

_LOG = logging.getLogger(__name__)
ImportProgress = Callable[[str, int, int | None], None]
"""Called with the table's name, how many of its rows are written, and how many there will be (``None``: unknown)."""


def import_tables(
    format: str,
    path: str | Path | None,
    out: str | Path,
    options: Mapping[str, str] | None = None,
    progress: ImportProgress | None = None,
    on_note: Callable[[str], None] | None = None,
) -> list[Results]:
    """Read a published file, archive or folder and write each table in it to ``out`` / its name.

    A table replaces an older one of that name when it is complete. If a later table cannot be read, the earlier ones
    stay.

    Args:
        format: The id of the import format.
        path: What is read; ``None`` for the place where the format's file is usually installed.
        out: The folder of the tables.
        options: The importer's options, as text.
        progress: Called with the table's name, how many rows are written, and how many there will be.
        on_note: Called with each line on what was left out of a table.
    """
    out = Path(out)
    importer = IMPORTERS.get(format)
    for name in options or {}:
        if name not in importer.options:
            remedy = nearest(name, importer.options) if importer.options else "it has none"
            raise InvalidOption(f"the format {format} has no option {name!r}; {remedy}")
    path = _usual_path(format, importer) if path is None else Path(path)
    if not path.exists():
        raise InvalidOption(f"{path} does not exist; check the path of the import")
    written = []
    with unpacked(path, out) as readable:
        for draft in importer(**(options or {})).read(readable):
            name, total = draft.about.name, draft.total

            def report_rows(rows: int, name: str = name, total: int | None = total) -> None:
                if progress is not None:
                    progress(name, rows, total)

            folder = out.joinpath(*name.split("/"))
            written.append(write_results(folder, draft.about, draft.batches, report_rows, searched=draft.space))
            for line in draft.remarks():
                (on_note or _LOG.warning)(line)
    if not written:
        raise BadFile(f"{path} holds no table that the format {format} knows; check what it is")
    return written


def _usual_path(format: str, importer: type[Importer]) -> Path:
    """Where an importer's file is by default: what its function ``default_path`` returns."""
    usual: Callable[[], Path] | None = getattr(importer, "default_path", None)
    if usual is None:
        raise InvalidOption(f"the format {format} reads a file or folder; give its path")
    return usual()
