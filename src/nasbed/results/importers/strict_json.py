"""Untrusted JSON: no duplicate keys, no nesting that exhausts the stack, numbers of the right type."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from nasbed.core.errors import BadFile, shorten

_SPACE = re.compile(r"[ \t\n\r]*")


class Reader:
    """A JSON text read from left to right, so that a large object is never in memory as a whole.

    ``where`` begins the message of every error. After each key of :meth:`members`, read its value with :meth:`value`;
    an object may be read with :meth:`members` instead.

    >>> reader = Reader(b'{"a": {"b": 1, "c": [2]}}', "x.json")
    >>> [(outer, inner, reader.value()) for outer in reader.members() for inner in reader.members()]
    [('a', 'b', 1), ('a', 'c', [2])]
    """

    def __init__(self, data: bytes, source: str) -> None:
        self.source = source
        self._at = 0
        try:
            self._text = data.decode("utf-8")
        except UnicodeDecodeError as error:
            raise BadFile(f"{source}: JSON is UTF-8 text, got byte {data[error.start]:#04x} at {error.start}") from None

    def members(self) -> Iterator[str]:
        """The keys of the object that comes next."""
        self._take("{")
        seen_keys: set[str] = set()
        while not self._next_is("}"):
            if seen_keys:
                self._take(",")
            if not self._next_is('"'):
                raise BadFile(f"{self.source}: a JSON object has keys in quotes, got {self._excerpt()}")
            key = self.value()
            if key in seen_keys:
                raise BadFile(f"{self.source}: a JSON object names each key once, got {shorten(key)} twice")
            seen_keys.add(key)
            self._take(":")
            yield key
        self._take("}")

    def value(self) -> Any:
        """The complete value that comes next."""
        self._skip()
        try:
            value, self._at = _STRICT.raw_decode(self._text, self._at)
        except _DuplicateKey as error:
            raise BadFile(
                f"{self.source}: a JSON object names each key once, got {shorten(error.args[0])} twice"
            ) from None
        except RecursionError:
            raise BadFile(f"{self.source}: this JSON is nested too deeply to be a result") from None
        except ValueError as error:
            raise BadFile(f"{self.source}: not valid JSON, {' '.join(str(error).split())}; fetch it again") from None
        return value

    def end(self) -> None:
        """Raise unless the text ends here."""
        self._skip()
        if self._at != len(self._text):
            raise BadFile(f"{self.source}: JSON ends with its value, got {self._excerpt()} after it")

    def _skip(self) -> None:
        match = _SPACE.match(self._text, self._at)
        self._at = match.end() if match else self._at

    def _next_is(self, symbol: str) -> bool:
        self._skip()
        return self._text.startswith(symbol, self._at)

    def _take(self, symbol: str) -> None:
        if not self._next_is(symbol):
            raise BadFile(f"{self.source}: JSON has {symbol} at character {self._at}, got {self._excerpt()}")
        self._at += 1

    def _excerpt(self) -> str:
        return shorten(self._text[self._at : self._at + 20]) if self._at < len(self._text) else "the end"


class _DuplicateKey(ValueError):
    pass


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) < len(pairs):
        keys = [key for key, _ in pairs]
        raise _DuplicateKey(next(key for key in keys if keys.count(key) > 1))
    return result


_STRICT = json.JSONDecoder(object_pairs_hook=_object)


def parse(data: bytes, source: str) -> Any:
    """The value of a whole JSON document."""
    reader = Reader(data, source)
    value = reader.value()
    reader.end()
    return value


def read_bytes(path: Path, source: str, most: int) -> bytes:
    """The bytes of a plain file of bounded size."""
    try:
        size = path.stat().st_size
        if not path.is_file() or size > most:
            raise BadFile(f"{source}: a result is a plain file of at most {most} bytes, got {size}")
        return path.read_bytes()
    except OSError as error:
        raise BadFile(f"{source}: cannot be read, {error.strerror}") from None


def number(value: Any, label: str, source: str) -> float:
    """A JSON number as a float; NaN for null and for NaN, which both mean a missing value."""
    if value is None:
        return math.nan
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise BadFile(f"{source}: {label} is a number, got {shorten(value)}")
    try:
        return float(value)
    except OverflowError:
        raise BadFile(f"{source}: {label} is a number of a usual size, got {shorten(value)}") from None
