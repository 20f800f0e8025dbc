"""Files that are held to their checksums: every byte the first time and after any change, size and date otherwise."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from nasbed.core.files import complete_file, file_sha256
from nasbed.core.home import embedded_home

STAMP = ".verified"
"""The file that remembers what was verified."""


def first_changed(folder: Path, checksums: Mapping[str, str], *, trust_stamp: bool = True) -> str | None:
    """The first file of a folder without the SHA-256 that it should have, or None. Without ``trust_stamp`` every byte
    is read."""
    stamp = _read_stamp(folder) if trust_stamp else {}
    unknown = False
    for name, sha256 in checksums.items():
        status = (folder / name).stat()
        if stamp.get(name) == [sha256, status.st_size, status.st_mtime_ns]:
            continue
        unknown = True
        if file_sha256(folder / name) != sha256:
            return name
    if unknown:
        write_stamp(folder, checksums)
    return None


def write_stamp(folder: Path, checksums: Mapping[str, str]) -> None:
    """Remember that these files are right, so that the next opening need not read every byte. A read-only folder goes
    without, and so do the small files of the package, into which nothing is written."""
    if folder.resolve().is_relative_to(embedded_home()):
        return
    try:
        stamp = {}
        for name, sha256 in checksums.items():
            status = (folder / name).stat()
            stamp[name] = [sha256, status.st_size, status.st_mtime_ns]
        with complete_file(folder / STAMP) as draft:
            draft.write_text(json.dumps(stamp), encoding="utf-8")
    except OSError:
        return


def _read_stamp(folder: Path) -> dict[str, list[object]]:
    try:
        stamp = json.loads((folder / STAMP).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return stamp if isinstance(stamp, dict) else {}
