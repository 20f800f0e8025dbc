"""Several files as one zip archive without compression. The same files always give the same bytes.

Any zip program can list and unpack it. Only archives as :func:`pack` writes them are read. They have no compression, so
that nothing grows when it is read. They have no dates, comments or attributes, so that every byte is checked.
"""

from __future__ import annotations

import re
import struct
import zlib
from collections.abc import Iterator, Mapping

from nasbed.core.errors import BadFile, InvalidOption, shorten

_LOCAL = struct.Struct("<4s5H3L2H")
_CENTRAL = struct.Struct("<4s6H3L5H2L")
_END = struct.Struct("<4s4H2LH")
_DATE = 0x21  # the first day that the format can hold
_VERSION = 20
_LARGEST = (1 << 32) - 1
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*(/[A-Za-z0-9_][A-Za-z0-9_.-]*)*")


def check_name(name: str) -> None:
    """Raise unless a file's name stays inside its folder on every system."""
    if not _NAME.fullmatch(name) or len(name) > 200:
        raise BadFile(f"a file is named by words of A-Z a-z 0-9 . _ - joined by /, got {shorten(name)}; do not use it")


def pack(files: Mapping[str, bytes]) -> bytes:
    """The archive, its files in order of their names."""
    ordered = {name: files[name] for name in sorted(files)}
    if len(ordered) >= 1 << 16 or sum(len(data) + 200 + 2 * len(name) for name, data in ordered.items()) > _LARGEST:
        raise InvalidOption("a single file holds up to 65 535 files and 4 GiB; write a folder instead")
    return b"".join(chunk for _, chunk in _chunks(ordered))


def unpack(content: bytes, label: str) -> dict[str, bytes]:
    """The files of an archive; ``label`` names it in messages. What differs from what :func:`pack` writes is refused,
    by the name of the file in which it is."""
    if not content:
        raise BadFile(f"{label} is an empty file, not a surrogate; get it again")
    try:
        files = dict(_listed(content))
    except (struct.error, ValueError) as error:
        raise BadFile(f"{label} is damaged or not a surrogate: {error}; get it again") from None
    place = 0
    for name, chunk in _chunks(files):
        if content[place : place + len(chunk)] != chunk:
            raise BadFile(f"{label} is damaged in {name}; get it again")
        place += len(chunk)
    if place != len(content):
        raise BadFile(f"{label} is damaged: it has {len(content) - place} bytes too many; get it again")
    return files


def _listed(content: bytes) -> Iterator[tuple[str, bytes]]:
    """Name and content of each file, as listed in the directory at the end of an archive."""
    if len(content) < _END.size:
        raise ValueError(f"it has {len(content)} bytes, fewer than any archive")
    mark, _, _, _, count, size, place, _ = _END.unpack_from(content, max(len(content) - _END.size, 0))
    if mark != b"PK\x05\x06" or place + size + _END.size != len(content):
        raise ValueError("it does not end with the directory of an archive")
    last = ""
    for _ in range(count):
        if place + _CENTRAL.size > len(content):
            raise ValueError("its directory is cut short")
        header = _CENTRAL.unpack_from(content, place)
        length, width, start = header[9], header[10], header[16]
        name = content[place + _CENTRAL.size : place + _CENTRAL.size + width].decode("ascii")
        check_name(name)
        begin = start + _LOCAL.size + width
        if name <= last or begin + length > len(content):
            raise ValueError("its directory names files that are not in it")
        yield name, content[begin : begin + length]
        place, last = place + _CENTRAL.size + width, name


def _chunks(files: Mapping[str, bytes]) -> Iterator[tuple[str, bytes]]:
    """The parts of an archive, each with the file that it belongs to."""
    place, entries = 0, []
    for name, data in files.items():
        check_name(name)
        encoded = name.encode("ascii")
        common = (0, 0, 0, _DATE, zlib.crc32(data), len(data), len(data), len(encoded), 0)
        entries.append(
            _CENTRAL.pack(b"PK\x01\x02", _VERSION, _VERSION, *common, 0, 0, 0, 0, place) + encoded,
        )
        header = _LOCAL.pack(b"PK\x03\x04", _VERSION, *common) + encoded
        yield name, header
        yield name, data
        place += len(header) + len(data)
    directory = b"".join(entries)
    yield "its directory", directory
    yield "its end", _END.pack(b"PK\x05\x06", 0, 0, len(entries), len(entries), len(directory), place, 0)
