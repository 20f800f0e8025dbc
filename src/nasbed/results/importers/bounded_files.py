"""Untrusted files, read as a whole up to a limit. The sizes that their headers declare are not trusted."""

from __future__ import annotations

import bz2
import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

from nasbed.core.errors import BadFile, shorten

CHUNK = 1 << 20
MOST_MEMBERS = 100_000
MOST_RATIO = 200
"""A member of an archive may unpack to this many times its size, as a table of numbers never does; small ones may be
packed tighter."""
SMALL = 1 << 16
_ZIP_ERRORS = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    OSError,
    EOFError,
    ValueError,
    LookupError,
    RuntimeError,
    OverflowError,
    MemoryError,
)
"""The exceptions of Python's zipfile on damaged files."""


def read_bz2(path: Path, most: int) -> bytes:
    """What a bzip2 file unpacks to, at most ``most`` bytes."""
    unpacker = bz2.BZ2Decompressor()
    parts, size = [], 0
    try:
        with path.open("rb") as file:
            while not unpacker.eof:
                packed = file.read(CHUNK) if unpacker.needs_input else b""
                if not packed and unpacker.needs_input:
                    raise BadFile(f"{path} is empty or cut off; get it again")
                part = unpacker.decompress(packed, max_length=min(CHUNK, most + 1 - size))
                parts.append(part)
                size += len(part)
                if size > most:
                    raise BadFile(f"{path} unpacks to more than the {most} bytes of such a file; it is not read")
            if unpacker.unused_data or file.read(1):
                raise BadFile(f"{path} has trailing bytes after its end; it is not read")
    except BadFile:
        raise
    except (OSError, ValueError, EOFError) as error:
        raise BadFile(f"{path} cannot be read as bzip2: {str(error).splitlines()[0]}; get it again") from None
    return b"".join(parts)


class BoundedArchive:
    """An opened zip file. Members are read into memory, never written anywhere."""

    def __init__(self, path: Path, file: zipfile.ZipFile) -> None:
        self._path = path
        self._file = file
        self.names = [info.filename for info in file.infolist()]
        if len(self.names) > MOST_MEMBERS or len(set(self.names)) < len(self.names):
            raise BadFile(f"{path} has too many members, or two with the same name; it is not read")
        for name in self.names:
            inside = PurePosixPath(name)
            if inside.is_absolute() or ".." in inside.parts or "\\" in name or "\0" in name or ":" in name:
                raise BadFile(f"the members of {path} stay inside it, got {shorten(name)}; it is not read")

    def read(self, name: str, most: int) -> bytes:
        """The bytes of a member, at most ``most``."""
        if name not in self.names:
            raise BadFile(f"{self._path} has no member {name}; get the published file again")
        info = self._file.getinfo(name)
        if info.flag_bits & 1 or info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise BadFile(f"{self._path}'s member {name} is encrypted or packed in an unusual way; it is not read")
        most = min(most, max(SMALL, MOST_RATIO * info.compress_size))
        try:
            with self._file.open(info) as member:
                data = member.read(most + 1)
        except _ZIP_ERRORS as error:
            reason = str(error).splitlines()[0] if str(error) else type(error).__name__
            raise BadFile(f"{self._path}'s member {name} is damaged: {reason}; get it again") from None
        if len(data) > most:
            raise BadFile(f"{self._path}'s member {name} unpacks to more than {most} bytes; it is not read")
        return data


@contextmanager
def open_archive(path: Path) -> Iterator[BoundedArchive]:
    """A zip file whose members' names are all inside it."""
    try:
        file = zipfile.ZipFile(path)
    except _ZIP_ERRORS as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise BadFile(f"{path} cannot be read as a zip file: {reason}; get it again") from None
    with file:
        yield BoundedArchive(path, file)
