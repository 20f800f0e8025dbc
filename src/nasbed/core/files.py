"""Files that are complete or absent."""

from __future__ import annotations

import hashlib
import json
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any


def values_sha256(values: Any) -> str:
    """The SHA-256 of plain values, whatever the order of the keys in their mappings."""
    text = json.dumps(values, sort_keys=True, ensure_ascii=False, default=str)
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()


def file_sha256(path: Path) -> str:
    """The SHA-256 of a file, in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def sync_file(path: Path) -> None:
    """Write a closed file through to the disk. It is opened for writing, as Windows syncs no other files."""
    with path.open("r+b") as file:
        os.fsync(file.fileno())


@contextmanager
def complete_file(path: Path) -> Iterator[Path]:
    """A draft beside ``path`` to write to; it takes the name ``path`` when the block ends well and is removed when not.

    Meanwhile, and after a crash, ``path`` is the old file or does not exist.
    """
    draft = path.with_name(f".{secrets.token_hex(8)}.partial")
    try:
        yield draft
        sync_file(draft)
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)
