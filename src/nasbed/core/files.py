"""Files and folders that are complete or absent."""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from nasbed.core.locks import SharedHold

DRAFT = ".nasbed-draft-"
"""How the name of a folder begins that is being written. No folder of a user has it, as abandoned ones are removed."""


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


@contextmanager
def complete_folder(folder: Path) -> Iterator[Path]:
    """A draft beside ``folder`` to write to. It takes that name when the block ends well, and is removed when not.

    Drafts of processes that were killed are removed first, and those of processes at work are left alone. Raises
    ``FileExistsError`` if the folder came into being meanwhile.
    """
    from nasbed.core.locks import remove_if_free  # whose library takes time to import

    folder.parent.mkdir(parents=True, exist_ok=True)
    for abandoned in folder.parent.glob(f"{DRAFT}*"):
        with suppress(OSError):  # another process removes it too
            remove_if_free(abandoned, shutil.rmtree)
    draft, hold = _held_draft(folder.parent)
    try:
        yield draft
        draft.chmod(0o755)
        _rename(draft, folder)
    except BaseException:
        shutil.rmtree(draft, ignore_errors=True)
        raise
    finally:
        hold.release()  # not before: a draft that nobody holds is removed


def _held_draft(parent: Path) -> tuple[Path, SharedHold]:
    """A new folder that others leave alone. One that was removed before it could be held is made again."""
    from nasbed.core.locks import SharedHold

    while True:
        draft = Path(tempfile.mkdtemp(prefix=DRAFT, dir=parent))
        hold = SharedHold(draft)
        if draft.is_dir():
            return draft, hold
        hold.release()


def _rename(draft: Path, folder: Path) -> None:
    if folder.exists():  # an empty folder would be replaced
        raise FileExistsError(folder)
    try:
        draft.rename(folder)
    except OSError:
        if folder.exists():
            raise FileExistsError(folder) from None
        raise
