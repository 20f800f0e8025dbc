"""A download under way: the bytes so far, what they are part of, and the right to add to them.

Beside the file ``name`` there is, while it is being fetched, ``name.part`` with the bytes, ``name.part.json`` with
where they come from, and ``name.lock``. The file itself appears in one step, when it is whole and right.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import BinaryIO

from nasbed.core.errors import DownloadFailed
from nasbed.core.files import sync_file

BLOCK = 1 << 20


@dataclass(frozen=True, slots=True)
class Origin:
    """What the bytes of a part are the beginning of. ``total`` is the size that the server announced, ``sha256`` what
    the whole must have, empty where it is unknown."""

    url: str
    sha256: str = ""
    etag: str = ""
    last_modified: str = ""
    total: int | None = None

    @property
    def validator(self) -> str:
        """The validator by which a server recognises these bytes. A weak tag does not promise the same bytes, so it
        does not count."""
        return self.etag if self.etag and not self.etag.startswith("W/") else self.last_modified


class PartialDownload:
    """The bytes so far, and their SHA-256 as they come."""

    def __init__(self, target: Path) -> None:
        self.target = target
        self.path = target.with_name(f"{target.name}.part")
        self.sidecar = target.with_name(f"{target.name}.part.json")
        self.origin: Origin | None = None
        self.size = 0
        self._digest = hashlib.sha256()
        self._file: BinaryIO | None = None

    @property
    def sha256(self) -> str:
        return self._digest.hexdigest()

    def resume(self, url: str, sha256: str) -> None:
        """Take up what an earlier attempt left, if that was for the same file. Every byte is read again: only what
        lies on the disk now counts."""
        try:
            origin = Origin(**json.loads(self.sidecar.read_text(encoding="utf-8")))
            if origin.url != url or origin.sha256 != sha256 or not (origin.validator or sha256):
                return
            digest, size = hashlib.sha256(), 0
            with self.path.open("rb") as file:
                while block := file.read(BLOCK):
                    digest.update(block)
                    size += len(block)
        except (OSError, ValueError, TypeError, AttributeError):
            return
        if origin.total is None or size <= origin.total:
            self.origin, self.size, self._digest = origin, size, digest

    def restart(self, origin: Origin) -> None:
        """Forget all bytes; the next ones are the first of ``origin``."""
        self.discard()
        with self._disk():
            self.sidecar.write_text(json.dumps(asdict(origin)), encoding="utf-8")  # half of it is no JSON
            self.path.touch()
        self.origin = origin

    def write(self, data: bytes) -> None:
        """Append. Nothing is buffered: a full disk shows here, and a killed process loses nothing that was written."""
        with self._disk():
            if self._file is None:
                self._file = self.path.open("ab", buffering=0)
            remaining = memoryview(data)
            while remaining:
                count = self._file.write(remaining)
                self._digest.update(remaining[:count])
                self.size += count
                remaining = remaining[count:]

    def finish(self) -> None:
        """Give the bytes their final name, when they are safe on the disk."""
        with self._disk():
            self.close()
            sync_file(self.path)
            self.path.replace(self.target)
            _sync_folder(self.target.parent)
            self.sidecar.unlink(missing_ok=True)

    def discard(self) -> None:
        """Remove the bytes, then what is known of them."""
        self.close()
        self.path.unlink(missing_ok=True)
        self.sidecar.unlink(missing_ok=True)
        self.origin, self.size, self._digest = None, 0, hashlib.sha256()

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None

    @contextmanager
    def _disk(self) -> Iterator[None]:
        """Tells trouble with the disk from trouble with the network, which is an OSError too."""
        try:
            yield
        except OSError as error:
            raise DownloadFailed(
                f"{self.path} cannot be written after {self.size} bytes: {error.strerror or error}; make room or "
                "choose another folder, and run the same command again to resume"
            ) from None


def _sync_folder(folder: Path) -> None:
    """Make a rename durable, where folders can be synchronised."""
    try:
        descriptor = os.open(folder, os.O_RDONLY)
    except OSError:
        return
    try:
        os.fsync(descriptor)
    except OSError:
        return
    finally:
        os.close(descriptor)
