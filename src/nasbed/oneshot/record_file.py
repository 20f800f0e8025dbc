"""Records of searches as files: JSON with its own checksum, there whole or not at all, read whole or refused."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from nasbed.core.errors import BadFile, NasbedError, shorten
from nasbed.core.files import complete_file
from nasbed.core.sealed_json import is_sealed, sealed

T = TypeVar("T")


def write_sealed(data: Mapping[str, Any], path: Path) -> None:
    """Write an object; its ``format`` says what it is, a version at the end."""
    content = sealed(json.loads(json.dumps(data)))
    path.parent.mkdir(parents=True, exist_ok=True)
    with complete_file(path) as draft:
        draft.write_bytes(content)


def format_of(path: Path) -> str | None:
    """What a file says that it is, if it is such an object."""
    found = _object(_content(path))
    return None if found is None else str(found.get("format"))


def read_sealed(path: Path, format: str, made: Callable[[Mapping[str, Any]], T], *, what: str) -> T:
    """What ``made`` makes of the object in a file; raises unless it is of that format and unchanged since it was
    written. ``what`` says what else it should have been."""
    content = _content(path)
    data = _object(content)
    if data is None or not str(data.get("format")).startswith(format[:-1]):
        raise BadFile(f"{path} is no record of {what}")
    if data["format"] != format:
        raise BadFile(f"{path} is a {shorten(data['format'])}, this nasbed reads {format!r}; use the one that wrote it")
    if not is_sealed(content, data):
        raise BadFile(f"{path} does not have its own SHA-256, so that it was changed; search again, or get it anew")
    try:
        return made(data)
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        told = f"it lacks {error}" if isinstance(error, KeyError) and not isinstance(error, NasbedError) else str(error)
        raise BadFile(
            f"{path} is no complete record of a search: {' '.join(told.split())}; search again, or get it anew"
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
