"""Records of searches as files: JSON with its own checksum, written completely or not at all."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from nasbed.core.checksummed_json import is_sealed, sealed
from nasbed.core.errors import BadFile, NasbedError, shorten
from nasbed.core.files import complete_file

T = TypeVar("T")


def write_sealed(data: Mapping[str, Any], path: Path) -> None:
    """Write an object; its ``format`` says what it is, a version at the end."""
    content = sealed(json.loads(json.dumps(data)))
    path.parent.mkdir(parents=True, exist_ok=True)
    with complete_file(path) as draft:
        draft.write_bytes(content)


def format_of(path: Path) -> str | None:
    """What a file says that it is, if it is such an object."""
    data = _object(_content(path))
    return None if data is None else str(data.get("format"))


def read_sealed(path: Path, format: str, parse: Callable[[Mapping[str, Any]], T], *, subject: str) -> T:
    """The object in a file, parsed. Raises unless it has that format and is unchanged since it was written.
    ``subject`` completes the error "is not a record of …"."""
    content = _content(path)
    data = _object(content)
    if data is None or not str(data.get("format")).startswith(format[:-1]):
        raise BadFile(f"{path} is not a record of {subject}")
    if data["format"] != format:
        raise BadFile(f"{path} is a {shorten(data['format'])}, this nasbed reads {format!r}; use the one that wrote it")
    if not is_sealed(content, data):
        raise BadFile(f"{path} has a wrong SHA-256, so it was changed; search again, or get it again")
    try:
        return parse(data)
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        reason = (
            f"it lacks {error}" if isinstance(error, KeyError) and not isinstance(error, NasbedError) else str(error)
        )
        raise BadFile(
            f"{path} is not a complete record of a search: {' '.join(reason.split())}; search again, or get it again"
        ) from None


def text(data: Mapping[str, Any], name: str) -> str:
    """A member that is text."""
    if not isinstance(data[name], str):
        raise BadFile(f"its {name} is text, got {shorten(data[name])}")
    return str(data[name])


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise BadFile(f"the record of a search {path} cannot be read: {error.strerror}; check the path") from None


def _object(content: bytes) -> dict[str, Any] | None:
    try:
        data = json.loads(content)
    except (ValueError, RecursionError):
        return None
    return data if isinstance(data, dict) else None
