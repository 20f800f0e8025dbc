"""A file of one JSON object and some columns of numbers: small, checksummed, the same bytes for the same content.

The file is a line that names the format, the SHA-256 of the content, and the content compressed by xz. The content is
the length of the object, the object as JSON, and the columns. The bytes of a column are stored by place (all first
bytes, then all second ones), which makes numbers half as large when compressed. Nothing in it is ever executed.
"""

from __future__ import annotations

import hashlib
import json
import lzma
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nasbed.core.errors import BadFile, shorten
from nasbed.core.files import complete_file

Columns = Mapping[str, NDArray[Any]]
TYPES = ("|u1", "<u2", "<u4", "<i8", "<f8")
"""The types of columns, as numpy spells them."""
MOST_BYTES, MOST_JSON = 1 << 25, 1 << 23
"""The largest content that is read, and the largest object in it, so that a small file cannot fill the memory. The
reference runs of a suite have less than a fortieth of both."""
_UNPACKING_BYTES = 1 << 27
"""The memory that xz may use; its best compression needs half of it."""
_LENGTH, _DIGEST = 8, 32


def write_columns(path: Path, format: str, content: Mapping[str, Any], columns: Columns) -> None:
    """Write an object and columns of one or two dimensions to a file, which is complete or absent."""
    layout = [[name, column.dtype.str, list(column.shape)] for name, column in columns.items()]
    head = json.dumps({"content": content, "columns": layout}, sort_keys=True, ensure_ascii=False).encode()
    payload = b"".join([len(head).to_bytes(_LENGTH, "little"), head, *map(_by_place, columns.values())])
    packed = lzma.compress(payload, format=lzma.FORMAT_XZ, preset=9 | lzma.PRESET_EXTREME)
    path.parent.mkdir(parents=True, exist_ok=True)
    with complete_file(path) as draft:
        draft.write_bytes(f"{format}\n".encode() + hashlib.sha256(payload).digest() + packed)


def read_columns(path: Path, format: str) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """The inverse of :func:`write_columns`. Raises :class:`BadFile` for a file of another kind or with any byte
    changed."""
    try:
        with path.open("rb") as file:
            data = file.read(MOST_BYTES)
    except OSError as error:
        raise BadFile(f"{path} cannot be read: {error.strerror}; check the path") from None
    kind, version = format.rsplit(" ", 1)
    stated, _, rest = data.partition(b"\n")
    if not stated.startswith(f"{kind} ".encode()) or len(stated) > 2 * len(format):
        raise BadFile(f"{path} is not a file of {kind}; give one that nasbed wrote")
    if stated != format.encode():
        other = shorten(stated.decode("utf-8", "replace"))
        raise BadFile(f"{path} is {other}, this nasbed reads version {version}; use the nasbed that wrote it")
    payload = _unpacked(rest[_DIGEST:])
    if payload is None or hashlib.sha256(payload).digest() != rest[:_DIGEST]:
        raise BadFile(f"{path} is damaged or was changed: its SHA-256 is another; get it again")
    length = int.from_bytes(payload[:_LENGTH], "little")
    try:
        if length > MOST_JSON:
            raise ValueError("the object is too large")
        head = json.loads(payload[_LENGTH : _LENGTH + length])
        return dict(head["content"]), _columns(head["columns"], payload[_LENGTH + length :])
    except (ValueError, KeyError, TypeError, RecursionError, OverflowError):
        raise BadFile(f"{path} has no readable content; get it again") from None


def _by_place(column: NDArray[Any]) -> bytes:
    if column.dtype.str not in TYPES:
        raise TypeError(f"a column is one of {', '.join(TYPES)}, got {column.dtype.str}")
    return (
        np.ascontiguousarray(column).reshape(-1).view(np.uint8).reshape(column.size, column.dtype.itemsize).T.tobytes()
    )


def _columns(layout: list[Any], data: bytes) -> dict[str, NDArray[Any]]:
    columns, offset = {}, 0
    for name, kind, shape in layout:
        if kind not in TYPES or not 1 <= len(shape) <= 2 or any(type(size) is not int or size < 0 for size in shape):
            raise ValueError("no such column")
        item, count = np.dtype(kind), int(np.prod(shape, dtype=object))
        part = np.frombuffer(data, dtype=np.uint8, count=count * item.itemsize, offset=offset)
        columns[name] = np.ascontiguousarray(part.reshape(item.itemsize, count).T).view(item).reshape(shape)
        offset += count * item.itemsize
    if offset != len(data):
        raise ValueError("columns and data differ in length")
    return columns


def _unpacked(packed: bytes) -> bytes | None:
    """The content, or None if it is no complete stream, has bytes after its end, or is too large."""
    reader = lzma.LZMADecompressor(format=lzma.FORMAT_XZ, memlimit=_UNPACKING_BYTES)
    try:
        content = reader.decompress(packed, max_length=MOST_BYTES)
    except (lzma.LZMAError, EOFError):
        return None
    return content if reader.eof and not reader.unused_data else None
