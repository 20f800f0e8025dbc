"""Universal Binary JSON, which XGBoost writes since version 1.6: https://ubjson.org, read as plain Python values."""

from __future__ import annotations

import struct
from typing import Any

import numpy as np

from nasbed.core.errors import BadFile

DEEPEST = 64
"""How many containers may stand in one another."""

_NUMBERS = {b"i": ">i1", b"U": ">u1", b"I": ">i2", b"l": ">i4", b"L": ">i8", b"d": ">f4", b"D": ">f8"}
_LENGTHS = (b"i", b"U", b"I", b"l", b"L")
_CONSTANTS = {b"Z": None, b"T": True, b"F": False}


def parse_ubjson(data: bytes) -> Any:
    """The value; numbers of one type in a row come as numpy arrays. Raises BadFile unless it fills ``data``."""
    reader = _BinaryValue(data)
    try:
        value = reader.value(reader.take(1), DEEPEST)
    except (ValueError, struct.error, UnicodeDecodeError, KeyError) as error:
        raise BadFile(f"this is not a whole value of Universal Binary JSON: {error}; get the file again") from None
    if reader.position != len(data):
        raise BadFile(
            f"{len(data) - reader.position} bytes follow a value of Universal Binary JSON; get the file again"
        )
    return value


class _BinaryValue:
    def __init__(self, data: bytes) -> None:
        self.data = data
        self.position = 0

    def take(self, count: int) -> bytes:
        end = self.position + count
        if count < 0 or end > len(self.data):
            raise ValueError("it is cut off")
        part = self.data[self.position : end]
        self.position = end
        return part

    def value(self, kind: bytes, depth: int) -> Any:
        """The value after its type."""
        if kind in _NUMBERS:
            return self.numbers(kind, 1)[0].item()
        if kind in _CONSTANTS:
            return _CONSTANTS[kind]
        if kind == b"C":
            return self.take(1).decode("ascii")
        if kind == b"S":
            return self.text()
        if depth == 0:
            raise ValueError(f"it has more than {DEEPEST} levels")
        if kind == b"[":
            return self.array(depth - 1)
        if kind == b"{":
            return self.mapping(depth - 1)
        raise ValueError(f"the type {kind!r} is unknown")

    def numbers(self, kind: bytes, count: int) -> np.ndarray[Any, np.dtype[Any]]:
        numbers = np.dtype(_NUMBERS[kind])
        return np.frombuffer(self.take(count * numbers.itemsize), dtype=numbers)

    def length(self) -> int:
        kind = self.take(1)
        if kind not in _LENGTHS:
            raise ValueError(f"a length is a whole number, got the type {kind!r}")
        count = int(self.numbers(kind, 1)[0])
        if count < 0:
            raise ValueError(f"a length of {count}")
        return count

    def text(self) -> str:
        return self.take(self.length()).decode("utf-8")

    def bounds(self) -> tuple[bytes | None, int | None]:
        """The type and the number of a container's items, where they stand before it."""
        kind = None
        if self.peek() == b"$":
            self.take(1)
            kind = self.take(1)
            if kind in _CONSTANTS:
                raise ValueError("a container of items without bytes")
        if self.peek() == b"#":
            self.take(1)
            return kind, self.length()
        if kind is not None:
            raise ValueError("a container with a type has a length")
        return None, None

    def peek(self) -> bytes:
        return self.data[self.position : self.position + 1]

    def array(self, depth: int) -> Any:
        kind, count = self.bounds()
        if kind is not None and count is not None and kind in _NUMBERS:
            return self.numbers(kind, count)
        items: list[Any] = []
        while self.remains(count, len(items), b"]"):
            items.append(self.value(kind or self.take(1), depth))
        return items

    def mapping(self, depth: int) -> dict[str, Any]:
        kind, count = self.bounds()
        items: dict[str, Any] = {}
        read = 0
        while self.remains(count, read, b"}"):
            name = self.text()
            items[name] = self.value(kind or self.take(1), depth)
            read += 1
        return items

    def remains(self, count: int | None, read: int, end: bytes) -> bool:
        """Whether a container has another item."""
        if count is not None:
            return read < count
        if self.peek() != end:
            return True
        self.take(1)
        return False
